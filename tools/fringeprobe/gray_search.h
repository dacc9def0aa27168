/* The search for a Gray code; for gray.c, gray_defects.c and gray_fringes.c. */
#ifndef GRAY_SEARCH_H
#define GRAY_SEARCH_H

#include "gray.h"

/* The images that may be planes, along one axis. */
struct gray_search {
	struct sets *sets;
	int axis;
	const struct fringe_set *fringe;	/* NULL: none along this axis */
	unsigned char **bit;		/* of the images that are looked at: 0, 1; NULL: others */
	size_t n, image[2 * GRAY_MOST + 4];	/* in the order of the files */
	struct gray_code best, part;	/* part: in which a plane is missing; n = 0: none */
};

/* Makes the bits of image i. -1 after fail(). */
int gray_search_bits(struct gray_search *, size_t i);
/* The bit of plane k of a code in pixel p, and the value of all planes. */
unsigned gray_search_bit(const struct gray_search *, const struct gray_code *, size_t k, size_t p);
unsigned gray_search_value(const struct gray_search *, const struct gray_code *, size_t p);

/* Looks for what is wrong with the planes of a code in this order: mended has codes in which
 * exchanged or inverted planes are right, or a missing one is recorded. How many; 0: nothing is
 * wrong, or nothing tells. */
size_t gray_defects_find(const struct gray_search *, const struct gray_code *,
    struct gray_code mended[2]);

/* How a code's value grows with the phase. -1 after fail(). */
int gray_fringes_compare(const struct gray_search *, struct gray_code *);
/* Columns are counted right only with all planes: those that are too fine to be seen belong to the
 * code, too, and halve its cells. -1 after fail(). */
int gray_fringes_add_blurred(struct gray_search *, struct gray_code *);

#endif
