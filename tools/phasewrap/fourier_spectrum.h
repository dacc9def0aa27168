/* The power spectrum of an image: the mean over pieces of it, faded out towards their borders. */
#ifndef FOURIER_SPECTRUM_H
#define FOURIER_SPECTRUM_H

#include "fourier_signal.h"
#include "fourier_window.h"

struct run;

#define FOURIER_RINGS 64	/* of frequencies, each wider than the one before */

/* The power of the frequencies k = 0 .. w / 2 across and l = 0 .. h - 1 (or negative) down. */
struct fourier_spectrum {
	size_t w, h, columns;	/* of the transform; w / 2 + 1 */
	size_t tile_w, tile_h;	/* pixels of a piece */
	float *power, *smooth;	/* the second is the mean over 3 x 3 frequencies */
	double ring[FOURIER_RINGS];	/* the median power in each; NaN: not found yet */
	double *sorted;		/* room for all of them */
	struct pixel_store *store;
};

/* -1 after fail(); fourier_spectrum_free() also then. */
int fourier_spectrum_make(
    struct run *, const struct fourier_signal *, struct fourier_spectrum *);
void fourier_spectrum_free(struct fourier_spectrum *);
/* The value at a frequency of either sign, of power or of smooth. */
float fourier_spectrum_power(
    const struct fourier_spectrum *, const float *power, long k, long l);
/* The mean power over a square of 2 radius + 1 frequencies. */
double fourier_spectrum_mean(const struct fourier_spectrum *, double k, double l, long radius);
/* Of place x, y of the spectrum. */
struct fourier_carrier fourier_spectrum_frequency(
    const struct fourier_spectrum *, size_t x, size_t y);
/* Cycles in a piece of the image. */
double fourier_spectrum_cycles(const struct fourier_spectrum *, struct fourier_carrier);
/* The median power of the ring that a frequency lies in. */
double fourier_spectrum_ring(struct fourier_spectrum *, struct fourier_carrier);

#endif
