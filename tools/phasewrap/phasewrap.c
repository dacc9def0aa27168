/* Wrapped phase, modulation and texture out of phase-shifted fringe images; index out of a Gray
 * code. */
#define _GNU_SOURCE
#include "detectors.h"
#include "double_three.h"
#include "dropped_images.h"
#include "exposure_fit.h"
#include "exposure_gains.h"
#include "flatness.h"
#include "fourier.h"
#include "fringe/compensation.h"
#include "fringe_counts.h"
#include "harmonics.h"
#include "markers.h"
#include "measurement.h"
#include "options.h"
#include "phasewrap.h"
#include "run/passes.h"
#include "shift_search.h"
#include "thresholds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct priv {
	struct manifest manifest;
	struct measurement measurement;
	bool verbose;			/* what only -v says of the survey is still to be said */
	char **file;			/* of the manifest, where no operands are given */
	struct phasewrap wrap;
	struct harmonics harmonics;
	struct detectors detectors;
	struct fourier fourier;
	struct dropped_images dropped;
	struct shift_search shift_search;
};

static void
rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	const struct priv *priv = run->priv;

	(void)scratch;
	for (size_t y = y0; y < y1; y++) {
		phasewrap_row(&priv->wrap, in, out, y);
		markers_copy_row(&priv->wrap.captures, in, out, y);
		detectors_row(&priv->detectors, &priv->wrap, in, out, y);
	}
}

static void
after(struct run *run)
{
	struct priv *priv = run->priv;

	priv->detectors.names.uncounted = run_lost(run) > 0;
	detectors_report(&priv->detectors, &priv->wrap);
}

/* Each frame anew: the camera may have begun anywhere in the cycle. */
static int
survey(struct run *run, const struct frame *in)
{
	struct priv *priv = run->priv;

	if (shift_search_run(&priv->shift_search, run, &priv->wrap, in) < 0 ||
	    exposure_gains_find(&priv->wrap, in) < 0)
		return -1;
	if (priv->verbose && priv->wrap.exposures.n > 1)
		exposure_gains_note(&priv->wrap.exposures);
	priv->verbose = false;
	for (size_t k = 0; k < priv->wrap.captures.fringes &&
	    priv->measurement.captures.flat == FLAT_AUTO; k++)
		if (priv->wrap.captures.fringe[k].two_plus_one &&
		    flatness_turn(run, in, priv->wrap.captures.fringe[k].plane) < 0)
			return -1;
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
	return dropped_images_take(&priv->dropped, head, path, have, wanted, begins);
}

static int
passes(struct run *run, struct passes *passes)
{
	const struct phasewrap *wrap = &((const struct priv *)run->priv)->wrap;

	if (wrap->captures.markers && (wrap->halves || exposure_fit_used(wrap)))
		return passes_refuse(passes, "markers beside such fits are copied by the processor");
	if (wrap->halves)
		return double_three_passes(passes, wrap);
	return exposure_fit_used(wrap) ? exposure_passes(passes, wrap) :
	    phasewrap_passes(passes, wrap);
}

static const struct body body = { .gather = gather, .arrives = arrives, .rows = rows,
	.after = after, .passes = passes };
static const struct body searching_body = { .gather = gather, .arrives = arrives,
	.survey = survey, .rows = rows, .after = after, .passes = passes };

static int
take_frame(struct run *run, struct frame *in)
{
	struct priv *priv = run->priv;

	return fourier_frame(run, &priv->wrap, &priv->fourier, in);
}

static const struct body fourier_body = { .gather = gather, .frame = take_frame,
	.no_passes = "Fourier transforms are of whole images" };

/* Without operands the manifest's own files are read. */
static int
read_manifest(struct run *run, const char *path)
{
	struct priv *priv = run->priv;

	if (manifest_load(path, &priv->manifest) < 0)
		return -1;
	priv->measurement.manifest_read = true;
	priv->measurement.manifest = (struct manifest){ manifest_measurement(&priv->manifest),
		priv->manifest.row };
	if (run->position > 0 || run->operands > 0)
		return 0;
	priv->file = manifest_files(&priv->manifest, &run->operands);
	if (!priv->file)
		return -1;
	run->operand = priv->file;
	return 0;
}

/* --shift auto: the captures are sorted as if nothing was given. */
static int
take_captures(const struct parameters *parameters, struct priv *priv)
{
	struct capture_options *captures = &priv->measurement.captures;

	*captures = parameters->captures;
	priv->shift_search.on = captures->shift_rad.n == 1 && isnan(captures->shift_rad.v[0]);
	if (priv->shift_search.on)
		captures->shift_rad = (struct numbers){ 0 };
	if (priv->shift_search.on && captures->kind != CAPTURES_ALL &&
	    captures->kind != CAPTURES_STEP)
		return fail_usage("--shift", "auto is for --kind step");
	if (priv->shift_search.on && parameters->exposures.n > 1)
		return fail_usage("--shift", "auto is for one exposure");
	return 0;
}

static int
init(struct run *run)
{
	struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	priv->shift_search.verbose = run->verbose;
	run->body = &body;
	priv->verbose = run->verbose;
	run->colour = COLOUR_GREY;
	parameters->captures.operands = run->position ? 0 : run->operands;
	detectors_init(&priv->detectors, run->verbose);
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
	if (fringe_counts_apply(&parameters->count, parameters->field_px,
	    &parameters->captures.period_px) < 0 || take_captures(parameters, priv) < 0 ||
	    capture_set_check(&priv->measurement.captures) < 0 ||
	    exposures_check(&parameters->exposures, &priv->measurement.captures) < 0 ||
	    fourier_check(parameters) < 0 || options_check(parameters, priv->shift_search.on) < 0)
		return -1;
	if (parameters->harmonics && harmonics_load(parameters->harmonics, &priv->harmonics) < 0)
		return -1;
	if (priv->measurement.captures.flat == FLAT_AUTO || priv->shift_search.on ||
	    parameters->exposures.n > 1)
		run->body = &searching_body;
	if (parameters->captures.kind == CAPTURES_FOURIER)
		run->body = &fourier_body;
	return parameters->manifest ? read_manifest(run, parameters->manifest) : 0;
}

static int
describe(const struct phasewrap *wrap, struct frame_head *out)
{
	char qualities[100];

	snprintf(qualities, sizeof(qualities), "modulation texture%s%s",
	    wrap->writes_fit ? " fit_residual" : "", wrap->exposures.map ? " exposure" : "");
	if (wrap->exposures.n > 1)
		meta_remove(&out->meta, "exposure_time_s");
	return capture_set_describe(&wrap->captures, wrap->vector ? "cos sin" : "phase", qualities,
	    out);
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	size_t operands = run->position ? 0 : run->operands;
	struct detectors_known known = {
		.max_value = !isnan(parameters->limits.max_value) ||
		    meta_get(&in->meta, "max_value"),
		.shifts = priv->measurement.captures.shift_rad.n > 0 || priv->shift_search.on,
		.roles = priv->measurement.manifest_read ||
		    (meta_get(&in->meta, "role") && !priv->measurement.captures.order),
	};

	if (parameters->harmonics && harmonics_check(&priv->harmonics, &in->meta) < 0)
		return -1;
	phasewrap_forget(&priv->wrap);
	priv->wrap.vector = parameters->as == AS_VECTOR;
	if (capture_set_check_names(&priv->measurement.captures,
	    measurement_manifest(&priv->measurement), in, run->operand, operands) < 0 ||
	    measurement_sort(&priv->measurement, parameters, in, &priv->wrap) < 0 ||
	    shift_search_plan(&priv->shift_search, &priv->wrap, &out->meta) < 0 ||
	    thresholds_plan(&priv->wrap.captures, limits_need_flats(&parameters->limits),
		priv->wrap.reference) < 0 ||
	    limits_plan(run, &parameters->limits, in, &priv->wrap) < 0)
		return -1;
	if (parameters->captures.kind == CAPTURES_FOURIER)
		return fourier_plan(run, &priv->wrap, priv->measurement.sign,
		    priv->measurement.origin_rad, in, out, &priv->fourier);
	if (phasewrap_correct(&priv->wrap, &priv->harmonics, priv->measurement.sign,
		priv->measurement.origin_rad) < 0 ||
	    detectors_plan(&priv->detectors, &priv->wrap, in, known, run->operand,
		priv->measurement.captures.rgb ? 0 : operands) < 0)
		return -1;
	if (parameters->harmonics &&
	    compensation_set_file(&out->meta, "phase_correction", parameters->harmonics) < 0)
		return -1;
	return describe(&priv->wrap, out);
}

static void
end(struct run *run)
{
	struct priv *priv = run->priv;

	phasewrap_forget(&priv->wrap);
	fourier_free(&priv->fourier);
	harmonics_free(&priv->harmonics);
	detectors_free(&priv->detectors);
	dropped_images_free(&priv->dropped);
	shift_search_free(&priv->shift_search);
	free(priv->file);
	if (priv->measurement.manifest_read)
		manifest_free(&priv->manifest);
}

STAGE(phasewrap) = {
	.name = "phasewrap",
	.summary = "wrapped phase out of phase-shifted fringe images, index out of a Gray code",
	.operands = "[FILE ...]",
	.hint = "--min-amplitude, --min-modulation, --dark, --max-value and --max-fit-residual",
	.options = phasewrap_options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_ANY_TYPE,
	.agree = AGREE_EXACT,
	.example = { "phasewrap", "images", "phases" },
	.init = init,
	.plan = plan,
	.release = end,
};
