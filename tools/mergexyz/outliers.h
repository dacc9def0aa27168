/* Points that are far from all others. */
#ifndef MERGEXYZ_OUTLIERS_H
#define MERGEXYZ_OUTLIERS_H

#include "frame/frame.h"
#include "neighbours.h"
#include "run/run.h"

#define OUTLIERS_NEAREST_MOST NEIGHBOURS_MOST

/*
 * Drops from a table the points whose mean distance to their k nearest is above median + sigmas
 * 1.4826 MAD of those of all points (methods §10); the MAD counts as a tenth of the median over
 * 1.4826 at least. Frees the old table. -1 after fail().
 */
int outliers_drop(struct run *, size_t k, double sigmas, struct frame **cloud);

#endif
