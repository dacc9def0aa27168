/* Inside of harmonic_fit(): what its files share. */
#ifndef FITTING_H
#define FITTING_H

#include "harmonic_fit.h"

#define FITTING_UNKNOWNS (2 * FIT_HIGHEST + 2 * FIT_IMAGES)
#define FITTING_BINS 32			/* of the circle, for what remains unexplained */

struct pixel {
	double mean, amplitude, phase;
};

/* What a part of the picture gives. */
struct part {
	double normal[FITTING_UNKNOWNS * FITTING_UNKNOWNS], right[FITTING_UNKNOWNS];
	double squares, sinusoid_squares;	/* that this fit and sinusoids leave */
	double power;				/* sum of B^2 */
	double bin[FITTING_BINS][FIT_IMAGES];	/* sums of B times what is left */
	double bin_power[FITTING_BINS];		/* of B^2 */
	size_t pixels;
};

struct fitting {
	struct harmonic_fit *fit;
	const struct pixels *pixels;
	struct pixel *pixel;
	struct part *part;
	long k[FIT_HIGHEST + 1];	/* harmonics that are seen */
	size_t n, unknowns;		/* their number; cosines and sines, gains, shifts */
	double turn[FIT_IMAGES][2];	/* cosine and sine of the shifts, errors included */
	double weight[FIT_IMAGES][3];	/* that turn images into A, B cos phi, B sin phi */
};

/* A pixel's own unknowns by sinusoids, where harmonics do not matter yet. */
struct pixel fitting_begin(const struct fitting *, const double *v);
/* For run_for(): the sums of part i, whose pixels' own unknowns it improves. */
void fitting_add_part(void *fitting, size_t i);

/* By sinusoids alone, before anything is fitted; sum: of all parts. -1 after fail(). */
int fitting_check_fringes(const struct fitting *, const struct part *sum);
/* Are images off their steps? -1 after fail(). */
int fitting_check_shifts(const struct harmonic_fit *);
/* The slopes, out of the parts' normal equations. -1 after fail(). */
int fitting_slopes(struct fitting *);
/* Fills in how good the fit is; inverse: of the normal equations; space for FITTING_UNKNOWNS^2
 * numbers. */
void fitting_judge(struct fitting *, const struct part *sum, const double *inverse, double *space);

#endif
