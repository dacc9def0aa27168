/*
 * The camera's noise, for the standard deviations of --sigma: as given by options, found in what
 * the fit leaves of a measurement, or found in pairs of images of the same scene, --fit-noise
 * (photon transfer). The loops over pixels are in survey_rows.c.
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

#define PIXELS_MOST 40000	/* that are used; they lie on a grid */

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
	struct noise_pixel three[3] = { { 0 } };
	struct phase_shift_weights *weights;
	bool *use;
	int status = 0;

	for (size_t k = 0; k < captures->fringes; k++)
		most = captures->fringe[k].n > most ? captures->fringe[k].n : most;
	use = must_alloc(most, sizeof(*use));
	weights = must_alloc(most, sizeof(*weights));
	/* odd: an even one meets one colour of a sensor's filters alone, whose noise differs */
	step = (size_t)ceil(sqrt((double)w * (double)h * (double)sets / PIXELS_MOST)) | 1;
	sample = calloc((w / step + 1) * (h / step + 1) * sets, sizeof(*sample));
	if (!sample)
		status = fail_memory();
	for (size_t k = 0; k < 3; k++)
		three[k].left = must_alloc(most, sizeof(*three[k].left));
	for (size_t i = 0; i < sets && status == 0; i++) {
		size_t e = i / captures->fringes, k = i % captures->fringes;
		struct noise_set set = { wrap, exposure_fringe(wrap, e, k), &wrap->fit[k],
			wrap->exposures.gain[e], use, 0, weights };

		if (set.fringe->n > 3)
			n += survey_rows()->noise_of_set(&set, in, step, three, sample + n);
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
