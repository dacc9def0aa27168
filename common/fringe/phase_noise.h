/*
 * What a camera's noise is, and how it is found: photon transfer, the line variance = variance at
 * level 0 + gain x level through pooled measurements (EMVA 1288).
 */
#pragma once

#include "base/opt.h"
#include "frame/frame.h"
#include "fringe/phase_noise.px.h"
#include "fringe/phase_steps.h"

/* Of a sample of level I, in grey levels squared: variance + gain I, at least `least`. All include
 * the camera's quantisation. */
struct phase_noise_model {
	float variance, gain, least;
};

/* One measurement of a variance, unbiased, at a level; of several degrees of freedom or of one. */
struct phase_noise_sample {
	float level, variance;		/* the level first, to sort by it */
};

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

/* ---- options of stages that write standard deviations of phases ---- */

struct noise_options {
	bool sigma;
	double read_noise, gain, black_level, quantum;	/* NaN: not given */
};

/* clang-format off */
#define NOISE_OPTIONS(type, member) \
	{ 0, "sigma", NULL, OPT_FLAG, offsetof(type, member.sigma), NULL, 0, 0, NULL, \
	  "add channel sigma of every phase: its standard deviation in rad", NULL }, \
	{ 0, "read-noise", "LEVELS", OPT_NUMBER, offsetof(type, member.read_noise), NULL, 0, 1e6, \
	  "grey levels", "for --sigma: the camera's noise without light, standard deviation", \
	  NULL }, \
	{ 0, "gain", "LEVELS/E", OPT_NUMBER, offsetof(type, member.gain), NULL, 0, 1e6, \
	  "grey levels", "for --sigma: what an electron counts; the variance of light is so many " \
	  "times its level", NULL }, \
	{ 0, "black-level", "LEVELS", OPT_NUMBER, offsetof(type, member.black_level), NULL, -1e6, \
	  1e6, "grey levels", "level of an image without light; if not given 0", NULL }, \
	{ 0, "quantum", "LEVELS", OPT_NUMBER, offsetof(type, member.quantum), NULL, 0, 1e6, \
	  "grey levels", \
	  "what the camera rounds to a multiple of; if not given 1, and unknown for float", NULL }
/* clang-format on */

/* Is --sigma asked for, and the noise to be found in the images? */
bool noise_unknown(const struct noise_options *);
/* Options that are of no use alone. -1 after fail_usage(). */
int noise_check(const struct noise_options *);
/* The variance of quantisation of images of this head. Floats do not say what they were rounded to:
 * that is an error if the variance is needed, and taken as none if not. -1 after fail(). */
int noise_quantisation(double quantum, const struct frame_head *, bool needed, double *variance);
/* The noise that is given. max_value: the largest level. -1 after fail(). */
int noise_given(const struct noise_options *, double quantisation, double max_value,
    struct phase_noise_model *);
