/*
 * The camera's noise out of what the fit leaves of a measurement. Harmonics leave something too,
 * but over the amplitude they hardly change across the direction in which the phase varies, so that
 * the second difference of the residuals of three neighbours in that direction, each in the
 * amplitude of the middle one, is noise. Its mean square, over the sum of the squares of their
 * weights (six where the amplitudes are the same) and over the degrees of freedom, is the variance
 * at the level of the images with the same weights.
 */
#include "noise.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"

#define PIXELS_MOST 40000	/* that are taken; they lie on a grid */
#define RATIO_MOST 1e3		/* of two amplitudes */

struct pixel {
	double *left;		/* what the fit leaves of each image */
	double level, amplitude;
};

/* A fringe set of one exposure. */
struct exposed {
	const struct phasewrap *wrap;
	const struct capture_fringe *fringe;
	const struct phase_shift_fit *fit;
	float gain;		/* of the exposure's light: the limits are the longest one's */
	/* of the three neighbours: the images that count, none of which is saturated in any, their
	 * number, and the weights of their fit, mean that of N A as in the fit of all */
	bool *use;
	size_t used;
	struct phase_shift_weights *weights;
};

/* Least squares of A, B cos phi and B sin phi from the images that count. False: they determine
 * none. */
static bool
fit_used(struct exposed *set)
{
	double m[3][3] = { { 0 } }, inverse[3][3], determinant = 0;

	for (size_t i = 0; i < set->fringe->n; i++) {
		const double x[3] = { 1, set->fit->model[i].cosine, set->fit->model[i].sine };

		for (size_t a = 0; a < 3 && set->use[i]; a++)
			for (size_t b = 0; b < 3; b++)
				m[a][b] += x[a] * x[b];
	}
	for (size_t a = 0; a < 3; a++)
		for (size_t b = 0; b < 3; b++) {
			size_t p = (a + 1) % 3, q = (a + 2) % 3, r = (b + 1) % 3, s = (b + 2) % 3;

			inverse[b][a] = m[p][r] * m[q][s] - m[p][s] * m[q][r];
		}
	for (size_t a = 0; a < 3; a++)
		determinant += m[0][a] * inverse[a][0];
	for (size_t i = 0; i < set->fringe->n; i++) {
		const double x[3] = { 1, set->fit->model[i].cosine, set->fit->model[i].sine };
		double v[3] = { 0 };

		for (size_t a = 0; a < 3 && set->use[i]; a++)
			for (size_t b = 0; b < 3; b++)
				v[a] += inverse[a][b] * x[b] / determinant;
		set->weights[i] = (struct phase_shift_weights){
			.mean = (float)(v[0] * (double)set->fringe->n), .c = (float)v[1],
			.s = (float)v[2] };
	}
	return determinant > 1e-3 * pow((double)set->used, 3);
}

/* Which images count in the pixel at (x, y) and its two neighbours. False: too few. */
static bool
choose_images(struct exposed *set, const struct frame *in, size_t x, size_t y, bool down)
{
	const struct capture_fringe *fringe = set->fringe;

	set->used = 0;
	for (size_t i = 0; i < fringe->n; i++) {
		set->use[i] = true;
		for (size_t k = 0; k < 3; k++)
			set->use[i] &= frame_sample(in, fringe->plane[i], down ? y + k - 1 : y,
			    down ? x : x + k - 1) < set->wrap->limits.max_value;
		set->used += set->use[i];
	}
	if (set->used == fringe->n) {
		for (size_t i = 0; i < fringe->n; i++)
			set->weights[i] = set->fit->weights[i];
		return true;
	}
	return set->wrap->exposures.solves && set->used > 3 && fit_used(set);
}

/* False where a sample is missing or clipped, or there are no fringes. */
static bool
read_pixel(const struct exposed *set, const struct frame *in, size_t x, size_t y,
    struct pixel *pixel)
{
	const struct phasewrap_limits *limits = &set->wrap->limits;
	const struct capture_fringe *fringe = set->fringe;
	const struct phase_shift_fit *fit = set->fit;
	const struct phase_shift_weights *weights = set->weights;
	double first = (double)frame_sample(in, fringe->plane[0], y, x), rise = 0, c = 0, s = 0;
	double seen = 0;	/* the sum of the images that count */
	bool integer = in->head.type != SAMPLE_FLOAT;

	for (size_t i = 0; i < fringe->n; i++) {
		double v = (double)frame_sample(in, fringe->plane[i], y, x), d = v - first;

		if (!(fabs(v) < 1e30) || (integer && v == 0))
			return false;
		pixel->left[i] = d;
		seen += set->use[i] ? v : 0;
		rise += d * weights[i].mean / (double)fringe->n;
		c += d * weights[i].c;
		s += d * weights[i].s;
	}
	for (size_t i = 0; i < fringe->n; i++)
		pixel->left[i] = set->use[i] ? pixel->left[i] - rise -
		    c * fit->model[i].cosine - s * fit->model[i].sine : 0;
	pixel->level = set->used == fringe->n ? first + rise : seen / (double)set->used;
	pixel->amplitude = hypot(c, s);
	return pixel->amplitude > 0 && pixel->amplitude >= limits->least_amplitude * set->gain &&
	    first + rise >= limits->least_mean * set->gain;
}

/* Of the pixel at (x, y) and its neighbours on both sides. False where one of them is of no use. */
static bool
measure(struct exposed *set, const struct frame *in, size_t x, size_t y,
    struct pixel three[3], struct phase_noise_sample *sample)
{
	const struct capture_fringe *fringe = set->fringe;
	bool down = fringe->axis == 'x';
	double squares = 0, weights = 0, levels = 0, share[3];

	if (!choose_images(set, in, x, y, down))
		return false;
	for (size_t k = 0; k < 3; k++)
		if (!read_pixel(set, in, down ? x : x + k - 1, down ? y + k - 1 : y,
		    &three[k]))
			return false;
	for (size_t k = 0; k < 3; k++) {
		share[k] = k == 1 ? -2 : fmin(three[1].amplitude / three[k].amplitude, RATIO_MOST);
		weights += share[k] * share[k];
		levels += share[k] * share[k] * three[k].level;
	}
	for (size_t i = 0; i < fringe->n; i++) {
		double d = share[0] * three[0].left[i] + share[1] * three[1].left[i] +
		    share[2] * three[2].left[i];

		squares += d * d;
	}
	sample->level = (float)(levels / weights);
	sample->variance = (float)(squares / weights / (double)(set->used - 3));
	return true;
}

static size_t
measure_set(struct exposed *set, const struct frame *in, size_t step,
    struct pixel three[3], struct phase_noise_sample *sample)
{
	size_t n = 0;

	for (size_t y = 1 + step / 2; y + 1 < in->head.h; y += step)
		for (size_t x = 1 + step / 2; x + 1 < in->head.w; x += step)
			n += measure(set, in, x, y, three, &sample[n]);
	return n;
}

static int
fit_noise(struct phase_noise_sample *sample, size_t n, struct phasewrap *wrap)
{
	struct phase_noise_model *noise = &wrap->noise;

	if (phase_noise_fit(sample, n, noise->least, noise) < 0)
		return -1;
	if (!(noise->variance > 0) && !(noise->gain > 0) && !(noise->least > 0))
		return fail(NULL, "the images have no noise: the fit leaves nothing of them");
	return 0;
}

int
noise_find(const struct frame *in, struct phasewrap *wrap)
{
	const struct capture_set *captures = &wrap->captures;
	size_t w = in->head.w, h = in->head.h, most = 0, n = 0, step;
	size_t sets = captures->fringes * wrap->exposures.n;
	struct phase_noise_sample *sample;
	struct pixel three[3] = { { 0 } };
	struct phase_shift_weights *weights;
	bool *use;
	int status = 0;

	for (size_t k = 0; k < captures->fringes; k++)
		most = captures->fringe[k].n > most ? captures->fringe[k].n : most;
	use = calloc(most, sizeof(*use));
	weights = calloc(most, sizeof(*weights));
	/* odd: an even one meets one colour of a sensor's filters alone, whose noise differs */
	step = (size_t)ceil(sqrt((double)w * (double)h * (double)sets / PIXELS_MOST)) | 1;
	sample = calloc((w / step + 1) * (h / step + 1) * sets, sizeof(*sample));
	for (size_t k = 0; k < 3; k++) {
		three[k].left = calloc(most, sizeof(*three[k].left));
		if (!three[k].left || !sample || !use || !weights)
			status = fail_memory();
	}
	for (size_t i = 0; i < sets && status == 0; i++) {
		size_t e = i / captures->fringes, k = i % captures->fringes;
		struct exposed set = { wrap,
			&exposures_get(&wrap->exposures, captures, e)->fringe[k], &wrap->fit[k],
			wrap->exposures.gain[e], use, 0, weights };

		if (set.fringe->n > 3)
			n += measure_set(&set, in, step, three, sample + n);
	}
	if (status == 0)
		status = fit_noise(sample, n, wrap);
	for (size_t k = 0; k < 3; k++)
		free(three[k].left);
	free(sample);
	free(weights);
	free(use);
	return status;
}
