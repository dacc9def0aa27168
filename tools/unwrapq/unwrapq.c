/*
 * Spatial phase unwrapping: whole turns that make a wrapped phase continuous. The check of the
 * phase, the weights of its pixels, the output, options, frames and plan. unwrapq_rows.c has the
 * loops, unwrap/regions.h the method.
 */
#include "unwrapq.h"

#include <float.h>
#include <stdio.h>

#include "fringe/capture_set.h"
#include "fringe/phase_steps.h"
#include "image/statistics.h"
#include "unwrap/absolute.h"

/* ---- can the samples be a wrapped phase? ---- */

#define SHORT 0.98	/* of a turn: samples with a smaller range may have another turn */
#define NEARLY 0.9	/* of their range: a jump over all of it, less noise */
#define JUMPS 32	/* large jumps that give a warning */

/* Warns if the range of the samples is less than the given turn and they jump over all of it: it is
 * probably their turn. */
static void
check_jumps(struct run *run, const struct frame *in, size_t channel, double span, double turn)
{
	size_t h = in->head.h, *counts = must_alloc(2 * h, sizeof(*counts)), all = 0, large = 0;
	struct range_job job = { .frame = in, .channel = channel, .half = (float)(turn / 2),
		.nearly = (float)(NEARLY * span), .all = counts, .large = counts + h };

	run_for(run, h, unwrapq_rows()->jump_row, &job);
	for (size_t y = 0; y < h; y++) {
		all += job.all[y];
		large += job.large[y];
	}
	free(counts);
	if (large >= JUMPS && 2 * large > all)
		warn("--turn", "is %g, and the samples jump by no more than %.4g, all that they "
		    "span: if that is a whole turn, each one leaves a step of %.3g", turn, span,
		    turn - span);
}

/* Fails if the range of a channel is larger than a turn. Warns if it is beyond a turn from 0, if it
 * is small, and if a channel in rad looks as if it were in turns. turn: NaN if the user gave
 * none. */
static int
phase_input_check(struct run *run, const struct frame *in, size_t channel, double turn)
{
	const char *name = in->head.channel[channel];
	size_t h = in->head.h;
	float *low = must_resize(NULL, 2 * h, sizeof(*low));
	double least = INFINITY, most = -INFINITY, whole = isnan(turn) ? 2 * M_PI : turn;

	run_for(run, h, unwrapq_rows()->range_row,
	    &(struct range_job){ in, channel, (float)(1 / whole), low, low + h });
	for (size_t y = 0; y < h; y++) {
		least = fmin(least, (double)low[y]);
		most = fmax(most, (double)low[h + y]);
	}
	free(low);
	if (least > most)	/* no pixel is valid, which the runner reports */
		return 0;
	if (!wrapped_range_fits(least, most, whole))
		return fail(NULL, "%s goes from %g to %g, but a wrapped phase over one turn at "
		    "most, which is %g (--turn)", name, least, most, whole);
	if (!isnan(turn) && most - least < 0.1 * turn)
		warn(NULL, "%s goes from %g to %g, a small part of --turn %g: is that what a whole "
		    "turn is in its samples?", name, least, most, turn);
	if (!isnan(turn) && most - least < SHORT * turn)
		check_jumps(run, in, channel, most - least, turn);
	if (least < -1.02 * whole || most > 1.02 * whole)
		warn(NULL, "%s goes from %g to %g, beyond a turn from 0, which is %g (--turn): is "
		    "it a wrapped phase?", name, least, most, whole);
	if (isnan(turn) && wrapped_range_is_turns(least, most))
		warn(NULL, "%s goes from %g to %g rad: if those are turns, give --turn 1", name,
		    least, most);
	else if (isnan(turn) && strncmp(name, "phase", 5) && most - least < 0.5 * whole)
		warn(NULL, "%s goes from %g to %g, less than half a turn, which is %g (--turn): is "
		    "it a wrapped phase?", name, least, most, whole);
	return 0;
}

/* ---- --quality: the weight of each pixel ---- */

#define WEIGHTS_SAMPLED 65536	/* for their median, about */

/* For plan: sets the kind for a name; NULL: none. phase: the phase's channel. -1 after fail(): the
 * channel is missing or cannot be a weight. */
static int
quality_plan(const struct run *run, const struct frame_head *in, const char *name, size_t phase,
    struct quality *quality)
{
	quality->kind = QUALITY_NONE;
	if (!name)
		return 0;
	quality->channel = head_channel(in, name);
	if (quality->channel == NO_CHANNEL && !strcmp(name, "variance")) {
		quality->kind = QUALITY_VARIANCE;
		return 0;
	}
	if (run_channel(run, in, name, &quality->channel) < 0)
		return -1;
	if (quality->channel == phase || channel_is_position(name))
		return fail("--quality", "%s is no weight: give modulation, fit_residual, or "
		    "variance", name);
	quality->kind = channel_is_error(name) ? QUALITY_INVERSE : QUALITY_WEIGHT;
	return 0;
}

static int
make_weights(struct run *run, struct quality *quality, const struct phase_plane *phase)
{
	const struct frame_head *head = &phase->frame->head;

	frame_free(quality->weights);
	quality->weights = NULL;
	quality->phase = phase;
	if (frame_new_named(head->w, head->h, 1, SAMPLE_FLOAT, NULL, &quality->weights) < 0)
		return -1;
	run_for(run, head->h, unwrapq_rows()->weigh_row, quality);
	return 0;
}

/* The weights of a frame, scaled to 1 at their median; *out is NULL if all pixels have the same. -1
 * after fail(). */
static int
quality_find(struct run *run, struct quality *quality, const struct phase_plane *phase,
    const struct phase_plane **out)
{
	bool own = quality->kind == QUALITY_WEIGHT;
	size_t pixels = phase->frame->head.w * phase->frame->head.h, n;
	size_t step = 1 + pixels / WEIGHTS_SAMPLED;
	double *v, median;

	*out = NULL;
	if (quality->kind == QUALITY_NONE)
		return 0;
	if (!own && make_weights(run, quality, phase) < 0)
		return -1;
	quality->plane = (struct phase_plane){ own ? phase->frame : quality->weights,
		own ? quality->channel : 0, 1 };
	v = must_resize(NULL, pixels / step + 1, sizeof(*v));
	n = unwrapq_rows()->list_weights(quality->plane.frame, quality->plane.channel, step, v);
	median = n ? statistics_quantile(v, n, 0.5) : 0;
	free(v);
	if (median > 0) {
		quality->plane.turns = (float)(1 / median);
		*out = &quality->plane;
	} else {
		warn("--quality", "%s is nowhere above 0: all pixels count alike",
		    phase->frame->head.channel[quality->channel]);
	}
	return 0;
}

/* ---- the output ---- */

/* Fills channels 0 and 1 of a frame, absphase and label, copies those that pass, and sets the keys
 * components and cuts. rad: of a unit of the phase. */
static void
unwrapped_write(struct run *run, const struct components *components, const struct frame *in,
    double rad, struct frame *out)
{
	struct output output = { run, components, in, out, rad, 0 };
	size_t cuts, kept = 0, pixels = 0;

	run_for(run, (in->head.h + OUTPUT_ROWS - 1) / OUTPUT_ROWS, unwrapq_rows()->write_rows,
	    &output);
	cuts = output.cuts;
	for (size_t i = 0; i < components->n; i++)
		if (components->component[i].label) {
			kept++;
			pixels += components->component[i].size;
		}
	if (run->verbose)
		note(NULL, "%zu components of %zu pixels; %zu pairs of neighbours are over half a "
		    "turn apart", kept, pixels, cuts);
	meta_setf(&out->head.meta, "components", "%zu", kept);
	meta_setf(&out->head.meta, "cuts", "%zu", cuts);
}

/* ---- options ---- */

struct parameters {
	const char *channel, *quality;
	double turn;
	struct absolute_options absolute;
};

struct priv {
	size_t phase;		/* channel, */
	const char *channel;	/* and its name */
	struct quality quality;
	struct absolute absolute;
	struct unwrapping unwrapping;
};

static const struct opt options[] = {
	{ 0, "channel", "NAME", OPT_TEXT, AT(channel), "phase", 0, 0, NULL, "the wrapped phase" },
	{ 0, "turn", "V", OPT_NUMBER, AT(turn), NULL, FLT_MIN, FLT_MAX, NULL,
	    "what a whole turn is in its samples; 2 pi if not given" },
	{ 0, "quality", "NAME", OPT_TEXT, AT(quality), NULL, 0, 0, NULL,
	    "channel of weights or of errors: modulation, fit_residual; variance: the phase's" },
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
	int status;

	if (phase_input_check(run, in, priv->phase, parameters->turn) < 0 ||
	    quality_find(run, &priv->quality, &phase, &quality) < 0)
		return -1;
	components_unwrap(run, &priv->unwrapping, &phase, quality, &components);
	status = absolute_place(&priv->absolute, &components, in, 1);
	if (status == 0)
		unwrapped_write(run, &components, in, 2 * M_PI / turn, out);
	components_free(&components);
	return status;
}

static int
take_frame(struct run *run, struct frame *in)
{
	struct frame *out = NULL;
	int status = frame_new(run_output(run), &out);

	if (status == 0)
		status = unwrap(run, in, out);
	frame_free(in);
	return run_emit_if(run, status, out);
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
	struct priv *priv = run->priv;
	bool no_phase;

	priv->channel = parameters->channel;
	*c = head_channel(in, parameters->channel);
	if (*c == NO_CHANNEL && !strcmp(parameters->channel, "phase") &&
	    head_count_channels(in, "phase") == 1) {
		priv->channel = "phase1";
		*c = head_channel(in, "phase1");
		return 0;
	}
	no_phase = *c == NO_CHANNEL && !strcmp(parameters->channel, "phase");
	if (no_phase && head_channel(in, "cos") != NO_CHANNEL)
		return fail(NULL, "the input has cos and sin: gauss makes a phase of them");
	if (no_phase && head_channel(in, "phase1") != NO_CHANNEL)
		return fail(NULL, "the input has phase1 and others: --channel says which one (or "
		    "unwrap2f unwraps them by each other)");
	if (channel_is_no_phase(parameters->channel))
		return fail("--channel", "%s is no wrapped phase", parameters->channel);
	return *c == NO_CHANNEL ? run_channel(run, in, parameters->channel, c) : 0;
}

/* Keys with a value for each of phase1, phase2 and so on keep that of phaseK. */
static int
set_keys(const struct frame_head *in, const char *channel, struct meta *meta)
{
	static const char *const keys[] = { "period_px", "axis", "steps" };
	size_t phases = head_count_channels(in, "phase");
	size_t k = strlen(channel) > 5 && !strncmp(channel, "phase", 5) ?
	    strtoul(channel + 5, NULL, 10) : 0;
	const char *axis = meta_get(&in->meta, "axis");
	struct numbers period;
	char word[64], first[64];
	int status = 0;

	if (meta_numbers(&in->meta, "period_px", &period) < 0)
		return -1;
	if (k > 1 && axis && meta_word(axis, k - 1, word, sizeof(word)) &&
	    meta_word(axis, 0, first, sizeof(first)) && strcmp(first, word))
		period_keys_remove(meta);	/* they are of the other axis */
	else if (k > 1 && k <= period.n && period.n >= phases)
		status = period_keys_convert(meta, period.v[0], period.v[k - 1]);
	numbers_free(&period);
	if (status < 0)
		return -1;
	for (size_t i = 0; i < 3 && k > 0; i++) {
		const char *value = meta_get(&in->meta, keys[i]);

		/* phases may have been left out since */
		if (value && meta_words(value) > 1 && meta_words(value) >= phases &&
		    meta_word(value, k - 1, word, sizeof(word)) &&
		    meta_set(meta, keys[i], word) < 0)
			return -1;
	}
	return 0;
}

/* Renames sigmaN, the standard deviation of phaseN, to sigma: it is that of absphase. */
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
	    run_pass_others(run, out, "absphase label", priv->channel, "") < 0 ||
	    set_keys(in, priv->channel, &out->meta) < 0 ||
	    meta_number(&out->meta, "period_px", NAN, &period_px) < 0)
		return -1;
	name_sigma(priv->channel, out);
	if (quality_plan(run, in, parameters->quality, priv->phase, &priv->quality) < 0 ||
	    absolute_plan(run, &parameters->absolute, in, period_px, &out->meta,
	    &priv->absolute) < 0)
		return -1;
	if ((priv->unwrapping.patches.w != in->w || priv->unwrapping.patches.h != in->h) &&
	    unwrapping_begin(&priv->unwrapping, unwrapq_rows()->cut_row, in->w, in->h) < 0)
		return -1;
	return 0;
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	unwrapping_free(&priv->unwrapping);
	frame_free(priv->quality.weights);
}

const struct stage stage_unwrapq = {
	.name = "unwrapq",
	.summary = "spatial unwrapping: one wrapped phase made continuous",
	.hint = "--min-size, --anchor, --marker",
	.options = options,
	STAGE_MEMORY(priv),
	.traits = STAGE_UNITS,
	.init = init,
	.plan = plan,
	.release = release,
};
