/*
 * How well do images fit phase shifts, and which other shifts would they fit better? All that
 * matters of the images is their Gram matrix: G_ij = sum over pixels of v_i v_j, where v are the
 * values of a pixel less their mean, divided by their root mean square. A fit leaves trace(G) -
 * sum q'G q, over an orthonormal basis q of the constant, the cosine and the sine of the shifts;
 * what it leaves without one image follows as in linear regression, from residual and leverage.
 */
#ifndef STEP_FIT_H
#define STEP_FIT_H

#include <stddef.h>

#define STEP_FIT_MOST 64	/* images of one period; callers check no more */

enum step_fault {
	STEPS_FIT,		/* as well as noise and harmonics let them */
	STEPS_ALIKE,		/* image b shows what image a shows */
	STEPS_EXCHANGED,	/* images a and b are in each other's place, or c and d: with few
				   steps what one leaves may be the other's mirror image */
	STEPS_SORTED,		/* numbers without zeros were sorted as text: 1, 10, 11, 2 */
	STEPS_MISSING,		/* one is missing after image a - 1 */
	STEPS_OTHER,		/* equal steps of 360 / a degrees fit better */
	STEPS_DRIFT,		/* each image lies drift_rad farther than the one before should */
	STEPS_OUTLIER,		/* image a fits none of the others */
	STEPS_UNFIT		/* nothing of these, and no fit either */
};

struct step_verdict {
	enum step_fault fault;
	size_t a, b, c, d;	/* images from 0, or as above; c = d: there are no others */
	double misfit;		/* rms that the fit leaves, over the amplitude */
	double better;		/* the same of the fit that the fault names, if any; else 0 */
	double drift_rad;	/* an even motion that explains as much as the fault; else 0 */
};

/* gram: n x n, of n images, 4 to STEP_FIT_MOST; shift_rad: of each. */
struct step_verdict step_fit_judge(const double *gram, const double *shift_rad, size_t n);
/* The sum of the products of n numbers. */
double step_fit_dot(const double *a, const double *b, size_t n);

#endif
