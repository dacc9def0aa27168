/*
 * Undoing a projector's lens that the usual steps do not undo everywhere (triangulate.h, strong). A
 * file of its own, since the compiler makes vectors of the usual steps only while they stand alone.
 */
#ifndef STRONG_LENS_H
#define STRONG_LENS_H

#include "triangulate.h"

/* What is to be taken off the coded coordinates of n phases; x and y: what the camera's lens adds
 * to its normalised x0 + column and y0. */
void strong_lens_undo(const struct triangulation *, const float *phase, double x0, double y0,
    const float *x, const float *y, float *shift, int n);

#endif
