/* Where the grid lies, and how deep the points are, by a set of points. */
#ifndef SPLAT_FIELD_H
#define SPLAT_FIELD_H

#include "splat_view.h"

/* What the points of a set are like, in the grid's frame. */
struct splat_field {
	double depth;			/* their median */
	double apart;			/* cells from point to point along a row, median */
	double unlit;			/* the share of them that the projector's picture misses */
	/* of an orthographic grid: cells that the points cover along its sides, but for the
	 * outermost, and the side of a cell that would fit, in mm */
	double covered[2], fitting_mm;
};

/* Chooses an orthographic grid's field (splat_grid_field()) by the points of all views. picture_px:
 * the projector's size; 0: not known, and unlit is 0. -1 after fail(). */
int splat_field_choose(struct splat_grid *, const struct splat_source *source, size_t views,
    double pixel_mm, const double center_mm[2], const double picture_px[2],
    struct splat_field *field);

#endif
