/* What residuals say of the standard deviations of points. */
#ifndef NOISE_H
#define NOISE_H

#include "solve.h"

/* Where the points of one of several devices have no sigma it is what the residuals say; returns
 * whether weights changed. */
bool noise_find_sigma(struct solve *);
/*
 * Errors that sigma does not know (the print of the board, its shape, a blurred picture, a lens
 * that the model does not have) come on top of it: an excess in px is added to it in quadrature.
 * That of a device makes the median of all its residuals what it should be. A view whose residuals
 * within `most` standard deviations of the device's (INFINITY: all) have a mean square that differs
 * from theirs gets its own. Wants what solve_measure() left; returns whether weights changed, and
 * residuals and scales are those of the new weights then.
 */
bool noise_find_excess(struct solve *, double most);
/* A residual (2 i: u, 2 i + 1: v of point i) in standard deviations of its device's points: what a
 * wrong point is known by. */
double noise_residual(const struct solve *, size_t device, size_t i);

#endif
