/* Circles: their centres out of the centres of their images. */
#ifndef CENTRES_H
#define CENTRES_H

#include "calib_problem.h"

/*
 * Takes perspective and lens out of all points, which are the centres of ellipses, by a solution
 * that is nearly right: point->shift is what it takes off. The board has a diameter.
 */
void centres_correct(struct calib_problem *, const struct calib_solution *);

#endif
