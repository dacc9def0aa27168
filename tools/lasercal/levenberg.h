/* Least squares of a few parameters by Levenberg and Marquardt, derivatives by differences. */
#ifndef LASERCAL_LEVENBERG_H
#define LASERCAL_LEVENBERG_H

#include <stddef.h>

#define LEVENBERG_MOST 16	/* parameters */

struct levenberg {
	size_t parameters, residuals;
	const double *scale;		/* of each parameter: a small step, for differences */
	/* The residuals at the state plus a step. */
	void (*residual)(const void *state, const double *step, double *r);
	/* Takes the step into the state. */
	void (*take)(void *state, const double *step);
	void *state;
};

/* *squares: the sum of squared residuals at the end. -1 after fail_memory(). */
int levenberg_fit(const struct levenberg *, double *squares);

#endif
