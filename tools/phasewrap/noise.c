#include "noise.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "phase_sigma.h"

static bool
is_given(const struct noise_options *options)
{
	return !isnan(options->read_noise) || !isnan(options->gain);
}

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

/* Floats do not say what they were rounded to. */
int
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
	*search = options->sigma && !is_given(options);
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
