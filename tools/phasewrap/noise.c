/*
 * The camera's noise, for the standard deviations of --sigma: as given by options, or found in what
 * the fit leaves of a measurement. camnoise finds it in pairs of images.
 */
#include "phasewrap.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/process.h"

/* ---- options and planning ---- */

/* Has one of the fringe sets more images than unknowns? */
static bool
leaves_residual(const struct capture_set *captures)
{
	for (size_t k = 0; k < captures->fringes; k++)
		if (captures->fringe[k].n > 3)
			return true;
	return false;
}

void
phase_sigma_set_terms(struct phasewrap *wrap)
{
	size_t n = 0;

	for (size_t k = 0; k < wrap->captures.fringes; k++)
		if (wrap->halves)
			for (size_t h = 0; h < 2; h++)
				wrap->terms[n++] = phase_noise_terms(&wrap->halves[k].fit[h]);
		else
			wrap->terms[n++] = phase_noise_terms(&wrap->fit[k]);
}

int
noise_plan(const struct noise_options *options, const struct frame_head *in,
    struct phasewrap *wrap, bool *search)
{
	const struct capture_set *captures = &wrap->captures;
	double quantisation;

	wrap->sigmas = options->sigma;
	*search = noise_unknown(options);
	if (!options->sigma)
		return 0;
	if (captures->fringes == 0)
		return fail("--sigma", "there are no fringe images, a Gray code has no phase");
	if (*search && !leaves_residual(captures))
		return fail("--sigma", "the fit of three images leaves nothing to find the noise "
		    "from: give --read-noise LEVELS and --gain LEVELS/e (camnoise finds them)");
	if (noise_quantisation(options->quantum, in, !*search, &quantisation) < 0)
		return -1;
	wrap->terms = must_alloc(2 * captures->fringes, sizeof(*wrap->terms));
	phase_sigma_set_terms(wrap);
	wrap->noise = (struct phase_noise_model){ .least = (float)quantisation };
	return *search ? 0 : noise_given(options, quantisation, (double)wrap->limits.max_value,
	    &wrap->noise);
}

/*
 * ---- from what the fit leaves of a measurement ----
 *
 * Harmonics leave something too. But divided by the amplitude it hardly changes across the
 * direction in which the phase varies, so that the second difference of the residuals of three
 * neighbours in that direction, scaled to the amplitude of the middle one, is noise. Its mean
 * square, over the sum of the squares of their weights (six where the amplitudes are the same) and
 * over the degrees of freedom, is the variance at the level of the images with the same weights.
 */

#define SAMPLED_PIXELS 40000	/* at most, on a grid */
#define AMPLITUDE_RATIO_MOST 1e3	/* of two neighbours */

/* One of three neighbours. */
struct noise_pixel {
	double *left;		/* the sample of each image, then what the fit leaves of it */
	double level, amplitude;
};

/* A fringe set of one exposure, for the noise of its images. */
struct noise_set {
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
fit_used(struct noise_set *set)
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

/* Reads the pixel at (x, y) and its two neighbours, and sets which images count in them. False: too
 * few. */
static bool
read_pixels(struct noise_set *set, const struct frame *in, size_t x, size_t y,
    struct noise_pixel three[3])
{
	const struct capture_fringe *fringe = set->fringe;
	bool down = fringe->axis == 'x';

	set->used = 0;
	for (size_t i = 0; i < fringe->n; i++) {
		set->use[i] = true;
		for (size_t k = 0; k < 3; k++) {
			float v = frame_sample(in, fringe->plane[i], down ? y + k - 1 : y,
			    down ? x : x + k - 1);

			three[k].left[i] = (double)v;
			set->use[i] &= v < set->wrap->limits.max_value;
		}
		set->used += set->use[i];
	}
	if (set->used == fringe->n) {
		for (size_t i = 0; i < fringe->n; i++)
			set->weights[i] = set->fit->weights[i];
		return true;
	}
	return set->wrap->exposures.solves && set->used > 3 && fit_used(set);
}

/* Fits a pixel. False where a sample is missing or clipped, or there are no fringes. */
static bool
fit_pixel(const struct noise_set *set, bool integer, struct noise_pixel *pixel)
{
	const struct measurement_limits *limits = &set->wrap->limits;
	const struct capture_fringe *fringe = set->fringe;
	const struct phase_shift_fit *fit = set->fit;
	const struct phase_shift_weights *weights = set->weights;
	double first = pixel->left[0], rise = 0, c = 0, s = 0;
	double seen = 0;	/* the sum of the images that count */

	for (size_t i = 0; i < fringe->n; i++) {
		double v = pixel->left[i], d = v - first;

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

/* The variance at the pixel at (x, y), from it and its neighbours on both sides. False where one of
 * them is of no use. */
static bool
measure(struct noise_set *set, const struct frame *in, size_t x, size_t y,
    struct noise_pixel three[3], struct phase_noise_sample *sample)
{
	const struct capture_fringe *fringe = set->fringe;
	double squares = 0, weights = 0, levels = 0, share[3];

	if (!read_pixels(set, in, x, y, three))
		return false;
	for (size_t k = 0; k < 3; k++)
		if (!fit_pixel(set, in->head.type != SAMPLE_FLOAT, &three[k]))
			return false;
	for (size_t k = 0; k < 3; k++) {
		share[k] = k == 1 ? -2 : fmin(three[1].amplitude / three[k].amplitude,
		    AMPLITUDE_RATIO_MOST);
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

int
noise_find(const struct frame *in, struct phasewrap *wrap)
{
	const struct capture_set *captures = &wrap->captures;
	struct phase_noise_model *noise = &wrap->noise;
	size_t w = in->head.w, h = in->head.h, most = 0, n = 0, step;
	size_t sets = captures->fringes * wrap->exposures.n;
	struct phase_noise_sample *sample;
	struct noise_pixel three[3] = { { 0 } };
	struct phase_shift_weights *weights;
	bool *use;
	int status = 0;

	for (size_t k = 0; k < captures->fringes; k++)
		most = captures->fringe[k].n > most ? captures->fringe[k].n : most;
	use = must_alloc(most, sizeof(*use));
	weights = must_alloc(most, sizeof(*weights));
	/* odd: an even one meets one colour of a sensor's filters alone, whose noise differs */
	step = (size_t)ceil(sqrt((double)w * (double)h * (double)sets / SAMPLED_PIXELS)) | 1;
	sample = calloc((w / step + 1) * (h / step + 1) * sets, sizeof(*sample));
	if (!sample)
		status = fail_memory();
	for (size_t k = 0; k < 3; k++)
		three[k].left = must_alloc(most, sizeof(*three[k].left));
	for (size_t i = 0; i < sets && status == 0; i++) {
		size_t e = i / captures->fringes, k = i % captures->fringes;
		struct noise_set set = { wrap, exposure_fringe(wrap, e, k), &wrap->fit[k],
			wrap->exposures.gain[e], use, 0, weights };

		for (size_t y = 1 + step / 2; set.fringe->n > 3 && y + 1 < h; y += step)
			for (size_t x = 1 + step / 2; x + 1 < w; x += step)
				n += measure(&set, in, x, y, three, &sample[n]);
	}
	if (status == 0)
		status = phase_noise_fit(sample, n, noise->least, noise);
	if (status == 0 && !(noise->variance > 0) && !(noise->gain > 0) && !(noise->least > 0))
		status = fail(NULL, "the images have no noise: the fit leaves nothing of them");
	for (size_t k = 0; k < 3; k++)
		free(three[k].left);
	free(sample);
	free(weights);
	free(use);
	return status;
}
