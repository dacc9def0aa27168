/* Sets of fringes that cannot be counted, as there are too few of them in a line, or they run back
 * and forth; for sets.c. */
#ifndef EQUAL_STEPS_H
#define EQUAL_STEPS_H

#include "sets.h"

/* Adds the sets that fit equal steps, of images that are left. -1 after fail(). */
int equal_steps_find(struct sets *);

#endif
