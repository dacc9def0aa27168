/* Wrapped phase, modulation and texture out of phase-shifted fringe images; index out of a Gray
 * code. */
#define _GNU_SOURCE
#include "checks/checks.h"
#include "double_three.h"
#include "exposure_fit.h"
#include "exposure_gains.h"
#include "flatness.h"
#include "fringe_counts.h"
#include "late_start.h"
#include "markers.h"
#include "options.h"
#include "phase_sigma.h"
#include "phasewrap_plan.h"
#include "run/passes.h"
#include "uneven_light.h"

#include <stdlib.h>
#include <string.h>

static void
rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	const struct priv *priv = run->priv;

	for (size_t y = y0; y < y1; y++) {
		if (priv->wrap.per_light)
			uneven_light_row(&priv->wrap, in, out, y, scratch->memory);
		else
			phasewrap_row(&priv->wrap, in, out, y);
		markers_copy_row(&priv->wrap, in, out, y);
		if (!priv->removed.off)
			removed_row(&priv->removed, &priv->wrap, in, out, y);
	}
}

static void
after(struct run *run)
{
	struct priv *priv = run->priv;

	if (!priv->noted && !priv->roles_known)
		late_start_note(&priv->wrap.captures);
	priv->noted = true;
	removed_report(&priv->removed);
}

/* Each frame anew: the camera may have begun anywhere in the cycle, and may have been set anew. */
static int
survey(struct run *run, const struct frame *in)
{
	struct priv *priv = run->priv;

	if (shift_search_run(&priv->shift_search, run, &priv->wrap, in) < 0 ||
	    exposure_gains_find(&priv->wrap, in) < 0)
		return -1;
	if (run->verbose && priv->wrap.exposures.n > 1)
		exposure_gains_note(&priv->wrap.exposures);
	for (size_t k = 0; k < priv->wrap.captures.fringes &&
	    priv->measurement.captures.flat == FLAT_AUTO; k++)
		if (priv->wrap.captures.fringe[k].two_plus_one &&
		    flatness_turn(run, in, priv->wrap.captures.fringe[k].plane) < 0)
			return -1;
	if (priv->wrap.sigmas && priv->shift_search.on)
		phase_sigma_set_terms(&priv->wrap);
	if (!priv->finds_noise)
		return 0;
	if (noise_find(in, &priv->wrap) < 0)
		return -1;
	if (run->verbose)
		note("--sigma", "variance of a sample: %.4g + %.4g level, at least %.4g",
		    (double)priv->wrap.noise.variance, (double)priv->wrap.noise.gain,
		    (double)priv->wrap.noise.least);
	return 0;
}

/* ---- planning ---- */

static int
gather(struct run *run, const struct frame_head *head, size_t *planes)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;
	const struct manifest *manifest = measurement_manifest(&priv->measurement);

	if (capture_set_count(&priv->measurement.captures, manifest, head, planes) < 0)
		return -1;
	exposures_count(&parameters->exposures, manifest, planes);
	return 0;
}

static int
arrives(struct run *run, const struct frame_head *head, const char *path, size_t have,
    size_t wanted, bool *begins)
{
	struct priv *priv = run->priv;

	priv->dropped.keeps_going = run_keeps_going(run);
	priv->dropped.measurement = run_inputs(run);
	return dropped_images_take(&priv->dropped, head, path, have, wanted, begins);
}

static int
passes(struct run *run, struct passes *passes)
{
	const struct priv *priv = run->priv;
	const struct phasewrap *wrap = &priv->wrap;

	if (wrap->sigmas && priv->shift_search.on)
		return passes_refuse(passes, "--sigma goes with shifts that stay as they are");
	if (wrap->per_light)
		return passes_refuse(passes, "light is even");
	if (wrap->correction_slopes)
		return passes_refuse(passes, "harmonics are the same all over the picture");
	if (wrap->captures.markers && (wrap->halves || exposure_fit_used(wrap)))
		return passes_refuse(passes, "markers go with fits of one exposure and set");
	if (wrap->halves)
		return double_three_passes(passes, wrap);
	return exposure_fit_used(wrap) ? exposure_passes(passes, wrap) :
	    phasewrap_passes(passes, wrap);
}

static const struct body body = { .gather = gather, .arrives = arrives, .rows = rows,
	.passes = passes };

static int
take_frame(struct run *run, struct frame *in)
{
	struct priv *priv = run->priv;

	return fourier_frame(run, &priv->wrap, &priv->fourier, in);
}

static const struct body fourier_body = { .gather = gather, .arrives = arrives, .frame = take_frame,
	.no_passes = "Fourier transforms are of whole images" };

/* ---- finding the noise: images two by two, text at the end ---- */

static int
add_pair(struct run *run, struct frame *in)
{
	const struct parameters *parameters = run->parameters;

	return noise_pairs_add(&parameters->noise, in, &((struct priv *)run->priv)->pairs);
}

static int
print_noise(struct run *run)
{
	const struct parameters *parameters = run->parameters;

	return noise_pairs_print(&parameters->noise, &((struct priv *)run->priv)->pairs,
	    run->output);
}

static const struct body pairs_body = { .frame = add_pair, .end = print_noise };

/* ---- before the first frame ---- */

static int
read_manifest(struct run *run, const char *path)
{
	struct priv *priv = run->priv;

	if (manifest_load(path, &priv->manifest) < 0)
		return -1;
	priv->measurement.manifest_read = true;
	priv->measurement.manifest = (struct manifest){ manifest_measurement(&priv->manifest),
		priv->manifest.row };
	return manifest_operands(&priv->manifest, path, run, &priv->file);
}

static int
init(struct run *run)
{
	struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	priv->shift_search.verbose = run->verbose;
	priv->body = body;
	priv->body.after = run->verbose ? after : NULL;
	run->body = &priv->body;
	if (noise_check(&parameters->noise) < 0)
		return -1;
	run->colour = COLOUR_GREY;
	parameters->captures.operands = run->position ? 0 : run->operands;
	priv->removed.off = !run->verbose;
	priv->dropped.how = (enum dropped_how)parameters->dropped;
	priv->dropped.described = !parameters->captures.order && !parameters->manifest &&
	    parameters->exposures.n <= 1;
	priv->dropped.rgb = parameters->captures.rgb;
	priv->dropped.verbose = run->verbose;
	if (parameters->channel >= 0)
		run->colour = COLOUR_RED + parameters->channel;
	if (parameters->captures.rgb)
		run->colour = COLOUR_PLANES;
	if (parameters->captures.rgb && parameters->channel >= 0)
		return fail_usage("--channel", "takes one colour, --rgb all three");
	parameters->noise.max_value = parameters->limits.max_value;
	if (parameters->noise.fit_noise) {
		run->body = &pairs_body;
		run->sink = true;
		return 0;
	}
	if (fringe_counts_apply(&parameters->count, parameters->field_px,
	    &parameters->captures.period_px) < 0 || phasewrap_take_captures(parameters, priv) < 0 ||
	    capture_set_check(&priv->measurement.captures) < 0 ||
	    exposures_check(&parameters->exposures, &priv->measurement.captures) < 0 ||
	    fourier_check(parameters) < 0 || options_check(parameters, priv->shift_search.on) < 0)
		return -1;
	if (parameters->harmonics && harmonics_load(parameters->harmonics, &priv->harmonics) < 0)
		return -1;
	if (priv->measurement.captures.flat == FLAT_AUTO || priv->shift_search.on ||
	    parameters->exposures.n > 1 || noise_unknown(&parameters->noise))
		priv->body.survey = survey;
	if (parameters->captures.kind == CAPTURES_FOURIER)
		run->body = &fourier_body;
	return parameters->manifest ? read_manifest(run, parameters->manifest) : 0;
}

static void
end(struct run *run)
{
	struct priv *priv = run->priv;

	phasewrap_forget(&priv->wrap);
	fourier_free(&priv->fourier);
	harmonics_free(&priv->harmonics);
	removed_free(&priv->removed);
	dropped_images_free(&priv->dropped);
	shift_search_free(&priv->shift_search);
	noise_pairs_free(&priv->pairs);
	free(priv->file);
	if (priv->measurement.manifest_read)
		manifest_free(&priv->manifest);
}

static const struct check *const checks[] = { &check_max_value, &check_min_amplitude,
	&check_saturation, &check_clipped, &check_no_fringes, &check_unlit, &check_steps,
	&check_assumed_shifts, &check_direction, &check_gray, NULL };

STAGE(phasewrap) = {
	.name = "phasewrap",
	.summary = "wrapped phase out of phase-shifted fringe images, index out of a Gray code",
	.operands = "[FILE ...]",
	.hint = "--min-amplitude, --min-modulation, --dark, --max-value, --max-fit-residual, and "
	    "whether the images show fringes",
	.options = phasewrap_options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.checks = checks,
	.traits = STAGE_ANY_TYPE | STAGE_CONCURRENT,
	.agree = AGREE_EXACT,
	.example = { "phasewrap", "images", "phases" },
	.init = init,
	.plan = phasewrap_plan,
	.release = end,
};
