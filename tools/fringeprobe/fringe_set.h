/* What the images of a set show; for sets.c and equal_steps.c. */
#ifndef FRINGE_SET_H
#define FRINGE_SET_H

#include "sets.h"

#define FRINGE_SET_RUN_STEP 2.0f	/* rad: more from pixel to pixel ends a run */

/* Do images fit so well that the residual is not worse? */
bool fringe_set_fits(const struct steps *, double worst);
/* Makes phase and mean out of the steps. -1 after fail(). */
int fringe_set_phase(const struct field *, struct fringe_set *);
/* Period and number of fringes, from the phase; false: it falls along the line. */
bool fringe_set_period(const struct field *, struct fringe_set *);
/* Are there steps from pixel to pixel that are too large to be fringes? Of noise a third is. */
bool fringe_set_rough(const struct field *, const struct fringe_set *);
/* The last set of *sets + 1, of images and shifts that are found: 1 it is one, 0 it shows no
 * fringes, or steps that nobody makes, -1 after fail(). */
int fringe_set_make(struct sets *, const struct field *, struct fringe_set *);
/* Its images are unknown again; returns 0. */
int fringe_set_drop(struct sets *, struct fringe_set *);

#endif
