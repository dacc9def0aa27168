/* Start values of a calibration in closed form. */
#ifndef START_H
#define START_H

#include "calib_problem.h"

/*
 * Fills in all parameters in the order of struct residuals: intrinsics by Zhang's closed form,
 * poses of the board by homographies, poses of devices as the median over the views that they
 * share. Where the board is symmetric, points of views are numbered anew. -1 after fail(), which
 * names a view that shows the board mirrored, devices without common views, and so on.
 */
int calib_start(struct calib_problem *, double *parameter);

#endif
