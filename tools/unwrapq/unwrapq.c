/* Spatial phase unwrapping: whole turns that make a wrapped phase continuous. */
#include "run/stage.h"

#include <float.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fringe/period_keys.h"
#include "fringe/channel_kinds.h"
#include "phase_input.h"
#include "quality.h"
#include "unwrap/absolute.h"
#include "unwrap/patches_loops.h"
#include "unwrapped.h"

struct parameters {
	const char *channel, *quality;
	double turn;
	struct absolute_options absolute;
};

struct priv {
	struct passthrough passthrough;
	struct frame_head out;
	size_t phase; /* channel */
	struct quality quality;
	struct absolute absolute;
	struct unwrapping unwrapping;
};

#define AT(field) offsetof(struct parameters, field)

static const struct opt options[] = {
	{ 0, "channel", "NAME", OPT_TEXT, AT(channel), "phase", 0, 0, NULL, "the wrapped phase",
	    NULL },
	{ 0, "turn", "V", OPT_NUMBER, AT(turn), NULL, FLT_MIN, FLT_MAX, NULL,
	    "what a whole turn is in its samples; 2 pi if not given", NULL },
	{ 0, "quality", "NAME", OPT_TEXT, AT(quality), NULL, 0, 0, NULL,
	    "channel of weights or of errors: modulation, fit_residual; variance: the phase's",
	    NULL },
	ABSOLUTE_OPTIONS(AT(absolute)),
	{ 0 },
};

/* ---- a frame ---- */

static int
unwrap(struct run *run, const struct frame *in, struct frame *out)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	double turn = isnan(parameters->turn) ? 2 * M_PI : parameters->turn;
	struct phase_plane phase = { in, priv->phase, (float)(1 / turn) };
	const struct phase_plane *quality;
	struct components components = { 0 };
	int status = -1;

	if (phase_input_check(run, in, priv->phase, parameters->turn) < 0 ||
	    quality_find(run, &priv->quality, &phase, &quality) < 0)
		return -1;
	if (components_unwrap(run, &priv->unwrapping, &phase, quality, &components) == 0 &&
	    absolute_place(&priv->absolute, &components, in, 1) == 0)
		status =
		    unwrapped_write(run, &components, in, 2 * M_PI / turn, &priv->passthrough, out);
	components_free(&components);
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
	return absolute_check(&parameters->absolute);
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
	if (channel_is_no_phase(parameters->channel))
		return fail("--channel", "%s is no wrapped phase", parameters->channel);
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
	if (k > 1 && axis && meta_word(axis, k - 1, word, sizeof(word)) &&
	    meta_word(axis, 0, first, sizeof(first)) && strcmp(first, word))
		period_keys_remove(meta);	/* they are of the other axis */
	else if (k > 1 && k <= period.n && period.n == phases)
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

/* The standard deviation of phaseN, sigmaN, is that of absphase: sigma. */
static void
name_sigma(const char *phase, struct frame_head *out)
{
	char name[CHANNEL_NAME_SIZE];
	size_t c;

	if (strncmp(phase, "phase", 5) || !phase[5] || head_channel(out, "sigma") != NO_CHANNEL)
		return;
	snprintf(name, sizeof(name), "sigma%s", phase + 5);
	c = head_channel(out, name);
	if (c != NO_CHANNEL)
		strcpy(out->channel[c], "sigma");
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	double period_px;

	if (find_phase(run, in, &priv->phase) < 0 ||
	    passthrough_plan(
		run, &priv->passthrough, out, "absphase label", parameters->channel, "") < 0 ||
	    set_keys(in, parameters->channel, &out->meta) < 0 ||
	    meta_number(&out->meta, "period_px", NAN, &period_px) < 0)
		return -1;
	name_sigma(parameters->channel, out);
	if (quality_plan(run, in, parameters->quality, priv->phase, &priv->quality) < 0)
		return -1;
	if (absolute_plan(run, &parameters->absolute, in, period_px, &out->meta,
		&priv->absolute) < 0)
		return -1;
	if ((priv->unwrapping.patches.w != in->w || priv->unwrapping.patches.h != in->h) &&
	    unwrapping_begin(&priv->unwrapping, patches_cut_row, in->w, in->h) < 0)
		return -1;
	head_free(&priv->out);
	return head_copy(&priv->out, out);
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	unwrapping_free(&priv->unwrapping);
	quality_free(&priv->quality);
	passthrough_free(&priv->passthrough);
	head_free(&priv->out);
}

STAGE(unwrapq) = {
	.name = "unwrapq",
	.summary = "spatial unwrapping: one wrapped phase made continuous",
	.operands = "[FILE ...]",
	.hint = "--min-size, --anchor, --marker",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_UNITS,
	.init = init,
	.plan = plan,
	.release = release,
};
