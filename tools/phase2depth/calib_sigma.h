/* The standard deviation of a frame's points by what is uncertain about the calibration. */
#ifndef CALIB_SIGMA_H
#define CALIB_SIGMA_H

#include "point_variance.h"
#include "run/stage.h"
#include "triangulate.h"

#define CALIB_SIGMA_TERMS 9	/* of the polynomial along a ray */

/*
 * The variance changes slowly over the picture: it is computed on a grid of rays, at five distances
 * on each. Without a lens on the projector's side it is a polynomial of that degree exactly.
 */
struct calib_sigma {
	struct point_variance of;	/* loaded before, if its kind is not NONE */
	/* For frames of one size and place. */
	float *table;			/* rows x columns x CALIB_SIGMA_TERMS */
	size_t columns, rows, step_px;	/* of frame pixels between two rays */
	double middle_mm, per_mm;	/* distance s: at (s - middle_mm) per_mm, -1 to 1 */
	double offset_mm2;		/* added to variances, so that logarithms do not dip */
	size_t w, h;
	double origin_px[2], bin[2];
};

/* For frames that are triangulated so. -1 after fail(). */
int calib_sigma_plan(struct run *, struct calib_sigma *, const struct triangulation *);
/* Row y of n points; NaN where there is none, and where the grid has no ray. */
void calib_sigma_row(const struct calib_sigma *, const struct triangulation *,
    const float *const xyz[3], float *out, size_t n, size_t y);
void calib_sigma_free(struct calib_sigma *);

#endif
