/* Where the grid lies, and how deep the points are, by a set of points. */
#ifndef SPLAT_FIELD_H
#define SPLAT_FIELD_H

#include "splat_view.h"

/* Chooses an orthographic grid's field (splat_grid_field()) by the points of all views. *depth: the
 * median of theirs in the grid's frame. -1 after fail(). */
int splat_field_choose(struct splat_grid *, const struct splat_source *source, size_t views,
    double pixel_mm, const double center_mm[2], double *depth);

#endif
