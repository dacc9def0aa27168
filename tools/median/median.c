/*
 * Takes whole-turn spikes out of an absolute phase: options, plan, and the pass of the device.
 * median_rows.c has the loops of the processor, image/median.px.h the formulas.
 */
#include "median.h"

#include "run/passes.h"
#include "median.block.h"

BODY_ROWS(median, filter)

/* struct body's `passes`: one pass. */
static int
median_passes(struct run *run, struct passes *passes)
{
	static const uint shapes[] = { [SHAPE_ROW] = MEDIAN_ROW, [SHAPE_COLUMN] = MEDIAN_COLUMN,
		[SHAPE_BOX] = MEDIAN_BOX };
	const struct median *median = run->priv;
	struct median_block block = { .channel = (uint)median->phase, .to = (uint)median->out,
		.shape = shapes[median->shape] };
	struct pass pass = { PASS_OF(median, block), PASS_FOURS };

	passes_read(passes, median->phase);
	passes_add(passes, &pass);
	return 0;
}

struct parameters {
	int shape;
};

static const char *const shapes[] = { "auto", "row", "column", "box", NULL };

static const struct opt options[] = {
	{ 's', "shape", "WORD", OPT_WORD, offsetof(struct parameters, shape), "auto", 0, 0, NULL,
	  "neighbours: 5 in a row, 5 in a column, 3x3, or along the fringe axis", shapes },
	{ 0 },
};

static int
init(struct run *run)
{
	static const struct body body = { .rows = median_filter, .passes = median_passes };

	run->body = &body;
	return 0;
}

/* The output has all channels but p_order, which belongs to the orders before the filter. */
static void
plan_channels(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	struct median *median = run->priv;
	size_t n = 0;

	for (size_t c = 0; c < in->c; c++) {
		if (!strcmp(in->channel[c], "p_order"))
			continue;
		if (n < c)
			memcpy(out->channel[n], in->channel[c], CHANNEL_NAME_SIZE);
		if (c == median->phase)
			median->out = n;
		else
			run_pass(run, n, c);
		n++;
	}
	out->c = n;
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct median *median = run->priv;
	const char *axis = meta_get(&in->meta, "axis");

	median->shape = parameters->shape;
	if (median->shape == SHAPE_AUTO)
		median->shape = axis && !strcmp(axis, "y") ? SHAPE_COLUMN : SHAPE_ROW;
	run->halo = median->shape == SHAPE_ROW ? 0 : 2;
	if (run_channel(run, in, "absphase", &median->phase) < 0)
		return -1;
	plan_channels(run, in, out);
	return 0;
}

const struct stage stage_median = {
	.name = "median",
	.summary = "take whole-turn spikes out of an absolute phase",
	.options = options,
	STAGE_MEMORY(median),
	.traits = STAGE_CONCURRENT,
	.example = { "median", "absolute", "whole" },
	.init = init,
	.plan = plan,
};
