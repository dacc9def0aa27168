/*
 * Triangles into an image with a depth buffer: orthographic, pixel centres at whole coordinates.
 *
 * A pixel belongs to a triangle if its centre lies inside, or on an edge that is a top or left one: so
 * triangles that share an edge neither overlap nor leave a gap. The smaller z wins, at equal z the one
 * drawn first; with disjoint bands of rows drawn in parallel the picture does not depend on threads.
 */
#ifndef RASTER_H
#define RASTER_H

#include <stddef.h>

#define RASTER_ATTRIBUTES 8

struct raster {
	size_t w, h, attributes;
	float *z;		/* w x h, +infinity where nothing was drawn */
	float *attribute;	/* attributes planes of w x h, unset where nothing was drawn */
};

struct raster_vertex {
	float x, y, z;		/* pixels, pixels, any unit */
	float attribute[RASTER_ATTRIBUTES];
};

/* 0, or -1 after fail(). attributes <= RASTER_ATTRIBUTES. */
int raster_new(struct raster *, size_t w, size_t h, size_t attributes);
void raster_free(struct raster *);
/* Draws the part of the triangle in rows y0 <= y < y1; either orientation. z and attributes are
 * interpolated linearly. Not-finite vertices draw nothing. */
void raster_triangle(struct raster *, size_t y0, size_t y1, const struct raster_vertex *a,
    const struct raster_vertex *b, const struct raster_vertex *c);

#endif
