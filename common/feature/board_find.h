/* Boards in pictures: which points there are, where to a hundredth of a pixel, and how sure. */
#ifndef BOARD_FIND_H
#define BOARD_FIND_H

#include "feature/board.h"
#include "feature/derivatives.h"

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

#endif
