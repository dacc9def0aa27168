/* Images of one fringe pattern that was moved: their shifts, and how well they fit. */
#ifndef STEPS_H
#define STEPS_H

#include "field.h"

#define STEPS_MOST 200

struct steps {
	size_t n;
	size_t image[STEPS_MOST];	/* of the field */
	double shift_rad[STEPS_MOST];	/* I = A + B cos(phase + shift), phase grows along lines */
	/* how they fit */
	size_t pixels;			/* that have fringes */
	double mean, amplitude, modulation;	/* medians over these */
	double residual;		/* rms that the fit leaves over the amplitude; NaN: n = 3 */
	double noise;			/* the same in levels */
	double misfit[STEPS_MOST];	/* of each image, over the amplitude */
	double level;			/* least A + B, for masks */
};

/* Fills in how the images fit their shifts. -1 after fail(). */
int steps_measure(const struct field *, struct steps *);
/* Refines the shifts so that they fit best (Wang and Han 2004: pixels and shifts in turn, by least
 * squares), the first one staying 0; then steps_measure(). -1 after fail(). */
int steps_fit(const struct field *, struct steps *);
/* Does an image fit the phases of these steps? Its shift, how much that grows from the first half
 * of the lines to the second, and the rms of what is left over the amplitude; NaN: the image has a
 * much larger or smaller amplitude. */
double steps_try(const struct field *, const struct steps *, size_t image, double *shift_rad,
    double *drift_rad);
/* The wrapped phase and the mean of all pixels, NaN where there are no fringes. Either may be NULL.
 * -1 after fail(). */
int steps_phase(const struct field *, const struct steps *, float *phase, float *mean);

/* The amplitude of all pixels, also of those without fringes. -1 after fail(). */
int steps_amplitude(const struct field *, const struct steps *, float *amplitude);

/* What the shifts mean. */
struct steps_order {
	size_t of;			/* equal steps of 360/of degrees; 0: of other sizes */
	size_t place[STEPS_MOST];	/* of each image, in steps from the first */
	int sign;			/* +1, -1: shifts grow, fall from image to image */
	bool ordered;			/* images stand in the order of their shifts */
	size_t was[STEPS_MOST];		/* images as the files come */
	size_t start;			/* if not: the place that the first one should have */
	size_t exchanged[2];		/* if not: two in each other's place; equal: others */
	size_t missing;			/* shifts that no image has, if all of a turn are meant */
	size_t first_missing;		/* image behind which the first one is missing */
	double gap_rad;			/* the largest part of a turn without a shift */
	double error_rad;		/* rms of the shifts about these */
};

/* twin[i]: an image before i that has the same shift, or i. Returns how many have none. */
size_t steps_twins(const struct steps *, size_t twin[STEPS_MOST]);
/* Of images with different shifts. */
void steps_read(const struct steps *, struct steps_order *);

#endif
