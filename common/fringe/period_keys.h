/* Keys that count in radians of a fringe period: behind another period they mean another number. */
#ifndef PERIOD_KEYS_H
#define PERIOD_KEYS_H

#include "frame/meta.h"

/* Converts c_mm_per_rad and ref_plane_rad, which are for a phase of one period, to a phase of
 * another one. -1 after fail(). */
int period_keys_convert(struct meta *, double from_px, double to_px);
/* Takes them away, as of another axis. */
void period_keys_remove(struct meta *);

#endif
