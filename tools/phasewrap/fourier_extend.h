/*
 * Goes on with lines of samples where there are none: behind their ends and in their holes, by
 * linear prediction (Burg's method: coefficients that are always stable), so that a transform sees
 * fringes there, and neither an edge nor a phase that turns round. Lines that miss the same samples
 * are taken together, side by side, each as if it came alone.
 */
#ifndef FOURIER_EXTEND_H
#define FOURIER_EXTEND_H

#include <stddef.h>

#include "base/cpu_level.h"

#define FOURIER_EXTEND_LANES_LEAST (CPU_VECTOR_BYTES / sizeof(float))
#define FOURIER_EXTEND_LANES_MOST ((size_t)32)

/* For lines of one length. */
struct fourier_extend {
	size_t n, total;	/* samples, and of the cyclic line with what is added behind them */
	size_t channels;	/* 1: real; 2: real and imaginary part */
	size_t lanes;		/* lines, a multiple of FOURIER_EXTEND_LANES_LEAST */
	size_t reach;		/* from the last sample to where nothing is left of it */
	size_t fit;		/* samples that the prediction is taken from */
};

/* Floats of memory that fourier_extend_lines() works in. */
size_t fourier_extend_memory(const struct fourier_extend *);
/*
 * line: `total` samples, of which the first n are given, each of `channels` times `lanes` floats;
 * known: n of them, or NULL where all are. Fills the others. rest: what each lane comes to far from
 * all that is known, and is everywhere in lines of which nothing is known. line, rest and memory
 * are aligned to 64.
 */
void fourier_extend_lines(const struct fourier_extend *, const float *rest, float *line,
    const unsigned char *known, float *memory);

#endif
