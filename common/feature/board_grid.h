/*
 * Grids: which of an image's points are neighbours on a board. From a first quad the grid grows to
 * neighbours where the known ones predict them, one after the other, so that perspective and lens
 * distortion bend it as they like.
 */
#ifndef BOARD_GRID_H
#define BOARD_GRID_H

#include "feature/corner.h"

/* A point that may be of a board. */
struct grid_point {
	double x, y; /* px */
	double strength;
	double light, open; /* of chessboards, as of a saddle; NaN: none */
};

struct grid_node {
	long i, j;    /* rows and columns of a first guess: from any origin, turned or mirrored */
	size_t point; /* index */
};

struct grid {
	size_t n;
	struct grid_node *node;
};

/*
 * The largest grid among n points, strongest first. `enough` nodes end the search; nodes lie within
 * `side_most` of the first along both axes. No node: there is none. -1 after fail().
 */
int grid_find(const struct grid_point *, size_t n, size_t enough, size_t side_most, struct grid *);
void grid_free(struct grid *);

#endif
