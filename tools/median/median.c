/* Takes whole-turn spikes out of an absolute phase. */
#include "median.h"
#include "run/stage.h"

#include <string.h>

struct parameters {
	int shape;
};

static const char *const shapes[] = { "auto", "row", "column", "box", NULL };

static const struct opt options[] = {
	{ 's', "shape", "WORD", OPT_WORD, offsetof(struct parameters, shape), "auto", 0, 0, NULL,
	  "neighbours: 5 in a row, 5 in a column, 3x3, or along the fringe axis", shapes },
	{ 0 },
};

static const struct body body = { .rows = median_rows, .passes = median_passes };

static int
init(struct run *run)
{
	run->body = &body;
	return 0;
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
	for (size_t c = 0; c < out->c; c++)
		if (c != median->phase && run_pass(run, c, c) < 0)
			return -1;
	return 0;
}

STAGE(median) = {
	.name = "median",
	.summary = "take whole-turn spikes out of an absolute phase",
	.operands = "[FILE ...]",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct median),
	.agree = AGREE_EXACT,
	.example = { "median", "absolute", "whole" },
	.init = init,
	.plan = plan,
};
