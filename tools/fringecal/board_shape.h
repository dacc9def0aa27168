/* How far the corners of the board stand from where its plan has them: what repeats at the same
 * corners in all views, by the residuals of a solve. */
#ifndef BOARD_SHAPE_H
#define BOARD_SHAPE_H

#include "calib_problem.h"

struct board_shape {
	double px;	/* rms of a coordinate that repeats, noise taken off */
	double all_px;	/* rms of a coordinate's residual */
	double offset;	/* rms of the corners' offsets along a side, in the board's unit */
	bool repeats;	/* surely, and it is more than a tenth of the residuals' squares */
};

/* -1 after fail_memory(). All zero where there are not enough views of the corners. */
int board_shape_find(const struct calib_problem *, const struct calib_solution *,
    struct board_shape *);

#endif
