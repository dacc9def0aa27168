/*
 * A flow that holds frames back: it hands on the frames of one size in the reverse order, when
 * another size comes or the input ends.
 */
#include "run/stage.h"

#include <stdlib.h>

struct parameters {
	bool strict;
};

struct priv {
	struct frame **held;
	size_t n;
	size_t flushes;
};

static const struct opt options[] = {
	{ 0, "strict", NULL, OPT_FLAG, offsetof(struct parameters, strict), NULL, 0, 0, NULL,
	  "metadata ends a row of frames, too", NULL },
	{ 0 },
};

static int
hand_on(struct run *run)
{
	struct priv *priv = run->priv;

	priv->flushes++;
	while (priv->n) {
		struct frame *frame = priv->held[--priv->n];

		if (meta_setf(&frame->head.meta, "flushes", "%zu", priv->flushes) < 0) {
			frame_free(frame);
			return -1;
		}
		if (run_emit(run, frame) < 0)
			return -1;
	}
	return 0;
}

static int
take_frame(struct run *run, struct frame *in)
{
	struct priv *priv = run->priv;
	struct frame **more = reallocarray(priv->held, priv->n + 1, sizeof(*more));

	if (!more) {
		frame_free(in);
		return fail_memory();
	}
	priv->held = more;
	more[priv->n++] = in;
	return 0;
}

static int
flush(struct run *run, const struct frame_head *next)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	if (!parameters->strict && priv->n && priv->held[0]->head.w == next->w &&
	    priv->held[0]->head.h == next->h)
		return 0;
	return hand_on(run);
}

static int
init(struct run *run)
{
	static const struct body body = { .frame = take_frame, .flush = flush, .end = hand_on };

	run->body = &body;
	return 0;
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	while (priv->n)
		frame_free(priv->held[--priv->n]);
	free(priv->held);
}

const struct stage stage_testhold = {
	.name = "testhold",
	.summary = "hands frames on in the reverse order",
	.operands = "[FILE ...]",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_ANY_TYPE,
	.init = init,
	.release = release,
};
