/* The phases of two rectified cameras, matched row by row, to disparity and points. */
#include "phasematch.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "matching_plan.h"
#include "run/stage.h"

struct parameters {
	const char *right;
	double step_most_rad, residual_px, both_ways_px, support_px, vote_px;
	long support;
	struct rig_options rig;
};

#define AT(field) offsetof(struct parameters, field)

static const char *const frames[] = { "rectified", "left", NULL };

static const struct opt options[] = {
	{ 0, "right", "FILE", OPT_STREAM, AT(right), NULL, 0, 0, NULL,
	  "the other camera's phases, as many frames as the input has", NULL },
	{ 0, "max-step", "RAD", OPT_NUMBER, AT(step_most_rad), NULL, FLT_MIN, 1e6, "rad",
	  "largest step between neighbours that are matched; 1, or 3 usual steps", NULL },
	{ 0, "max-residual", "PX", OPT_NUMBER, AT(residual_px), "1", FLT_MIN, 1e6, "px",
	  "how far several phases may lie about their mean, in projector pixels", NULL },
	{ 0, "both-ways", "PX", OPT_NUMBER, AT(both_ways_px), "1", 0, 1e6, "px",
	  "the right pixel's own match must lie as near; 0: it is not asked", NULL },
	{ 0, "support", "N", OPT_INTEGER, AT(support), "4", 0, 8, NULL,
	  "of the 8 neighbours, so many must have a like disparity; 0: none", NULL },
	{ 0, "support-range", "PX", OPT_NUMBER, AT(support_px), "1", 0, 1e6, "px",
	  "disparities that are alike differ by no more", NULL },
	{ 0, "vote", "PX", OPT_NUMBER, AT(vote_px), NULL, 0, 1e6, "px",
	  "match each phase alone; two or all must agree so closely", NULL },
	{ 0, "assume-rectified", NULL, OPT_FLAG, AT(rig.assume_rectified), NULL, 0, 0, NULL,
	  "take frames that no key calls rectified", NULL },
	{ 0, "calib", "FILE", OPT_FILE, AT(rig.calib), NULL, 0, 0, NULL,
	  "both cameras' calibration, in the place of the frames' own keys", NULL },
	{ 0, "frame", "WORD", OPT_WORD, AT(rig.frame), "rectified", 0, 0, NULL,
	  "x y z of the left camera as rectified, or as it stands", frames },
	{ 0, "min-depth", "Z", OPT_NUMBER, AT(rig.min_depth), NULL, 0, 0, "mm",
	  "nearer is invalid", NULL },
	{ 0, "max-depth", "Z", OPT_NUMBER, AT(rig.max_depth), NULL, 0, 0, "mm",
	  "farther is invalid", NULL },
	{ 0 },
};

/* ---- planning ---- */

/* The names of what is made, and where they stand. */
static int
plan_channels(struct run *run, struct frame_head *out)
{
	struct phasematch *priv = run->priv;
	bool sigma = priv->matching.sigma, points = priv->rig.known;
	char made[80] = "disparity", replaced[8 * CHANNEL_NAME_SIZE * (PHASES_MOST + 1)] = "";
	char *end = replaced;

	priv->sigma_disparity = sigma ? 1 : NO_CHANNEL;
	priv->x = points ? 1 + (size_t)sigma : NO_CHANNEL;
	priv->y = points ? 2 + (size_t)sigma : NO_CHANNEL;
	priv->z = points ? 3 + (size_t)sigma : NO_CHANNEL;
	priv->sigma = points && sigma ? 5 : NO_CHANNEL;
	strcat(strcat(strcat(made, sigma ? " sigma_disparity" : ""), points ? " x y z" : ""),
	    points && sigma ? " sigma" : "");
	end += sprintf(end, "absphase sigma p_order depth disparity sigma_disparity x y z");
	for (size_t k = 0; k < priv->phases; k++)
		end += sprintf(end, " absphase%zu sigma%zu", priv->number[k], priv->number[k]);
	return passthrough_plan(run, &priv->passthrough, out, made, replaced, "");
}

static int
plan_keys(const struct phasematch *priv, struct frame_head *out)
{
	meta_remove(&out->meta, "absphase_period_px");
	if (!priv->rig.known)
		return 0;
	return meta_set(&out->meta, "length_unit", "mm") < 0 ? -1 :
	    meta_set(&out->meta, "z_axis", "away");
}

static void
warn_sigma(struct phasematch *priv, const struct parameters *parameters)
{
	const struct matching *matching = &priv->matching;
	bool left = matching->left[0].has_sigma, right = matching->right[0].has_sigma;

	if (left == right || priv->warned_sigma || matching->maps > 1)
		return;
	priv->warned_sigma = true;
	warn(left ? parameters->right : NULL, "the %s phase has no channel sigma, the other one "
	    "has: no sigma comes out", left ? "right" : "input's");
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	const struct frame_head *right = run_second_input_head(run, "right", 0);
	struct phasematch *priv = run->priv;
	struct frame_head own = *in;

	own.c = in->c - right->c;
	if (right->h != in->h)
		return fail(parameters->right, "has %zu rows, the input %zu: rectified frames have "
		    "the same", right->h, in->h);
	if (matching_plan(run, parameters->right, in, parameters->residual_px,
	    !isnan(parameters->vote_px), priv) < 0 ||
	    rig_plan(run, &parameters->rig, parameters->right, &own, right, &priv->rig) < 0)
		return -1;
	priv->matching.w = in->w;
	priv->matching.right_w = right->w;
	warn_sigma(priv, parameters);
	run->halo = priv->support > 0;
	run->scratch_bytes = phasematch_scratch_bytes(priv);
	return plan_keys(priv, out) < 0 ? -1 : plan_channels(run, out);
}

/* ---- -v ---- */

static void
note_loss(char *text, size_t size, const char *what, size_t n, size_t pixels)
{
	size_t used = strlen(text);

	snprintf(text + used, size - used, "%s %s %zu (%.2f %%)", used ? "," : "", what, n,
	    100.0 * (double)n / (double)pixels);
}

static void
after(struct run *run)
{
	struct phasematch *priv = run->priv;
	const struct match_counts n = priv->counts;
	size_t lost = n.residual + n.bracket + n.both_ways + n.vote + n.support + n.depth;
	char text[400] = "";

	memset(&priv->counts, 0, sizeof(priv->counts));
	if (!run->verbose || n.pixels == 0)
		return;
	note_loss(text, sizeof(text), "residual", n.residual, n.pixels);
	note_loss(text, sizeof(text), "bracket", n.bracket, n.pixels);
	note_loss(text, sizeof(text), "both ways", n.both_ways, n.pixels);
	if (priv->matching.maps > 1)
		note_loss(text, sizeof(text), "vote", n.vote, n.pixels);
	note_loss(text, sizeof(text), "support", n.support, n.pixels);
	if (priv->rig.known)
		note_loss(text, sizeof(text), "depth", n.depth, n.pixels);
	note(NULL, "left pixels %zu, matched %zu (%.2f %%); lost by%s", n.pixels, n.pixels - lost,
	    100.0 * (double)(n.pixels - lost) / (double)n.pixels, text);
}

static const struct body body = { .survey = phasematch_survey, .rows = phasematch_rows,
	.after = after, .passes = phasematch_passes };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct phasematch *priv = run->priv;

	run->body = &body;
	if (!parameters->right)
		return fail_usage("--right", "is needed");
	priv->right = parameters->right;
	priv->step_most_rad = parameters->step_most_rad;
	priv->support = (size_t)parameters->support;
	priv->support_range = (float)parameters->support_px;
	priv->matching.both_ways = (float)parameters->both_ways_px;
	priv->matching.vote = (float)parameters->vote_px;
	return rig_check(&parameters->rig);
}

static void
release(struct run *run)
{
	struct phasematch *priv = run->priv;

	passthrough_free(&priv->passthrough);
}

STAGE(phasematch) = {
	.name = "phasematch",
	.summary = "match the phases of two rectified cameras: disparity and points",
	.operands = "[FILE ...]",
	.hint = "--max-step, --max-residual, --support, --min-depth and --max-depth",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct phasematch),
	.traits = STAGE_UNITS,
	.agree = AGREE_EXACT,
	.init = init,
	.plan = plan,
	.release = release,
};
