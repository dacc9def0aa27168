/*
 * Does the phase of the other axis put points on the projector where the calibration does? A phase
 * of one axis has a point for every pixel, whatever is wrong; with both, a pixel's place on the
 * projector must lie on its epipolar line. Pixels on a coarse grid of the first frame of a run are
 * looked at, row by row, so that the warning does not depend on threads or bands.
 */
#ifndef EPIPOLAR_CHECK_H
#define EPIPOLAR_CHECK_H

#include <stdbool.h>

#include "image/coarse_grid.h"
#include "optics/calib.h"
#include "run/stage.h"
#include "triangulate.h"

struct epipolar_check {
	bool on, off;			/* --across is given; it was judged */
	bool verbose;
	const struct calib *calib;
	double center[3];		/* of the camera, in the world */
	size_t across;			/* channel of the other axis's phase */
	double limit_px;		/* that half of the pixels are off where a line warns */
	double px_per_rad, code0_px;	/* its place on the projector = px_per_rad phase + code0 */
	struct coarse_grid grid;
	float (*kept)[2];		/* [row][column]: distances of a pixel and of its right
					 * neighbour, in projector pixels; NaN: none */
};

/* The channel and the fringes of --across, for frames of this head. -1 after fail(). */
int epipolar_check_plan(struct run *, struct epipolar_check *, const struct calib *,
    const struct triangulation *, bool centered, const struct frame_head *in);
void epipolar_check_free(struct epipolar_check *);
size_t epipolar_check_bytes(const struct epipolar_check *);
/* Looks at row y of the points, made of row y of the input. */
void epipolar_check_row(const struct epipolar_check *, bool along_y, const struct frame *in,
    const float *const xyz[3], size_t y);
/* All rows are made: warns where the points lie too far beside their epipolar lines, unless
 * another line was printed, or else says with -v how far they lie. */
void epipolar_check_warn(struct epipolar_check *, bool warned);

#endif
