/* Sets of a sine, a cosine and a flat image; for sets.c. */
#ifndef TWO_PLUS_ONE_H
#define TWO_PLUS_ONE_H

#include "sets.h"

/* Makes 2+1 of sets of three images that are no equal steps, and adds those of three images, one
 * after another, that are left, if no other sets are known. -1 after fail(). */
int two_plus_one_find(struct sets *);

#endif
