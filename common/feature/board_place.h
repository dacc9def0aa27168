/* Which points of a board the nodes of a grid are. */
#ifndef BOARD_PLACE_H
#define BOARD_PLACE_H

#include "feature/board.h"
#include "feature/board_grid.h"

/* What a grid is on the board. */
struct placement {
	size_t others;        /* numberings that fit as well */
	double homography[9]; /* board_point() of (i, j) to px: the best one without lens */
	double rms;           /* px: of the nodes to it */
};

/*
 * Numbers the nodes of a grid, which are among n points, as the board's points: changes their i and
 * j, and drops those beside the board. 0; 1 where it can be no such board, with why in reason; -1
 * after fail().
 */
int board_place(const struct board *, const struct grid_point *, size_t n, struct grid *,
    double w_px, double h_px, struct placement *, char reason[200]);

#endif
