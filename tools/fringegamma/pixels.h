/* The pixels of a set of images that an analysis is made of. */
#ifndef PIXELS_H
#define PIXELS_H

#include <stdbool.h>
#include <stddef.h>

#include "frame/frame.h"

#define PIXELS_MOST 65536	/* of those that qualify so many are taken, evenly */
#define PIXELS_SIDE 4
#define PIXELS_PARTS (2 * PIXELS_SIDE * PIXELS_SIDE)	/* of the picture, the dark and the bright
							 * pixels of each */

struct pixels {
	size_t images;
	size_t total;			/* of the picture */
	size_t lit;			/* above the least swing, and no sample is missing */
	size_t saturated;		/* of the lit ones, in any image */
	size_t n;			/* that take part */
	double *v;			/* [n][images], sorted by part */
	size_t first[PIXELS_PARTS + 1];	/* part i: pixels first[i] to first[i + 1] */
	double place[PIXELS_PARTS][2];	/* of a part: the mean x and y of its pixels, from the
					 * picture's middle */
};

/*
 * Those whose swing, the difference of their largest and smallest sample, is at least `least_swing`
 * (NaN: a quarter of that of the pixel above 90 % of the others), and that no image saturates at
 * `most`. -1 after fail(), which also says where there is no swing, or most are saturated.
 */
int pixels_take(const struct frame *, const size_t *plane, size_t images, double most,
    double least_swing, struct pixels *out);
void pixels_free(struct pixels *);

#endif
