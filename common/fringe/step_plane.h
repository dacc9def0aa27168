/*
 * The phases of pixels without the shifts of the images: whatever these are, the values of all
 * pixels lie near one plane, that of the two largest eigenvectors of their Gram matrix
 * (step_fit.h), and go round it once with the phase. The sense and the origin are left open.
 */
#ifndef STEP_PLANE_H
#define STEP_PLANE_H

#include "fringe/step_fit.h"

struct step_plane {
	size_t n;
	double axis[2][STEP_FIT_MOST];	/* divided by their standard deviations */
};

/* gram: n x n, of n images, 3 to STEP_FIT_MOST. */
struct step_plane step_plane_find(const double *gram, size_t n);
/* The phase of n values less their mean, in turns, 0 <= phase < 1. */
double step_plane_turns(const struct step_plane *, const float *v);

#endif
