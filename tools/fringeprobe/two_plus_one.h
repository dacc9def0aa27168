/* Sets of a sine, a cosine and a flat image; for sets.c. */
#ifndef TWO_PLUS_ONE_H
#define TWO_PLUS_ONE_H

#include "sets.h"

/* Adds sets of three images, one after another, that are left. -1 after fail(). */
int two_plus_one_find(struct sets *);

#endif
