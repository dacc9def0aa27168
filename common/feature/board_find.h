/* Finding a calibration board in a picture. */
#ifndef BOARD_FIND_H
#define BOARD_FIND_H

#include <stdbool.h>
#include <stddef.h>

#include "feature/board.h"
#include "feature/corner.h"

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
 * Finds the board in such a picture, by itself on the calling thread. 0: corners has those found,
 * at least a quarter of the board's and at most all of them, sorted; free with corners_free(). 1:
 * there is none, and reason says what there is instead. -1 after fail().
 */
int board_find(const struct board *, const struct board_options *, const struct frame *gray,
    struct corners *, char reason[BOARD_REASON]);

#endif
