/* Wrapped phase, modulation and texture out of phase-shifted fringe images; index out of a Gray
 * code. */
#define _GNU_SOURCE
#include "capture_conflicts.h"
#include "detectors.h"
#include "flatness.h"
#include "fringe_counts.h"
#include "manifest_conflicts.h"
#include "options.h"
#include "phasewrap.h"
#include "thresholds.h"

#include <stdlib.h>
#include <string.h>

struct priv {
	struct manifest manifest, measurement;	/* the second: the rows of one */
	bool manifest_read;
	bool compared;			/* the options were, with the images' own keys */
	char **file;			/* of the manifest, where no operands are given */
	struct phasewrap wrap;
	struct detectors detectors;
};

static void
rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	const struct priv *priv = run->priv;

	(void)scratch;
	for (size_t y = y0; y < y1; y++) {
		phasewrap_row(&priv->wrap, in, out, y);
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
	const struct priv *priv = run->priv;

	for (size_t k = 0; k < priv->wrap.captures.fringes; k++)
		if (priv->wrap.captures.fringe[k].two_plus_one &&
		    flatness_turn(run, in, priv->wrap.captures.fringe[k].plane) < 0)
			return -1;
	return 0;
}

/* ---- planning ---- */

static const struct manifest *
manifest_of(const struct priv *priv)
{
	return priv->manifest_read ? &priv->measurement : NULL;
}

static int
gather(struct run *run, const struct frame_head *head, size_t *planes)
{
	const struct parameters *parameters = run->parameters;

	return capture_set_count(&parameters->captures, manifest_of(run->priv), head, planes);
}

static int
passes(struct run *run, struct passes *passes)
{
	return phasewrap_passes(passes, &((const struct priv *)run->priv)->wrap);
}

static const struct body body = { .gather = gather, .rows = rows, .after = after,
	.passes = passes };
static const struct body searching_body = { .gather = gather, .survey = survey, .rows = rows,
	.after = after, .passes = passes };

/* Without operands the manifest's own files are read. */
static int
read_manifest(struct run *run, const char *path)
{
	struct priv *priv = run->priv;

	if (manifest_load(path, &priv->manifest) < 0)
		return -1;
	priv->manifest_read = true;
	priv->measurement = (struct manifest){ manifest_measurement(&priv->manifest),
		priv->manifest.row };
	if (run->position > 0 || run->operands > 0)
		return 0;
	priv->file = manifest_files(&priv->manifest, &run->operands);
	if (!priv->file)
		return -1;
	run->operand = priv->file;
	return 0;
}

static int
init(struct run *run)
{
	struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	run->body = parameters->captures.flat == FLAT_AUTO ? &searching_body : &body;
	run->colour = COLOUR_GREY;
	detectors_init(&priv->detectors, run->verbose);
	if (parameters->channel >= 0)
		run->colour = COLOUR_RED + parameters->channel;
	if (parameters->captures.rgb)
		run->colour = COLOUR_PLANES;
	if (parameters->captures.rgb && parameters->channel >= 0)
		return fail_usage("--channel", "takes one colour, --rgb all three");
	if (fringe_counts_apply(&parameters->count, parameters->field_px,
	    &parameters->captures.period_px) < 0 || capture_set_check(&parameters->captures) < 0)
		return -1;
	return parameters->manifest ? read_manifest(run, parameters->manifest) : 0;
}

/* The options with what the images, or their manifest, say. */
static int
compare(const struct parameters *parameters, double sign, const struct frame_head *in,
    const struct priv *priv)
{
	if (priv->manifest_read)
		return manifest_conflicts_check(&parameters->captures, sign, parameters->manifest,
		    &priv->measurement, in, &priv->wrap.captures);
	return capture_conflicts_warn(&parameters->captures, sign, parameters->phase_origin, in,
	    &priv->wrap.captures);
}

static int
solve(const struct parameters *parameters, const struct frame_head *in, struct priv *priv)
{
	static const double words[] = { 1, -1, 1 };
	double sign, origin, given = parameters->sign >= 0 ? words[parameters->sign] : NAN;

	if (!priv->compared && compare(parameters, given, in, priv) < 0)
		return -1;
	priv->compared = true;
	if (meta_number(&in->meta, "phase_sign", 1, &sign) < 0 ||
	    meta_number(&in->meta, "phase_origin_rad", 0, &origin) < 0)
		return -1;
	if (!isnan(given))
		sign = given;
	if (sign != 1 && sign != -1)
		return fail("phase_sign", "must be 1 or -1, not %g", sign);
	if (!isnan(parameters->phase_origin))
		origin = parameters->phase_origin;
	return phasewrap_solve(&priv->wrap, sign, origin);
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
		.shifts = parameters->captures.shift_rad.n > 0,
		.roles = priv->manifest_read ||
		    (meta_get(&in->meta, "role") && !parameters->captures.order),
	};

	phasewrap_forget(&priv->wrap);
	priv->wrap.vector = parameters->as == AS_VECTOR;
	if ((priv->manifest_read && manifest_conflicts_kind(&parameters->captures,
	    parameters->manifest, &priv->measurement) < 0) ||
	    capture_set_check_names(&parameters->captures, manifest_of(priv), in, run->operand,
	    operands) < 0 ||
	    capture_set_sort(&parameters->captures, manifest_of(priv), in,
		&priv->wrap.captures) < 0 ||
	    thresholds_plan(&priv->wrap.captures, limits_need_flats(&parameters->limits),
		priv->wrap.reference) < 0 ||
	    solve(parameters, in, priv) < 0 ||
	    limits_plan(run, &parameters->limits, in, &priv->wrap) < 0 ||
	    detectors_plan(&priv->detectors, &priv->wrap, in, known, run->operand,
		parameters->captures.rgb ? 0 : operands) < 0)
		return -1;
	return capture_set_describe(&priv->wrap.captures, priv->wrap.vector ? "cos sin" : "phase",
	    priv->wrap.writes_fit ? "modulation texture fit_residual" : "modulation texture", out);
}

static void
end(struct run *run)
{
	struct priv *priv = run->priv;

	phasewrap_forget(&priv->wrap);
	detectors_free(&priv->detectors);
	free(priv->file);
	if (priv->manifest_read)
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
