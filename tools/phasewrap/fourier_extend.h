/*
 * Goes on with a line of samples where there are none: behind its ends and in its holes, by linear
 * prediction (Burg's method: coefficients that are always stable), so that a transform sees fringes
 * there, and neither an edge nor a phase that turns round.
 */
#ifndef FOURIER_EXTEND_H
#define FOURIER_EXTEND_H

#include <stddef.h>

/* For lines of one length. */
struct fourier_extend {
	size_t n, total;	/* samples, and of the cyclic line with what is added behind them */
	size_t channels;	/* 1: real; 2: real and imaginary part, one behind the other */
	size_t reach;		/* from the last sample to where nothing is left of it */
	size_t fit;		/* samples that the prediction is taken from */
	float rest;		/* what it comes to */
};

/* Floats of memory that fourier_extend_line() works in. */
size_t fourier_extend_memory(const struct fourier_extend *);
/*
 * line: channels x total samples, of which the first n are given; known: n of them. Fills the
 * others. A line of which nothing is known comes to rest everywhere.
 */
void fourier_extend_line(
    const struct fourier_extend *, float *line, const unsigned char *known, float *memory);

#endif
