/*
 * What a Fourier transform takes of a measurement: the fringe image, less its flat image or over it
 * (thesis eq. 3.6), as a plane of floats with NaN where a sample is missing or saturated.
 */
#ifndef FOURIER_SIGNAL_H
#define FOURIER_SIGNAL_H

#include "frame/frame.h"
#include "frame/pixel_store.h"

struct run;

enum fourier_removal { REMOVAL_QUOTIENT, REMOVAL_DIFFERENCE };

/* Which planes of a measurement; what makes a sample a hole. */
struct fourier_source {
	const struct frame *in;
	size_t fringe;
	size_t flats, flat[2];	/* none; half way between white and black; white, black */
	enum fourier_removal removal;
	float max_value;
	float least_unit;	/* a quotient's divisor is no less; see fourier_signal_make() */
};

/* Of n pixels of a row. */
struct fourier_pixels {
	float *image, *mean, *unit;	/* sample; that of the flats, or unset; grey levels of 1 */
	unsigned char *missing, *saturated;
};

/* h lines of w samples, which are rows of the image, or columns. */
struct fourier_signal {
	size_t w, h;
	float *v;
	size_t along, apart;	/* floats from sample to sample of a line, and from line to line */
	size_t holes;
	struct pixel_store *store;
};

/* 0, or -1 after fail(); fourier_pixels_free() also then. */
int fourier_pixels_new(size_t n, struct fourier_pixels *);
void fourier_pixels_free(struct fourier_pixels *);
/* Row y of the source. */
void fourier_pixels_read(const struct fourier_source *, size_t y, const struct fourier_pixels *);

/* The least divisor of a quotient, a tenth of the mean of all: darker pixels, whose quotient would
 * be noise, count for less. Sets source->least_unit. -1 after fail(). */
int fourier_signal_find_least(struct run *, struct fourier_source *);
/* Makes the signal, of rows, in memory of its own; fourier_signal_free() it. -1 after fail(). */
int fourier_signal_make(struct run *, const struct fourier_source *, struct fourier_signal *);
void fourier_signal_free(struct fourier_signal *);
/* Lines that are rows become columns, and the reverse. */
void fourier_signal_turn(struct fourier_signal *);

#endif
