/*
 * Windowed Fourier filtering (Kemao 2004, 2007) of a plane of unit vectors exp(i phase): in
 * Gaussian windows that overlap, frequencies that do not stand out of the noise are left out.
 */
#ifndef WFF_WINDOWS_H
#define WFF_WINDOWS_H

#include "patch_fft.h"
#include "run/stage.h"

#define WINDOWS_SIZE_MOST 512	/* pixels of a patch */
#define WINDOWS_STEP_LEAST 0.01228	/* rad/px, of such a patch: a little more than 2 pi by it */

struct windows_options {
	double sigma_px;	/* of the window */
	double step;		/* between frequencies, rad/px at most; NaN: 1/sigma */
	double threshold;	/* in standard deviations of the noise */
	double noise_rad;	/* of the phase; NaN: found in each window */
	struct numbers band;	/* x0 x1 y0 y1, rad/px; none: all */
};

struct windows {
	struct patch_fft fft;
	size_t reach, hop;	/* pixels to either side of a centre, between two centres */
	float *weight;		/* of 2 reach + 1 pixels */
	float *keep;		/* by place in the transform: 1 where in the band; x, then y */
	double share;		/* |c|^2 that passes, of its median */
	double power;		/* or, where share is 0, of the sum of squared weights */
};

/* re, im: 0 at invalid pixels; sums of what is filtered. Rows of w floats. */
struct windows_map {
	size_t w, h;
	float *re, *im, *sum_re, *sum_im;
};

/* -1 after fail(). */
int windows_new(const struct windows_options *, struct windows *);
void windows_free(struct windows *);
/* What the sums are where all windows have passed all of the phase. */
double windows_sum(const struct windows *);
/* Adds the filtered vectors to the sums; 0 where no window passed anything. The same on any number
 * of threads. -1 after fail(). */
int windows_filter(struct run *, const struct windows *, const struct windows_map *);

#endif
