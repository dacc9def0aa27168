/* Finding a calibration board in a picture, and homographies. */
#ifndef BOARD_FIND_H
#define BOARD_FIND_H

#include <stdbool.h>
#include <stddef.h>

#include "feature/board.h"
#include "feature/corner.h"

/*
 * Grids: which of an image's points are neighbours on a board. From a first quad the grid grows to
 * neighbours where the known ones predict them, one after the other, so that perspective and lens
 * distortion bend it as they like.
 */

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

/* What a grid is on the board. */
struct placement {
	size_t others;        /* numberings that fit as well */
	double homography[9]; /* board_point() of (i, j) to px: the best one without lens */
	double rms;           /* px: of the nodes to it */
};

/* Boards in pictures: which points there are, where to a hundredth of a pixel, and how sure. */

#define BOARD_REASON 200

struct board_options {
	/* Of derivative_kernels; NULL: derivatives_row(). */
	void (*row)(const struct derivative_kernels *, const struct derivative_plane *, size_t y,
	    float *work, float *const out[DERIVATIVES]);
	double sigma_px; /* of the smoothing that places are measured with; NaN: a tenth of
			  * the least distance of neighbours, 0.8 to 4 */
	bool bright;     /* circles are bright on dark ground */
};

/*
 * One float channel out of a picture: `channel`, or where that is NULL the only one, `image`, or
 * the luma of r g b (0.299, 0.587, 0.114). What is not finite becomes NaN. -1 after fail().
 */
int board_picture(const struct frame *, const char *channel, struct frame **gray);
/*
 * Finds the board in such a picture, by itself on the calling thread. 0: corners has those found,
 * at least a quarter of the board's and at most all of them, sorted; free with corners_free(). 1:
 * there is none, and reason says what there is instead. -1 after fail().
 */
int board_find(const struct board *, const struct board_options *, const struct frame *gray,
    struct corners *, char reason[BOARD_REASON]);

/* The plane of a picture of board_picture(). */
struct derivative_plane board_plane(const struct frame *gray);
/* The picture with means of `bin` x `bin` pixels as pixels, bin a power of two; those over are left
 * out. */
int board_binned(const struct frame *gray, size_t bin, struct frame **out);

#endif
