/*
 * The camera's noise out of what the fit leaves of a measurement. Harmonics leave something too,
 * but they hardly change across the direction in which the phase varies, so that the second
 * difference of the residuals of three neighbours in that direction is noise. Its mean square, over
 * six and over the degrees of freedom, is the variance at the mean level of the images.
 */
#include "noise.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"

#define PIXELS_MOST 40000	/* that are taken; they lie on a grid */

struct pixel {
	double *left;		/* what the fit leaves of each image */
	double level;
};

/* False where a sample is missing or clipped, or there are no fringes. */
static bool
read_pixel(const struct phasewrap *wrap, size_t set, const struct frame *in, size_t x, size_t y,
    struct pixel *pixel)
{
	const struct capture_fringe *fringe = &wrap->captures.fringe[set];
	const struct phase_shift_fit *fit = &wrap->fit[set];
	double first = (double)frame_sample(in, fringe->plane[0], y, x), rise = 0, c = 0, s = 0;
	bool integer = in->head.type != SAMPLE_FLOAT;

	for (size_t i = 0; i < fringe->n; i++) {
		double v = (double)frame_sample(in, fringe->plane[i], y, x), d = v - first;

		if (!(fabs(v) < 1e30) || v >= wrap->limits.max_value || (integer && v == 0))
			return false;
		pixel->left[i] = d;
		rise += d * fit->weights[i].mean / (double)fringe->n;
		c += d * fit->weights[i].c;
		s += d * fit->weights[i].s;
	}
	for (size_t i = 0; i < fringe->n; i++)
		pixel->left[i] -= rise + c * fit->model[i].cosine + s * fit->model[i].sine;
	pixel->level = first + rise;
	return hypot(c, s) >= wrap->limits.least_amplitude &&
	    pixel->level >= wrap->limits.least_mean;
}

/* Of the pixel at (x, y) and its neighbours on both sides. False where one of them is of no use. */
static bool
measure(const struct phasewrap *wrap, size_t set, const struct frame *in, size_t x, size_t y,
    struct pixel three[3], struct phase_noise_sample *sample)
{
	const struct capture_fringe *fringe = &wrap->captures.fringe[set];
	bool down = fringe->axis == 'x';
	double squares = 0;

	for (size_t k = 0; k < 3; k++)
		if (!read_pixel(wrap, set, in, down ? x : x + k - 1, down ? y + k - 1 : y,
		    &three[k]))
			return false;
	for (size_t i = 0; i < fringe->n; i++) {
		double d = three[0].left[i] - 2 * three[1].left[i] + three[2].left[i];

		squares += d * d;
	}
	sample->level = (float)((three[0].level + 4 * three[1].level + three[2].level) / 6);
	sample->variance = (float)(squares / 6 / (double)(fringe->n - 3));
	return true;
}

static size_t
measure_set(const struct phasewrap *wrap, size_t set, const struct frame *in, size_t step,
    struct pixel three[3], struct phase_noise_sample *sample)
{
	size_t n = 0;

	for (size_t y = 1 + step / 2; y + 1 < in->head.h; y += step)
		for (size_t x = 1 + step / 2; x + 1 < in->head.w; x += step)
			n += measure(wrap, set, in, x, y, three, &sample[n]);
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
	struct phase_noise_sample *sample;
	struct pixel three[3] = { { 0 } };
	int status = 0;

	for (size_t k = 0; k < captures->fringes; k++)
		most = captures->fringe[k].n > most ? captures->fringe[k].n : most;
	step = (size_t)ceil(sqrt((double)w * (double)h * (double)captures->fringes / PIXELS_MOST));
	sample = calloc((w / step + 1) * (h / step + 1) * captures->fringes, sizeof(*sample));
	for (size_t k = 0; k < 3; k++) {
		three[k].left = calloc(most, sizeof(*three[k].left));
		if (!three[k].left || !sample)
			status = fail_memory();
	}
	for (size_t k = 0; k < captures->fringes && status == 0; k++)
		if (captures->fringe[k].n > 3)
			n += measure_set(wrap, k, in, step, three, sample + n);
	if (status == 0)
		status = fit_noise(sample, n, wrap);
	for (size_t k = 0; k < 3; k++)
		free(three[k].left);
	free(sample);
	return status;
}
