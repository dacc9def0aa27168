/*
 * What the points of a segment claim and fill of a strip's cells: the 2 x 2 cells around a point
 * where points lie close together, found for many points at once, else as many as lie between it
 * and its neighbours.
 */
#ifndef SPLAT_FOOTPRINT_H
#define SPLAT_FOOTPRINT_H

#include <stdint.h>

#include "splat_view.h"

typedef float lanes __attribute__((vector_size(16)));
typedef int32_t masks __attribute__((vector_size(16)));

/* Cells by which the own cells of neighbours overlap on each side, since noise moves points and the
 * camera's rows lie askew. With half of SPLAT_NEAR it is less than a cell. */
#define SPLAT_OVERLAP 0.2f

/* Rows of the grid, and how the memory of a strip numbers their cells: cell (column, row) is
 * (row - y0 + 1) pitch + column + 1, since a margin of one cell takes what falls beside them. */
struct splat_rows {
	size_t w, y0, y1, pitch;
};

/* A point whose footprint is larger. */
struct splat_far {
	float u, v, d, gx, gy, su, sv, weight, noise;
	bool smoothed;
};

/* The points of a segment that reach the strip. By their index in the segment: */
struct splat_block {
	lanes depth[SPLAT_SEGMENT];	/* at the 2 x 2 cells around the point, row by row */
	lanes weight[SPLAT_SEGMENT];	/* and what it weighs there */
	lanes noise[SPLAT_SEGMENT];	/* weight times variance there, where `noisy` */
	int32_t cell[SPLAT_SEGMENT];	/* the first of these */
	uint8_t kept[SPLAT_SEGMENT];	/* the indices: those of 2 x 2 cells first */
	size_t near, n;			/* how many those are, and all */
	struct splat_far far[SPLAT_SEGMENT];	/* n - near of them, in the order of kept */
	bool noisy;
	const float *attribute[SPLAT_ATTRIBUTES];
	float normal[3][SPLAT_SEGMENT];	/* turned to the grid's frame */
};

/* Finds which of n points reach the rows, and their footprints. claim: the depth of the point at
 * those of the 2 x 2 cells that are its own, INFINITY at the others. */
void splat_footprints(const struct splat_points *, size_t n, const struct splat_source *,
    const struct splat_rows *, struct splat_block *, lanes claim[SPLAT_SEGMENT]);

#endif
