/*
 * A camera's noise by photon transfer (EMVA 1288): the line variance = variance at level 0 + gain x
 * level through pooled measurements.
 */
#include "fringe/phase_noise.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"

#define BINS 32
#define MIN_BIN_SAMPLES 64		/* samples in a bin */
/* A sample of this many times the mean of its bin is no noise (an edge, a hot pixel, motion): of
 * one degree of freedom 1 in 2000 is larger, which takes 0.7 % off the variance. */
#define OUTLIER_FACTOR 12
/* Levels that scatter by less of their mean, squared, tell no slope. */
#define MIN_SPREAD 0.0025

struct phase_noise_terms
phase_noise_terms(const struct phase_shift_fit *fit)
{
	double sum[9] = { 0 };

	for (size_t i = 0; i < fit->n; i++) {
		double c = fit->weights[i].c, s = fit->weights[i].s;
		double product[3] = { s * s, s * c, c * c };

		for (size_t k = 0; k < 3; k++) {
			sum[k] += product[k];
			sum[3 + k] += product[k] * fit->model[i].cosine;
			sum[6 + k] += product[k] * fit->model[i].sine;
		}
	}
	return (struct phase_noise_terms){ (float)sum[0], (float)sum[1], (float)sum[2],
		(float)sum[3], (float)sum[4], (float)sum[5], (float)sum[6], (float)sum[7],
		(float)sum[8] };
}

/* Mean level and variance of samples, without outliers. */
static void
pool(const struct phase_noise_sample *sample, size_t n, double *level, double *variance)
{
	double most = INFINITY, last = NAN;

	for (int i = 0; i < 32 && most != last; i++) {
		double levels = 0, variances = 0;
		size_t taken = 0;

		for (size_t k = 0; k < n; k++)
			if (sample[k].variance <= most) {
				levels += sample[k].level;
				variances += sample[k].variance;
				taken++;
			}
		*level = levels / (double)taken;
		*variance = variances / (double)taken;
		last = most;
		most = OUTLIER_FACTOR * *variance;
	}
}

/* The line through the bins, each of which scatters by its own variance; from the line a + b level
 * to a better one. False where it is level. */
static bool
fit_line(const double *level, const double *variance, size_t bins, double least, double *a,
    double *b)
{
	double n = 0, x = 0, y = 0, xx = 0, xy = 0, determinant;	/* sums */

	for (size_t i = 0; i < bins; i++) {
		double expected = fmax(fmax(*a + *b * level[i], least), 1e-30);
		double weight = 1 / (expected * expected);

		n += weight;
		x += weight * level[i];
		y += weight * variance[i];
		xx += weight * level[i] * level[i];
		xy += weight * level[i] * variance[i];
	}
	determinant = n * xx - x * x;
	*b = determinant > MIN_SPREAD * n * xx ? (n * xy - x * y) / determinant : 0;
	*b = fmax(*b, 0);
	*a = (y - *b * x) / n;
	return *b > 0;
}

int
phase_noise_fit(struct phase_noise_sample *sample, size_t n, double least,
    struct phase_noise_model *out)
{
	double level[BINS], variance[BINS], a = 0, b = 0, mean = 0;
	size_t bins = n / MIN_BIN_SAMPLES < BINS ? n / MIN_BIN_SAMPLES : BINS;

	if (n < PHASE_NOISE_SAMPLES_LEAST)
		return fail(NULL, "the noise cannot be found: only %zu pixels are usable; give "
		    "--read-noise LEVELS and --gain LEVELS/e", n);
	qsort(sample, n, sizeof(*sample), numbers_compare);
	for (size_t i = 0; i < bins; i++) {
		size_t first = n * i / bins, end = n * (i + 1) / bins;

		pool(sample + first, end - first, &level[i], &variance[i]);
		mean += variance[i] / (double)bins;
	}
	a = mean;
	for (int i = 0; i < 4; i++)
		if (!fit_line(level, variance, bins, least, &a, &b))
			break;
	*out = (struct phase_noise_model){ (float)a, (float)b, (float)least };
	return 0;
}

/* ---- options ---- */

bool
noise_unknown(const struct noise_options *options)
{
	return options->sigma && isnan(options->read_noise) && isnan(options->gain);
}

int
noise_check(const struct noise_options *options)
{
	const char *alone = !isnan(options->read_noise) ? "--read-noise" :
	    !isnan(options->gain) ? "--gain" : NULL;

	if (alone && !options->sigma)
		return fail_usage(alone, "is for --sigma");
	if (!isnan(options->black_level) && isnan(options->gain))
		return fail_usage("--black-level", "is for --gain");
	return !isnan(options->quantum) && !options->sigma ?
	    fail_usage("--quantum", "is for --sigma") : 0;
}

int
noise_quantisation(double quantum, const struct frame_head *in, bool needed, double *variance)
{
	if (meta_get(&in->meta, "sample_scale"))
		return fail(NULL, "the images are scaled (key sample_scale), noise is in the "
		    "camera's own levels: framecat --unscale undoes that");
	if (in->type == SAMPLE_FLOAT && isnan(quantum) && needed)
		return fail(NULL, "images of float do not say what they were rounded to: give "
		    "--quantum LEVELS, 0 for none");
	if (isnan(quantum))
		quantum = in->type == SAMPLE_FLOAT ? 0 : 1;
	*variance = quantum * quantum / 12;
	return 0;
}

int
noise_given(const struct noise_options *options, double quantisation, double max_value,
    struct phase_noise_model *noise)
{
	double read_noise = isnan(options->read_noise) ? 0 : options->read_noise;
	double gain = isnan(options->gain) ? 0 : options->gain;
	double black = isnan(options->black_level) ? 0 : options->black_level;
	double least = read_noise * read_noise + quantisation;

	if (black >= max_value)
		return fail("--black-level", "%g is no less than the largest level, %g", black,
		    max_value);
	if (!((float)least > 0) && !((float)gain > 0))
		return fail(NULL, "no noise at all: give --read-noise, --gain or --quantum above "
		    "0");
	*noise = (struct phase_noise_model){ (float)(least - gain * black), (float)gain,
		(float)least };
	return 0;
}
