/* The weights of several absolute phases in the mean of them all (methods §5). */
#ifndef PHASE_MEAN_H
#define PHASE_MEAN_H

#include <stddef.h>

/*
 * weight[i] of the coordinates that n phases of scatter[i] (in radians; NULL: all alike) give:
 * 1/(T scatter)^2, their sum 1.
 */
void phase_mean_weights(const double *period_px, const double *scatter, size_t n, double *weight);

#endif
