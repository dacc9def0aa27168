/* Sets of fringes that cannot be counted, as there are too few of them in a line, or they run back
 * and forth; for sets.c. */
#ifndef EQUAL_STEPS_H
#define EQUAL_STEPS_H

#include "sets.h"

/* n of some images, from one on, as equal steps of a turn. */
void equal_steps_take(const struct steps *images, size_t from, size_t n, struct steps *block);
/* Are the images sets of n equal steps each, one after another: do they leave no larger residual,
 * with one mean? 1, 0, -1 after fail(). */
int equal_steps_blocks(const struct field *, const struct steps *images, size_t n, double worst);
/* Takes images for a set with the shifts as they are, which a part of a fringe does not tell. 1 if
 * they fit, 0, -1 after fail(). */
int equal_steps_set(struct sets *, int axis, const struct steps *images);
/* Adds the sets that fit equal steps, of images that are left. -1 after fail(). */
int equal_steps_find(struct sets *);

#endif
