#ifndef TEXMAP_CLOUD_H
#define TEXMAP_CLOUD_H

/* Points without an order, as discs in the depth buffer of a picture. */
#include "points/visible.h"

/*
 * Draws a table of points into visible->depth: each one as a disc in the plane of its neighbours.
 * visible->points are these points then, in a frame `surface` of the channels x y z nx ny nz: the
 * normals that the table has, else those of the planes, towards the camera; NaN at points that are
 * alone, which draw nothing. The caller frees both, also after a failure. -1 after fail().
 */
int cloud_draw(struct visible *, struct run *, const struct visible_view *,
    const struct frame *table, struct frame **surface);

#endif
