/*
 * The camera's noise, for the standard deviations of --sigma: as given by options, found in what
 * the fit leaves of a measurement, or found in pairs of images of the same scene, --fit-noise
 * (photon transfer). The loops over pixels are in survey_rows.c.
 */
#include "phasewrap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "io/safe_file.h"

/* ---- options and planning ---- */

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

	if (options->sigma && options->fit_noise)
		return fail_usage(NULL, "give --sigma or --fit-noise, not both");
	if (alone && !options->sigma)
		return fail_usage(alone, "is for --sigma");
	if (!isnan(options->black_level) && isnan(options->gain) && !options->fit_noise)
		return fail_usage("--black-level", "is for --gain and --fit-noise");
	if (!isnan(options->quantum) && !options->sigma && !options->fit_noise)
		return fail_usage("--quantum", "is for --sigma and --fit-noise");
	return 0;
}

/* The variance of quantisation of images of this head. Floats do not say what they were rounded to:
 * that is an error if the variance is needed, and taken as none if not. -1 after fail(). */
static int
noise_quantisation(const struct noise_options *options, const struct frame_head *in, bool needed,
    double *variance)
{
	double quantum = isnan(options->quantum) ? 1 : options->quantum;

	if (meta_get(&in->meta, "sample_scale"))
		return fail(NULL, "the images are scaled (key sample_scale), noise is in the "
		    "camera's own levels: framecat --unscale undoes that");
	if (in->type == SAMPLE_FLOAT && isnan(options->quantum)) {
		if (needed)
			return fail(NULL, "images of float do not say what they were rounded to: "
			    "give --quantum LEVELS, 0 for none");
		quantum = 0;
	}
	*variance = phase_noise_quantisation(quantum);
	return 0;
}

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

static int
set_given(const struct noise_options *options, double quantisation, struct phasewrap *wrap)
{
	double read_noise = isnan(options->read_noise) ? 0 : options->read_noise;
	double gain = isnan(options->gain) ? 0 : options->gain;
	double black = isnan(options->black_level) ? 0 : options->black_level;
	double least = read_noise * read_noise + quantisation;

	if (black >= (double)wrap->limits.max_value)
		return fail("--black-level", "%g is no less than the largest level, %g", black,
		    (double)wrap->limits.max_value);
	if (!((float)least > 0) && !((float)gain > 0))
		return fail(NULL, "no noise at all: give --read-noise, --gain or --quantum above "
		    "0");
	wrap->noise = (struct phase_noise_model){ (float)(least - gain * black), (float)gain,
		(float)least };
	return 0;
}

int
noise_plan(const struct noise_options *options, const struct frame_head *in,
    struct phasewrap *wrap, bool *search)
{
	const struct capture_set *captures = &wrap->captures;
	double quantisation = 0;

	wrap->sigmas = options->sigma;
	*search = noise_unknown(options);
	if (!options->sigma)
		return 0;
	if (captures->fringes == 0)
		return fail("--sigma", "there are no fringe images, a Gray code has no phase");
	if (*search && !wrap->fit)
		return fail("--sigma", "one image does not tell its noise: give --read-noise "
		    "LEVELS and --gain LEVELS/e (--fit-noise finds them)");
	if (*search && !leaves_residual(captures))
		return fail("--sigma", "the fit of three images leaves nothing to find the noise "
		    "from: give --read-noise LEVELS and --gain LEVELS/e (--fit-noise finds them)");
	if (noise_quantisation(options, in, !*search, &quantisation) < 0)
		return -1;
	if (wrap->fit) {
		wrap->terms = calloc(2 * captures->fringes, sizeof(*wrap->terms));
		if (!wrap->terms)
			return fail_memory();
		phase_sigma_set_terms(wrap);
	}
	wrap->noise = (struct phase_noise_model){ .least = (float)quantisation };
	return *search ? 0 : set_given(options, quantisation, wrap);
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

/*
 * ---- from pairs of images: photon transfer ----
 *
 * Half the mean square of the difference of two images of the same scene is the variance of one, at
 * the mean of their levels.
 */

#define PAIR_PIXELS_MOST 200000	/* of a pair that are used; they lie on a grid */
#define BRIGHTER_MOST 1.2	/* the variance is within 2 % then */
#define ALIKE_MOST 0.6		/* correlation of the noise of neighbours; demosaicking makes 0.5 */

/* Adds the variances of a pair. */
static int
measure(const struct noise_pair *pair, struct noise_pairs *pairs)
{
	const struct frame_head *head = &pair->first->head;
	size_t most = (head->w / pair->step + 1) * (head->h / pair->step + 1);
	struct phase_noise_sample *more =
	    reallocarray(pairs->sample, pairs->n + most, sizeof(*more));
	double factor = survey_rows()->pair_ratio(pair), product, squares;

	if (!more)
		return fail_memory();
	pairs->sample = more;
	if (!(factor > 1 / BRIGHTER_MOST && factor < BRIGHTER_MOST))
		return fail("--fit-noise", "image %zu is %.3g times as bright as image %zu: wanted "
		    "are two of the same light and exposure", pairs->images, factor,
		    pairs->images - 1);
	survey_rows()->pair_neighbours(pair, factor, &product, &squares);
	if (product > ALIKE_MOST * squares)
		return fail("--fit-noise", "images %zu and %zu do not show the same: where they "
		    "differ, neighbours differ alike", pairs->images - 1, pairs->images);
	pairs->n += survey_rows()->pair_samples(pair, factor, more + pairs->n);
	return 0;
}

static int
measure_planes(const struct noise_options *options, const struct frame *first, size_t first_plane,
    const struct frame *second, size_t second_plane, struct noise_pairs *pairs)
{
	const struct frame_head *head = &first->head;
	struct noise_pair pair = { first, second, first_plane, second_plane, 1,
		isnan(options->black_level) ? 0 : options->black_level,
		limits_usual_most(head->type) };

	if (head->w != second->head.w || head->h != second->head.h ||
	    head->type != second->head.type)
		return fail("--fit-noise", "image %zu is not of the size and type of image %zu",
		    pairs->images, pairs->images - 1);
	if (meta_number(&head->meta, "max_value", pair.most, &pair.most) < 0)
		return -1;
	if (!isnan(options->max_value))
		pair.most = options->max_value;
	/* odd, as in noise_find() */
	pair.step = (size_t)ceil(sqrt((double)head->w * (double)head->h / PAIR_PIXELS_MOST)) | 1;
	return measure(&pair, pairs);
}

int
noise_pairs_add(const struct noise_options *options, struct frame *in, struct noise_pairs *pairs)
{
	size_t c = 0;
	int status = noise_quantisation(options, &in->head, true, &pairs->quantisation);

	if (status == 0 && in->head.c > 1 && pairs->first)
		status = fail("--fit-noise", "wants images two by two, not %zu behind an odd one",
		    in->head.c);
	for (; c + 1 < in->head.c && status == 0; c += 2) {
		pairs->images += 2;
		status = measure_planes(options, in, c, in, c + 1, pairs);
	}
	if (c < in->head.c && status == 0) {
		pairs->images++;
		if (in->head.c > 1)
			status = fail("--fit-noise", "wants images two by two, not %zu",
			    in->head.c);
		else if (pairs->first)
			status = measure_planes(options, pairs->first, 0, in, 0, pairs);
	}
	if (status < 0 || in->head.c > 1 || pairs->first) {
		frame_free(pairs->first);
		frame_free(in);
		pairs->first = NULL;
	} else {
		pairs->first = in;
	}
	return status;
}

int
noise_pairs_print(const struct noise_options *options, struct noise_pairs *pairs, const char *path)
{
	double black = isnan(options->black_level) ? 0 : options->black_level, read_noise;
	struct phase_noise_model noise;
	struct safe_file *temporary = NULL;
	FILE *file = stdout;
	int n;

	if (pairs->images < 2 || pairs->first)
		return fail("--fit-noise", "wants images of a scene two by two, got %zu",
		    pairs->images);
	if (phase_noise_fit(pairs->sample, pairs->n, pairs->quantisation, &noise) < 0)
		return -1;
	if (!(noise.gain > 0))
		return fail("--fit-noise", "the variance does not grow with the level: take images "
		    "that are dark and bright in parts, or pairs of several exposures");
	read_noise = sqrt(fmax(noise.variance + noise.gain * black - pairs->quantisation, 0));
	if (path && strcmp(path, "-")) {
		file = safe_file_open(path, &temporary);
		if (!file)
			return -1;
	}
	n = fprintf(file, "--read-noise=%.5g --gain=%.5g", read_noise, (double)noise.gain);
	if (n > 0 && black != 0)
		n = fprintf(file, " --black-level=%.9g", black);
	if (n > 0)
		n = fprintf(file, "\n");
	if (file != stdout)
		return safe_file_close(file, path, temporary, n > 0);
	return n > 0 ? 0 : fail_errno("standard output", "could not be written");
}

void
noise_pairs_free(struct noise_pairs *pairs)
{
	frame_free(pairs->first);
	free(pairs->sample);
	*pairs = (struct noise_pairs){ 0 };
}
