/* The samples around places, laid out pixel by pixel for loops that work on vectors: where they are
 * differs from place to place, and a loop that also computes would load them one by one. */
#ifndef RECTIFY_AROUND_H
#define RECTIFY_AROUND_H

#include "rectify.px.h"

#define AROUND_TILE 128		/* places at a time */

/* The planes that are gathered from: floats from row to row, and how many samples there are. */
struct around_planes {
	int stride, w, h;
};

/* Of each place: the number of its first sample, what leads to the next ones that have a weight,
 * and how far on the way to those it lies; fx is NaN where it is nowhere, and the rest 0. */
struct around {
	int at[AROUND_TILE], right[AROUND_TILE], down[AROUND_TILE];
	float fx[AROUND_TILE], fy[AROUND_TILE];
	const uint *column, *row;	/* the places */
	struct around_planes planes;
};

/* The 2x2 samples of each place, row by row; in the place of one of weight 0 the nearest one. */
struct around_fours {
	float a[AROUND_TILE], b[AROUND_TILE], c[AROUND_TILE], d[AROUND_TILE];
};

void around_find(struct around *, struct around_planes, const uint *column, const uint *row, int n);
void around_take_fours(const struct around *, const float *from, struct around_fours *, int n);
/* The 4x4 samples likewise. */
void around_take_quads(const struct around *, const float *from, float quad[4][AROUND_TILE][4],
    int n);

#endif
