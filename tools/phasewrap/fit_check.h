/*
 * Do the images of a fringe set fit the phase shifts that they are taken for? Of N >= 4 images
 * I_n = A + B cos(phi + d_n) the fit leaves N - 3 numbers over. Noise and harmonics leave some
 * 0.01 to 0.3 of the amplitude there, and about as much whatever other shifts are tried. Where
 * there is a duplicate, two images are exchanged or one was left out, other shifts leave much
 * less. Only pixels on a coarse grid count, so that the warning does not depend on threads or
 * bands; they must have phases of the whole circle, else a cut-out of square fringes looks like
 * other shifts. (Three images fit always; four cannot tell the first exchanged with the third.)
 */
#ifndef FIT_CHECK_H
#define FIT_CHECK_H

#include "frame/frame.h"
#include "fringe/capture_set.h"
#include "image/coarse_grid.h"
#include "image_names.h"

struct fit_check {
	struct coarse_grid grid;
	size_t planes;
	float *sample;		/* [pixel][plane] */
	float *work;		/* for the fits */
	float least_amplitude;	/* below which a pixel is unlit */
	bool off, warned;	/* nothing is left to check; a warning was given */
	bool unfit;		/* the warning that no shifts fit was given */
	bool assumed;		/* the shifts of three images are a guess */
	bool guess_warned;	/* the warning of that was given, or is not needed */
	bool verbose;		/* the caller sets it: prints once how well the images fit */
};

/* Pixels of less than least_amplitude are unlit. The caller sets check->assumed before. -1 after
 * fail(). */
int fit_check_plan(struct fit_check *, const struct capture_set *, const struct frame_head *,
    float least_amplitude);
void fit_check_free(struct fit_check *);
/* Looks at row y of all fringe images. */
void fit_check_row(const struct fit_check *, const struct capture_set *, const struct frame *,
    size_t y);
/* All rows are made: warns, once in a run, about the first fringe set that other shifts fit better.
 * Pixels that reach max_value are saturated and do not count. */
void fit_check_warn(struct fit_check *, const struct capture_set *, float max_value,
    const struct image_names *);

#endif
