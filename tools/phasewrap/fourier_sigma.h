/*
 * The noise of the analytic signal round a carrier. Independent noise of variance v(x) in the
 * signal's samples is one of variance sum |h(x - x')|^2 v(x') in the analytic signal, h being the
 * response of the window in the spectrum. |h|^2 is taken for a Gaussian of the same integral (the
 * noise bandwidth) and the same second moment, which is exact where the variance is even.
 */
#ifndef FOURIER_SIGMA_H
#define FOURIER_SIGMA_H

#include "fourier_filter.h"
#include "fringe/phase_noise.h"

struct run;

/* The standard deviation of |h|^2 along an axis, in pixels. */
double fourier_sigma_reach(const struct fourier_filter *);
/*
 * The variance of the component of the analytic signal across its phase, in rows of the image, in
 * memory of its own; *variance is freed by the caller. The noise is that of the samples in grey
 * levels; lines: they run along x, or, down, along y. -1 after fail().
 */
int fourier_sigma_make(struct run *, const struct fourier_source *, struct phase_noise_model,
    const struct fourier_filter *, double noise_bandwidth, bool down, float **variance);

#endif
