/*
 * The analytic signal round a carrier: transform, window, transform back (thesis eq. 3.3). Lines
 * are transformed alone, or rows and columns; a line is what the carrier mostly varies along, so
 * that a signal of horizontal fringes is to be turned over before.
 */
#ifndef FOURIER_FILTER_H
#define FOURIER_FILTER_H

#include "fourier_signal.h"
#include "fourier_window.h"
#include "image/fft.h"

struct run;

enum fourier_transform { TRANSFORM_2D, TRANSFORM_LINES };

struct fourier_filter {
	struct fourier_carrier carrier;	/* x along the lines: positive, no less than |y| */
	enum fourier_shape shape;
	enum fourier_transform transform;
	double half_width;		/* in turns per pixel */
};

struct fourier_result {
	struct fft_plane z;	/* B/2 exp(i phi) */
	float *mean;		/* of the signal over two periods, in its own layout, or NULL */
	/* The variance of z is this times that of a white signal: the integral of the window's
	 * square over the frequencies. */
	double noise_bandwidth;
};

/* mean: is it wanted? Free the result's z.v and mean. -1 after fail(), also where memory is short.
 */
int fourier_filter_run(struct run *, const struct fourier_filter *, const struct fourier_signal *,
    bool mean, struct fourier_result *);

#endif
