/* The variance of a triangulated point by what is uncertain about the calibration (methods §16). */
#ifndef POINT_VARIANCE_H
#define POINT_VARIANCE_H

#include <stdbool.h>

#include "rig_covariance.h"

/*
 * A point that stays at its pixel of the camera and at its column (row) of the projector moves when
 * the parameters change. SHAPE: without the rigid motion of the volume where the board was that
 * fits best; PLACE: in the frame of rig.frame.
 */
enum point_variance_kind { POINT_VARIANCE_NONE = -1, POINT_VARIANCE_SHAPE, POINT_VARIANCE_PLACE };

struct point_variance {
	int kind;
	bool along_y;			/* the projector gives rows */
	struct rig_covariance rig;
	/* The parameters that matter, n of them, their covariance, and the rigid motion (6 x n)
	 * that each makes of the volume, about its middle. */
	size_t n, *parameter;
	double *C, *motion, middle[3];
};

/* Of the calibration that calib_load_device() reads by the same names; `kind` is set before. -1
 * after fail(). */
int point_variance_load(struct point_variance *, const char *path, const char *camera,
    const char *frame);
/* Comes before point_variance(). -1 after fail(). */
int point_variance_set_axis(struct point_variance *, bool along_y);
/* Of all three coordinates of X, which is in the first device's frame; NaN where there is no such
 * point. scratch: 6 n numbers. */
double point_variance(const struct point_variance *, const double X[3], double *scratch);
void point_variance_free(struct point_variance *);

#endif
