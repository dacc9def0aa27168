/* Spatial phase unwrapping: whole turns that make a wrapped phase continuous. */
#include "run/stage.h"

#include <float.h>
#include <limits.h>
#include <stdlib.h>

#include "fringe/period_keys.h"
#include "phase_input.h"
#include "unwrapped.h"

struct parameters {
	const char *channel, *quality, *ref;
	double turn;
	struct numbers anchor;
	long min_size;
};

struct priv {
	struct passthrough passthrough;
	struct frame_head out;
	size_t phase, quality, ref; /* channels; NO_CHANNEL */
	struct patches patches;
};

#define AT(field) offsetof(struct parameters, field)

static const struct opt options[] = {
	{ 0, "channel", "NAME", OPT_TEXT, AT(channel), "phase", 0, 0, NULL, "the wrapped phase",
	    NULL },
	{ 0, "turn", "V", OPT_NUMBER, AT(turn), NULL, FLT_MIN, FLT_MAX, NULL,
	    "what a whole turn is in its samples; 2 pi if not given", NULL },
	{ 0, "quality", "NAME", OPT_TEXT, AT(quality), NULL, 0, 0, NULL,
	    "a channel of weights: modulation, say", NULL },
	{ 0, "anchor", "X,Y,RAD,...", OPT_NUMBERS, AT(anchor), NULL, 0, 0, "px and rad",
	    "the absolute phase at a pixel of each component", NULL },
	{ 0, "ref", "FILE", OPT_FRAME, AT(ref), NULL, 0, 0, NULL,
	    "an absolute phase that each component comes nearest to", NULL },
	{ 0, "min-size", "N", OPT_INTEGER, AT(min_size), "1", 1, LONG_MAX, "px",
	    "components of fewer pixels become invalid", NULL },
	{ 0 },
};

/* ---- a frame ---- */

/* Which of the components the options make absolute, and their numbers. */
static int
place_components(struct run *run, struct components *components, const struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;
	size_t lost = 0, kept = 0, all = 0;
	bool anchored = parameters->anchor.n > 0 || parameters->ref;

	if (!anchored)
		components_center(components);
	else if (parameters->ref ? components_refer(components, in, priv->ref) < 0
				 : components_anchor(components, &parameters->anchor) < 0)
		return -1;
	if (components_number(components, (size_t)parameters->min_size, anchored) < 0)
		return -1;
	for (size_t i = 0; i < components->n; i++) {
		const struct component *component = &components->component[i];

		all += component->size;
		kept += component->label > 0;
		lost += anchored && !component->anchored ? component->size : 0;
	}
	if (all > 0 && kept == 0)
		warn(NULL, "no pixel is valid: no component has --min-size %ld pixels%s",
		    parameters->min_size, anchored ? " and an anchor or a reference" : "");
	else if (10 * lost > all)
		warn(NULL,
		    "%.1f %% of the valid pixels are connected to no %s and become invalid",
		    100 * (double)lost / (double)all,
		    parameters->ref ? "pixel of --ref" : "--anchor");
	return 0;
}

static int
unwrap(struct run *run, const struct frame *in, struct frame *out)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	double turn = isnan(parameters->turn) ? 2 * M_PI : parameters->turn;
	struct phase_plane phase = { in, priv->phase, (float)(1 / turn) },
			   quality = { in, priv->quality, 1 };
	struct components components = { 0 };
	struct regions regions = { 0 };
	struct joined joined = { 0 };
	double median = 1;
	int status = -1;

	if (phase_input_check(run, in, priv->phase, parameters->turn) < 0 ||
	    (priv->quality != NO_CHANNEL && phase_input_quality(in, priv->quality, &median) < 0))
		return -1;
	quality.turns = (float)(1 / median);
	patches_find(run, &priv->patches, &phase);
	if (borders_find(run, &priv->patches, &phase, priv->quality == NO_CHANNEL ? NULL : &quality,
		&regions) == 0 &&
	    join_regions(run, &regions, &joined) == 0 &&
	    components_find(&components, &priv->patches, &joined, &phase) == 0 &&
	    place_components(run, &components, in) == 0)
		status =
		    unwrapped_write(run, &components, in, 2 * M_PI / turn, &priv->passthrough, out);
	components_free(&components);
	joined_free(&joined);
	return status;
}

static int
take_frame(struct run *run, struct frame *in)
{
	struct priv *priv = run->priv;
	struct frame *out = NULL;
	int status = -1;

	if (frame_new(&priv->out, &out) == 0)
		status = unwrap(run, in, out);
	frame_free(in);
	if (status == 0)
		return run_emit(run, out);
	frame_free(out);
	return -1;
}

static const struct body body = { .frame = take_frame,
	.no_passes = "patches are joined across the whole image" };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;

	run->body = &body;
	if (parameters->anchor.n % 3)
		return fail_usage("--anchor",
		    "wants a column, a row and a phase in rad for each pixel, not %zu "
		    "numbers",
		    parameters->anchor.n);
	for (size_t i = 2; i < parameters->anchor.n; i += 3)
		if (!(fabs(parameters->anchor.v[i]) < 2 * M_PI * (double)PHASE_MOST))
			return fail_usage(
			    "--anchor", "%g rad is no phase", parameters->anchor.v[i]);
	if (parameters->anchor.n && parameters->ref)
		return fail_usage(NULL, "give --anchor or --ref, not both");
	return 0;
}

/* ---- planning ---- */

static int
find_phase(struct run *run, const struct frame_head *in, size_t *c)
{
	const struct parameters *parameters = run->parameters;

	*c = head_channel(in, parameters->channel);
	if (*c == NO_CHANNEL && !strcmp(parameters->channel, "phase") &&
	    head_channel(in, "cos") != NO_CHANNEL)
		return fail(NULL, "the input has cos and sin: gauss makes a phase of them");
	if (*c == NO_CHANNEL && !strcmp(parameters->channel, "phase") &&
	    head_channel(in, "phase1") != NO_CHANNEL)
		return fail(NULL,
		    "the input has phase1 and others: --channel says which one (or unwrap2f "
		    "unwraps them by each other)");
	return *c == NO_CHANNEL ? run_channel(run, in, parameters->channel, c) : 0;
}

/* Of keys that have a value for each of phase1, phase2 ... the one of phaseK. */
static int
set_keys(const struct frame_head *in, const char *channel, struct meta *meta)
{
	static const char *const keys[] = { "period_px", "axis", "steps" };
	size_t phases = head_count_channels(in, "phase");
	size_t k = strlen(channel) > 5 && !strncmp(channel, "phase", 5)
	    ? strtoul(channel + 5, NULL, 10)
	    : 0;
	const char *axis = meta_get(&in->meta, "axis");
	struct numbers period;
	char word[64], first[64];
	int status = 0;

	if (meta_numbers(&in->meta, "period_px", &period) < 0)
		return -1;
	if (k > 1 && k <= period.n && period.n == phases &&
	    (!axis || !meta_word(axis, k - 1, word, sizeof(word)) ||
		(meta_word(axis, 0, first, sizeof(first)) && !strcmp(first, word))))
		status = period_keys_convert(meta, period.v[0], period.v[k - 1]);
	numbers_free(&period);
	if (status < 0)
		return -1;
	for (size_t i = 0; i < 3 && k > 0; i++) {
		const char *value = meta_get(&in->meta, keys[i]);

		if (value && meta_words(value) == phases && phases > 1 &&
		    meta_word(value, k - 1, word, sizeof(word)) &&
		    meta_set(meta, keys[i], word) < 0)
			return -1;
	}
	return 0;
}

/* Radians of two periods cannot be compared. */
static int
check_period(const struct meta *own, const struct meta *ref)
{
	double own_px, ref_px;

	if (!meta_get(own, "period_px") || !meta_get(ref, "period_px") ||
	    meta_words(meta_get(own, "period_px")) > 1)
		return 0;
	if (meta_number(own, "period_px", 0, &own_px) < 0 ||
	    meta_number(ref, "period_px", 0, &ref_px) < 0)
		return -1;
	return fabs(own_px - ref_px) <= 1e-6 * own_px
	    ? 0
	    : fail("--ref", "is a phase of fringes of %g px, the input one of %g px", ref_px,
		  own_px);
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	const struct frame_head *ref = run_second_input_head(run, "ref", 0);
	struct priv *priv = run->priv;
	const char *known = parameters->anchor.n ? "pixel" : "none";

	if (find_phase(run, in, &priv->phase) < 0 ||
	    passthrough_plan(
		run, &priv->passthrough, out, "absphase label", parameters->channel, "") < 0 ||
	    set_keys(in, parameters->channel, &out->meta) < 0)
		return -1;
	priv->quality = priv->ref = NO_CHANNEL;
	if (parameters->quality && run_channel(run, in, parameters->quality, &priv->quality) < 0)
		return -1;
	if (parameters->ref && run_second_input(run, in, "ref", "absphase", &priv->ref) < 0)
		return -1;
	/* beside a reference that is off by turns itself, the phase is off by the same */
	if (ref && meta_get(&ref->meta, "phase_anchor") &&
	    strcmp(meta_get(&ref->meta, "phase_anchor"), "pixel"))
		known = !strcmp(meta_get(&ref->meta, "phase_anchor"), "ref") ? "ref" : "relative";
	else if (ref)
		known = "ref";
	if (ref && check_period(&out->meta, &ref->meta) < 0)
		return -1;
	if (meta_set(&out->meta, "phase_anchor", known) < 0)
		return -1;
	if ((priv->patches.w != in->w || priv->patches.h != in->h) &&
	    patches_begin(&priv->patches, in->w, in->h) < 0)
		return -1;
	head_free(&priv->out);
	return head_copy(&priv->out, out);
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	patches_free(&priv->patches);
	passthrough_free(&priv->passthrough);
	head_free(&priv->out);
}

STAGE(unwrapq) = {
	.name = "unwrapq",
	.summary = "spatial unwrapping: one wrapped phase made continuous",
	.operands = "[FILE ...]",
	.hint = "--min-size, --anchor",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_UNITS,
	.init = init,
	.plan = plan,
	.release = release,
};
