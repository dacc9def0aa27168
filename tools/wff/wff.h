/* What wff.c plans for the loops of wff_rows.c: the windows, their transform, and a phase. */
#pragma once

#include <math.h>

#include "run/stage.h"
#include "wff.block.h"

/*
 * Fourier transforms of square patches of a power of two, with real and imaginary parts apart. Each
 * step works on whole rows, which compilers vectorise. Frequencies come in bit-reversed order,
 * which saves sorting them, as the filter looks at each one by itself.
 */
struct patch_fft {
	size_t n;		/* rows and columns */
	float *cos, *sin;	/* of -2 pi k/n */
	size_t *frequency;	/* at each place of the result: k of 0 to n - 1 */
};

/* n rows of n samples, one after another, aligned to 64. */
struct patch {
	float *re, *im;
};

struct windows {
	struct patch_fft fft;
	size_t reach, hop;	/* pixels on each side of a centre, between two centres */
	float *weight;		/* of 2 reach + 1 pixels */
	float *keep;		/* by place in the transform: 1 within the band; x, then y */
	float share;		/* least |c|^2 that passes, in medians of |c|^2 */
	float power;		/* if share is 0: in sums of squared weights */
};

/* A plane of unit vectors exp(i phase), 0 at invalid pixels, and the sums of the filtered ones.
 * Rows of w floats, `stride` apart. */
struct windows_map {
	size_t w, h, stride;
	float *re, *im, *sum_re, *sum_im;
};

/* Memory for one window at a time. */
struct workspace {
	struct patch a, b;
	float *power;		/* sum of squares of each column; then samples */
};

/* A phase, or its cosine and sine. */
struct phase_channels {
	size_t channel, sine;	/* sine: NO_CHANNEL for a phase */
};

struct phase_map {
	const struct frame *in;
	struct frame *out;	/* float; its channel `to` gets the phase in rad */
	struct phase_channels from;
	size_t to;
	double turn;		/* in samples; NaN: 2 pi */
};

struct row_counts {
	float low, high;	/* turns; low > high: no pixel */
	size_t valid, lost;
};

struct map_job {
	const struct phase_map *phase;
	struct windows_map map;
	double turn;			/* in samples */
	double least;			/* length of a vector that is a phase */
	struct row_counts *row;
};

struct wff_rows {
	/* Filters the window around (x, y), and adds the result to the sums. */
	void (*filter_window)(const struct windows *, const struct windows_map *, size_t x,
	    size_t y, struct workspace *);
	/* Row y of a struct map_job: the phase as vectors, and the sums as a phase. */
	void (*read_row)(void *map_job, size_t y);
	void (*write_row)(void *map_job, size_t y);
};
LEVELS_OF(wff_rows)
