/*
 * Triangles into an image with a depth buffer: orthographic, pixel centres at whole coordinates.
 *
 * A pixel belongs to a triangle if its centre lies inside, or on an edge that is a top or left one.
 * Corners are rounded to 2^-RASTER_BITS px, edges computed from them without any rounding: so
 * triangles that share edges and corners neither overlap nor leave a gap, and neither the order nor
 * the sense in which a triangle's corners are given matters. The smaller z wins, at equal z the one
 * drawn first; with disjoint bands of rows drawn in parallel the picture does not depend on
 * threads.
 */
#pragma once

#include <stddef.h>

#define RASTER_ATTRIBUTES 8
#define RASTER_BITS 28		/* of a pixel's fraction: 4e-9 px */
#define RASTER_FARTHEST 1e9	/* px: triangles with a corner beyond are not drawn */

struct raster {
	size_t w, h, attributes;
	size_t top;		/* y of the first row that is kept: 0, or that of a strip */
	float *z;		/* w x h, +infinity where nothing was drawn */
	float *attribute;	/* of each pixel all of them, 0 where nothing was drawn */
};

struct raster_vertex {
	double x, y, z;		/* pixels, pixels, any unit */
	float attribute[RASTER_ATTRIBUTES];
};

/* All of it unset. 0, or -1 after fail(). attributes <= RASTER_ATTRIBUTES. */
int raster_new(struct raster *, size_t w, size_t h, size_t attributes);
/* Rows y0 <= y < y1, from `top` on, become empty: before anything is drawn into them, by the thread
 * that does. */
void raster_clear(struct raster *, size_t y0, size_t y1);
void raster_free(struct raster *);
/* Draws the part of the triangle in rows y0 <= y < y1, top <= y0. z and attributes are interpolated
 * linearly at the pixel's centre. Not-finite corners draw nothing. */
void raster_triangle(struct raster *, size_t y0, size_t y1, const struct raster_vertex *a,
    const struct raster_vertex *b, const struct raster_vertex *c);
