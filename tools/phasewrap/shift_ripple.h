/*
 * Shifts of three and four images, made right by what they leave in the phase.
 *
 * Wrong shifts give each pixel a linear map of its (cos phi, sin phi), so that the phase found is
 * phi + a cos 2 phi + b sin 2 phi, to first order. A phase that is smooth along rows and columns
 * has no such ripple: second differences over a quarter of a fringe, of which a ripple makes four
 * times itself, tell a and b where one piece of a line has a fringe and more, whichever part of the
 * circle it shows. Three images then have their shifts. Of four a and b leave one open, which the
 * images themselves tell: they lie in three dimensions, so that one combination of them is 0.
 */
#ifndef SHIFT_RIPPLE_H
#define SHIFT_RIPPLE_H

#include "fringe/capture_set.h"
#include "run/run.h"
#include "shift_gram.h"

#define SHIFT_RIPPLE_MOST 4	/* images */

struct shift_ripple {
	bool known;		/* enough pieces of lines have a fringe */
	double error_rad;	/* of the worst shift: of noise and rough surfaces, from the
				 * scatter over parts of the picture, and of bent ones, from what
				 * one power of the place less changes */
	double systematic_rad;	/* of the worst shift, known or not: of 1.5 % of light from image
				 * to image, and a third harmonic of 2 % */
	double moved_rad;	/* how far the worst shift went */
	double turns;		/* of the phase along a piece, as a mean */
};

/*
 * Improves the shifts of n <= SHIFT_RIPPLE_MOST images, I = A + B cos(phi + shift), the first of
 * which stays. max_value: samples from which on are saturated; least_square: mean square about the
 * mean of a pixel with fringes. Where not known shift_rad stays. -1 after fail().
 */
int shift_ripple_refine(struct run *, const struct frame *in, const struct capture_fringe *,
    float max_value, float least_square, double *shift_rad, struct shift_ripple *);

#endif
