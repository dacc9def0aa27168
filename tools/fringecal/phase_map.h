/* Absolute phase as projector coordinates: frames of unwrap2f(1), with the conventions of
 * phase2depth(1): coordinate = phase period/2 pi, 0 the centre of the projector's first column. */
#ifndef PHASE_MAP_H
#define PHASE_MAP_H

#include "frame/frame.h"
#include "projector_points.h"

/*
 * The map of a frame with the channel absphase, its keys period_px and axis. path names it in
 * messages; axis is 'x' or 'y', and the key, where there is one, must agree. The sigma of a pixel
 * comes from the channel sigma, or else up to its scale from the fringes' amplitude: from
 * modulation and texture, or from the channel amplitude. Free it with phase_map_free(). -1 after
 * fail().
 */
int phase_map_make(const struct frame *, const char *path, char axis, struct coordinate_map *);
void phase_map_free(struct coordinate_map *);

#endif
