/* Windows round a carrier in the spectrum (methods §3). */
#ifndef FOURIER_WINDOW_H
#define FOURIER_WINDOW_H

#include <stdbool.h>
#include <stddef.h>

enum fourier_shape { WINDOW_TUKEY, WINDOW_HANN, WINDOW_GAUSS };

/* A frequency in turns per camera pixel, along the rows and down. */
struct fourier_carrier {
	double x, y;
};

/*
 * 1 at a distance u = 0 from the carrier, over the half-width, and 0 from u = 1 on: hann is
 * (1 + cos pi u) / 2; gauss exp(-4.5 u^2), three standard deviations, cut there; tukey is 1 up to
 * u = 1/2 and then a half-wave of a cosine.
 */
float fourier_window(enum fourier_shape, double u);

#endif
