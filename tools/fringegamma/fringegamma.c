/* The projector's response, and the harmonics of its fringes, from captured images. */
#include "run/stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse.h"
#include "io/safe_file.h"
#include "options.h"

struct priv {
	struct manifest manifest, measurement;	/* the second: the rows of one */
	bool manifest_read;
	char **file;				/* of the manifest, where no operands are given */
	struct capture_set captures;
	struct analysis analysis;
	struct findings findings;
	size_t measurements;
};

/* ---- planning ---- */

static int
gather(struct run *run, const struct frame_head *head, size_t *planes)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;

	if (parameters->levels.n) {
		*planes = parameters->levels.n;
		return 0;
	}
	return capture_set_count(&parameters->captures,
	    priv->manifest_read ? &priv->measurement : NULL, head, planes);
}

static int
find_limits(const struct run *run, const struct frame_head *in, struct analysis *analysis)
{
	static const double usual[] = { 255, 65535, INFINITY }, words[] = { 1, -1, 1 };
	const struct parameters *parameters = run->parameters;

	*analysis = (struct analysis){ .least_swing = parameters->min_swing,
		.highest = parameters->highest, .full = parameters->full,
		.vary = parameters->vary };
	if (run_number(run, parameters->max_value, in, "max_value", usual[in->type],
	    &analysis->most) < 0 ||
	    meta_number(&in->meta, "phase_sign", 1, &analysis->sign) < 0 ||
	    meta_number(&in->meta, "phase_origin_rad", 0, &analysis->origin_rad) < 0)
		return -1;
	if (parameters->sign >= 0)
		analysis->sign = words[parameters->sign];
	if (analysis->sign != 1 && analysis->sign != -1)
		return fail("phase_sign", "must be 1 or -1, not %g", analysis->sign);
	if (!isnan(parameters->phase_origin))
		analysis->origin_rad = parameters->phase_origin;
	return 0;
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	const struct manifest *manifest = priv->manifest_read ? &priv->measurement : NULL;
	size_t operands = run->position ? 0 : run->operands;
	const char *compensation = meta_get(&in->meta, "compensation");

	(void)out;
	capture_set_free(&priv->captures);
	priv->captures = (struct capture_set){ 0 };
	snprintf(priv->findings.compensation, sizeof(priv->findings.compensation), "%s",
	    compensation ? compensation : "");
	if (meta_get(&in->meta, "phase_correction"))
		return fail("phase_correction", "these are phases that are corrected already, not "
		    "images");
	if (find_limits(run, in, &priv->analysis) < 0)
		return -1;
	if (parameters->levels.n)
		return 0;
	if (capture_set_check_names(&parameters->captures, manifest, in, run->operand,
	    operands) < 0 ||
	    capture_set_sort(&parameters->captures, manifest, in, &priv->captures) < 0)
		return -1;
	return priv->captures.fringes ? 0 : fail(NULL, "there are no fringe images among these");
}

/* ---- results ---- */

static int
write_file(const char *path, const struct findings *findings, const struct finding *of,
    const double *table)
{
	struct safe_file *place;
	FILE *out = safe_file_open(path, &place);

	if (!out)
		return -1;
	if (table)
		report_lut(findings, of, table, out);
	else
		report_harmonics(findings, out);
	return safe_file_close(out, path, place, true);
}

/* The tables first: where one cannot be made nothing is written. */
static int
report(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	const struct findings *findings = &((const struct priv *)run->priv)->findings;
	const struct finding *of = NULL;
	double table[RESPONSE_ROWS];
	struct safe_file *place;
	bool any = false;
	FILE *out;

	for (size_t i = 0; i < findings->n; i++)
		any |= findings->finding[i].has_harmonics;
	if (parameters->harmonics && !any)
		return fail("--harmonics", "the flats do not reach from %g to %g of full scale, as "
		    "fringes do: give --mean and --amplitude",
		    findings->levels.mean - findings->levels.amplitude,
		    findings->levels.mean + findings->levels.amplitude);
	if (parameters->lut && !(of = analyse_table(findings, table)))
		return -1;
	if (parameters->lut && write_file(parameters->lut, findings, of, table) < 0)
		return -1;
	if (parameters->harmonics && write_file(parameters->harmonics, findings, NULL, NULL) < 0)
		return -1;
	out = safe_file_open(run->output, &place);
	if (!out)
		return -1;
	(parameters->json ? report_json : report_text)(findings, out);
	return safe_file_close(out, run->output, place, true);
}

static void
forget(struct findings *findings)
{
	for (size_t i = 0; i < findings->n; i++)
		analyse_free(&findings->finding[i]);
	free(findings->finding);
	findings->finding = NULL;
	findings->n = 0;
}

static int
analyse(struct run *run, const struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct findings *findings = &priv->findings;
	size_t n = parameters->levels.n ? 1 : priv->captures.fringes;
	int status = 0;

	findings->levels = (struct response_levels){ parameters->mean, parameters->amplitude };
	findings->finding = calloc(n, sizeof(*findings->finding));
	if (!findings->finding)
		return fail_memory();
	while (findings->n < n && status == 0) {
		struct finding *finding = &findings->finding[findings->n];

		status = parameters->levels.n ?
		    analyse_flats(&priv->analysis, in, &parameters->levels, findings->levels,
			finding) :
		    analyse_fringes(run, &priv->analysis, in, &priv->captures.fringe[findings->n],
			findings->levels, finding);
		findings->n++;
	}
	return status;
}

static int
frame(struct run *run, struct frame *in)
{
	struct priv *priv = run->priv;
	int status;

	if (priv->measurements) {
		status = fail(NULL, "takes one measurement, and these images are several: give "
		    "--steps, or fewer images");
	} else {
		status = analyse(run, in);
		if (status < 0)
			forget(&priv->findings);
		else
			priv->measurements++;
	}
	frame_free(in);
	return status;
}

static int
finish(struct run *run)
{
	return ((const struct priv *)run->priv)->measurements ? report(run) : 0;
}

static const struct body body = { .gather = gather, .frame = frame, .end = finish,
	.no_passes = "one fit of all pixels" };

/* ---- beginning and end ---- */

static int
read_manifest(struct run *run, const char *path)
{
	struct priv *priv = run->priv;

	if (manifest_load(path, &priv->manifest) < 0)
		return -1;
	priv->manifest_read = true;
	priv->measurement = (struct manifest){ manifest_measurement(&priv->manifest),
		priv->manifest.row };
	return manifest_operands(&priv->manifest, path, run, &priv->file);
}

static int
init(struct run *run)
{
	struct parameters *p = run->parameters;

	run->body = &body;
	run->sink = true;
	run->colour = p->channel >= 0 ? (enum colour)(COLOUR_RED + p->channel) : COLOUR_GREY;
	p->captures.flats = OPT_NONE_INTEGER;
	p->captures.gray_cell = -1;
	p->captures.flat = FLAT_DESCRIBED;
	if (options_check(run, p) < 0)
		return -1;
	if (p->levels.n == 0 && capture_set_check(&p->captures) < 0)
		return -1;
	return p->manifest ? read_manifest(run, p->manifest) : 0;
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	forget(&priv->findings);
	capture_set_free(&priv->captures);
	free(priv->file);
	if (priv->manifest_read)
		manifest_free(&priv->manifest);
}

STAGE(fringegamma) = {
	.name = "fringegamma",
	.summary = "the projector's response and the harmonics of its fringes",
	.operands = "[FILE ...]",
	.options = fringegamma_options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_SINK | STAGE_ANY_TYPE,
	.agree = AGREE_EXACT,
	.init = init,
	.plan = plan,
	.release = release,
};
