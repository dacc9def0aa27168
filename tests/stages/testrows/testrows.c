/*
 * Tables and scratch: each column becomes 2 x + how often plan ran; the second channel counts the
 * rows that a call continues (scratch that is carried over): of an image, y - the band's first row;
 * the third is handed on.
 */
#include "run/stage.h"

struct priv {
	size_t plans;
};

static void
rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	const struct priv *priv = run->priv;
	size_t *carried = scratch->memory;

	if (!scratch->continues)
		carried[0] = carried[1] = y0;
	if (carried[1] != y0 || (uintptr_t)carried % 64) /* what the last call left is lost */
		carried[0] = 1000000;
	for (size_t y = y0; y < y1; y++) {
		for (size_t x = 0; x < in->head.w; x++) {
			frame_floats(out, 0, y)[x] =
			    2 * frame_floats(in, 0, y)[x] + (float)priv->plans;
			frame_floats(out, 1, y)[x] = (float)(y - carried[0]);
		}
	}
	carried[1] = y1;
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	struct priv *priv = run->priv;

	(void)in;
	priv->plans++;
	run->scratch_bytes = 2 * sizeof(size_t);
	if (head_set_channels(out, "double rows same") < 0)
		return -1;
	run_pass(run, 2, 0);
	return 0;
}

static int
init(struct run *run)
{
	static const struct body body = { .rows = rows };

	run->body = &body;
	return 0;
}

const struct stage stage_testrows = {
	.name = "testrows",
	.summary = "tables and scratch memory",
	.operands = "[FILE ...]",
	.private_size = sizeof(struct priv),
	.traits = STAGE_TABLES,
	.init = init,
	.plan = plan,
};
