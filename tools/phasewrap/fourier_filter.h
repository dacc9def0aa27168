/*
 * The analytic signal round a carrier: transform, window, transform back (thesis eq. 3.3). Lines
 * are transformed alone, or rows and columns; a line is what the carrier mostly varies along, so
 * that a signal of horizontal fringes is to be turned before.
 */
#ifndef FOURIER_FILTER_H
#define FOURIER_FILTER_H

#include "fourier_signal.h"
#include "fourier_window.h"
#include "frame/pixel_store.h"

struct run;

enum fourier_transform { TRANSFORM_2D, TRANSFORM_LINES };

struct fourier_sample {
	float re, im;
};

struct fourier_filter {
	struct fourier_carrier carrier;	/* x along the lines: positive, no less than |y| */
	enum fourier_shape shape;
	enum fourier_transform transform;
	double half_width;		/* in turns per pixel */
};

/* Rows of the image, of w samples, h of them. */
struct fourier_result {
	size_t w, h;
	float *re, *im;		/* B/2 exp(i phi) */
	float *mean;		/* of the signal over two periods, or NULL */
	/* The variance of z is this times that of a white signal: the integral of the window's
	 * square over the frequencies. */
	double noise_bandwidth;
	struct pixel_store *store;
};

/* mean: is it wanted? -1 after fail(), also where memory is short; fourier_filter_free() also then.
 */
int fourier_filter_run(struct run *, const struct fourier_filter *, const struct fourier_signal *,
    bool mean, struct fourier_result *);
void fourier_filter_free(struct fourier_result *);

#endif
