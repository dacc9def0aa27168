/*
 * What a camera's noise is, and how it is found: photon transfer, the line variance = variance at
 * level 0 + gain x level through pooled measurements (EMVA 1288).
 */
#ifndef PHASE_NOISE_H
#define PHASE_NOISE_H

#include <stddef.h>

#include "fringe/phase_noise.px.h"
#include "fringe/phase_steps.h"

/* Of a sample of level I, in grey levels squared: variance + gain I, at least `least`. All include
 * the camera's quantisation. */
struct phase_noise_model {
	float variance, gain, least;
};

/* One measurement of a variance, unbiased, at a level; of several degrees of freedom or of one. */
struct phase_noise_sample {
	float level, variance;
};

/* The standard deviation of rounding to multiples of `quantum`, squared. */
double phase_noise_quantisation(double quantum);
/* The sums over the images of a fit. */
struct phase_noise_terms phase_noise_terms(const struct phase_shift_fit *);
/*
 * The line through n samples, which are sorted by level; outliers do not count. `least` as in the
 * model. The line falls nowhere: where it would, it is level. -1 after fail() where there are fewer
 * than PHASE_NOISE_SAMPLES_LEAST.
 */
#define PHASE_NOISE_SAMPLES_LEAST 256
int phase_noise_fit(struct phase_noise_sample *, size_t n, double least,
    struct phase_noise_model *out);

#endif
