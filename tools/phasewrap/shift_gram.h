/*
 * Phase shifts that nobody knows, out of the images alone: least squares over pixels and images in
 * turn (Wang and Han 2004, "Advanced iterative algorithm for phase extraction of randomly
 * phase-shifted interferograms"). All that matters of the images are the sums of their products
 * over the pixels (their Gram matrix), so that a round costs nothing but n x n numbers:
 *
 *	images = M X,  M_i = (1, cos d_i, -sin d_i),  X = (A, B cos phi, B sin phi) of each pixel
 *	given d: X by least squares of each pixel;  given X: each image on X by least squares, whose
 *	coefficients of the last two are the cosine and the sine of its shift
 *
 * A and B may be any, another one in each pixel; a brightness that is added to a whole image does
 * no harm. That determines n >= 5 shifts: n points (cos d, sin d), known up to a linear map of the
 * plane, lie on one ellipse, which five points fix. Three and four images fit whatever the shifts
 * are; theirs follow from the phases being spread evenly and the amplitude not depending on them:
 * the mean square of the difference of two images is in proportion to 1 - cos(d_i - d_j) then, so
 * that the images are points of a plane, on a circle about whose centre the shifts are angles. The
 * same circle is where the rounds of five and more begin, so that it does not matter how wrong the
 * shifts are taken to be. No images tell the sense in which the phase runs, nor its origin: the
 * shifts that were expected choose the sense; the first image keeps its own.
 *
 * Shifts are five in this sense where cos 2d, sin 2d, cos d, sin d and 1 are independent over them:
 * then no other conic but the circle goes through their points. Others are found as three and four.
 */
#ifndef SHIFT_GRAM_H
#define SHIFT_GRAM_H

#include <stdbool.h>
#include <stddef.h>

#define SHIFT_IMAGES_MOST 64
#define SHIFT_BLOCKS 16		/* parts of the picture */
#define SHIFT_FREE_LEAST 5	/* images, from which on nothing is assumed of the pixels */

/* Sums over the pixels of a part of the picture. */
struct shift_sums {
	double weight;
	double image[SHIFT_IMAGES_MOST];
	double *product;		/* n x n */
};

struct shift_found {
	double shift_rad[SHIFT_IMAGES_MOST];
	double error_rad;	/* standard error of the worst one; NaN: the parts are too few */
	double total_rad;	/* with what the images cannot show */
	double settled_rad;	/* largest change in the last round */
	size_t rounds;
	bool assumed;		/* too few different shifts: the pixels are taken to be even */
	bool checked;		/* by the phase along lines (shift_ripple.h); of the caller */
	double sense;		/* how much better the sense fits the expected shifts than the other
				 * one, as a ratio, 1 and more */
};

/*
 * Finds the shifts of n images, 3 to SHIFT_IMAGES_MOST, I = A + B cos(phi + shift); expected: about
 * what they should be. False: the images determine none, as where two or all are alike.
 */
bool shift_gram_find(const struct shift_sums block[SHIFT_BLOCKS], size_t n,
    const double *expected, struct shift_found *out);
/* The least squares of a pixel: (A, B cos phi, B sin phi) are k times its samples. False: the
 * shifts determine no phase. */
bool shift_gram_pixels(const double *shift_rad, size_t n, double k[3][SHIFT_IMAGES_MOST]);
/* Have the rounds settled? */
bool shift_gram_settled(const struct shift_found *);

#endif
