/* The lines of all images of one size along one axis, and where in them something changes. */
#ifndef FIELD_H
#define FIELD_H

#include "images.h"

struct field {
	int axis;			/* 0: lines run along x, 1: along y */
	size_t n, lines, length;
	const float **v;		/* of each image: lines x length samples */
	float *mid, *half;		/* middle and half of the range of a pixel's values */
	bool *lit;			/* pixels whose values change as fringes do */
	size_t lit_pixels;
};

/* Of n images of one size. -1 after fail(); free with field_free(), also then. */
int field_new(struct image *const *image, size_t n, int axis, struct field *out);
void field_free(struct field *);

/* The fringes of one image, found by where it crosses the middle. */
struct carrier {
	float *theta;		/* of each pixel: phase in rad, grows along the line; NaN: none */
	double density;		/* crossings per lit pixel */
	double per_line;	/* crossings in a line, on average of those with lit pixels */
	double between;		/* share of lit pixels halfway between bright and dark */
	double contrast;	/* |v - mid| / half that 6 of 7 lit pixels have at most */
	double level;		/* mean of (v - mid) / half, -1 to 1 */
	double known;		/* share of lit pixels that have a phase */
};

int carrier_find(const struct field *, size_t image, struct carrier *out);
void carrier_free(struct carrier *);

/* How one phase grows with another. */
struct growth {
	double ratio, error;	/* d phase / d reference, and its standard error; NaN: unknown */
	double wobble;		/* error of the ratio by what the lines have in common: harmonics */
	double offset;		/* mean of phase - reference, in rad, from -pi to pi */
	double coherence;	/* of that, 0 to 1 */
	double shared;		/* pixels that have both */
	double spread;		/* rms of the reference within runs of pixels, in rad */
};

/* Both are lines x length, unwrapped within runs of pixels that are not NaN. */
int growth_find(size_t lines, size_t length, const float *reference, const float *phase,
    struct growth *out);
/* Unwraps a phase along the lines; a NaN or a step of more than `most` rad begins a new run, marked
 * by NaN in its first pixel. */
void field_unwrap(size_t lines, size_t length, float most, float *phase);

#endif
