/*
 * Second inputs: image + 1000 ref + 10^6 right(x mod its width), then the sum of all views. Samples
 * of any type and, but for --ref, of any width.
 */
#include "run/stage.h"
#include "run/passes.h"
#include "testpair.px.h"

#include <stdio.h>

#define VIEWS_MOST 4

struct parameters {
	const char *ref, *right;
	struct opt_list views;
	bool whole;
};

struct priv {
	struct testpair_block block;
	size_t views, view[VIEWS_MOST], view_w[VIEWS_MOST];
};

#define AT(field) offsetof(struct parameters, field)

static const struct opt options[] = {
	{ 0, "ref", "FILE", OPT_FRAME, AT(ref), NULL, 0, 0, NULL, "an image", NULL },
	{ 0, "right", "FILE", OPT_STREAM, AT(right), NULL, 0, 0, NULL, "a stream", NULL },
	{ 0, "view", "FILE", OPT_STREAMS, AT(views), NULL, 0, 0, NULL, "streams", NULL },
	{ 0, "whole", NULL, OPT_FLAG, AT(whole), NULL, 0, 0, NULL, "as a flow", NULL },
	{ 0 },
};

static float
sample(const struct frame *frame, size_t c, size_t x, size_t y)
{
	const void *row = frame_row(frame, c, y);

	switch (frame->plane[c].type) {
	case SAMPLE_UCHAR:
		return ((const uint8_t *)row)[x];
	case SAMPLE_USHORT:
		return ((const uint16_t *)row)[x];
	default:
		return ((const float *)row)[x];
	}
}

static void
rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	const struct priv *priv = run->priv;
	const struct testpair_block *block = &priv->block;

	(void)scratch;
	for (size_t y = y0; y < y1; y++)
		for (size_t x = 0; x < in->head.w; x++) {
			float views = 0;

			frame_floats(out, 0, y)[x] = testpair_sum(sample(in, block->left, x, y),
			    sample(in, block->ref, x, y),
			    sample(in, block->right, x % block->right_w, y));
			for (size_t i = 0; i < priv->views; i++)
				views += sample(in, priv->view[i], x % priv->view_w[i], y);
			frame_floats(out, 1, y)[x] = views;
		}
}

static int
passes(struct run *run, struct passes *passes)
{
	const struct priv *priv = run->priv;
	struct pass pass = { .shader = SHADER(testpair), .block = &priv->block,
		.bytes = sizeof(priv->block), PASS_PIXELS };

	if (priv->views)
		return passes_refuse(passes, "views are the processor's");
	passes_read(passes, priv->block.left);
	passes_read(passes, priv->block.ref);
	passes_read(passes, priv->block.right);
	passes_add(passes, &pass);
	return 0;
}

static int
whole_frame(struct run *run, struct frame *in)
{
	struct row_scratch scratch = { 0 };
	struct frame_head head;
	struct frame *out = NULL;
	int status = head_init(&head, in->head.w, in->head.h, 2, SAMPLE_FLOAT);

	if (status == 0)
		status = head_set_channels(&head, "sum views");
	if (status == 0)
		status = frame_new(&head, &out);
	head_free(&head);
	if (status == 0)
		rows(run, in, out, 0, in->head.h, &scratch);
	frame_free(in);
	return status < 0 ? -1 : run_emit(run, out);
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	const struct frame_head *ref = run_second_input_head(run, "ref", 0);
	const struct frame_head *right = run_second_input_head(run, "right", 0);
	struct priv *priv = run->priv;
	size_t ref_c, right_c;

	if (run_second_input(run, in, "ref", "image", &ref_c) < 0 ||
	    run_second_input(run, in, "right", "image", &right_c) < 0)
		return -1;
	if (right->h != in->h)
		return fail(NULL, "--right has %zu rows, the input %zu", right->h, in->h);
	priv->block = (struct testpair_block){ 0, in->type, (uint)ref_c, ref->type,
		(uint)right_c, right->type, (uint)right->w };
	priv->views = parameters->views.n;
	for (size_t i = 0; i < priv->views; i++) {
		char name[32];

		snprintf(name, sizeof(name), "view%zu", i + 1);
		if (run_second_input(run, in, name, "image", &priv->view[i]) < 0)
			return -1;
		priv->view_w[i] = run_second_input_head(run, "view", i + 1)->w;
	}
	return head_set_channels(out, "sum views");
}

static int
init(struct run *run)
{
	static const struct body map = { .rows = rows, .passes = passes };
	static const struct body whole = { .frame = whole_frame };
	const struct parameters *parameters = run->parameters;

	if (!parameters->ref || !parameters->right || parameters->views.n > VIEWS_MOST)
		return fail_usage(NULL, "--ref, --right and at most %d --view are needed",
		    VIEWS_MOST);
	run->body = parameters->whole ? &whole : &map;
	return 0;
}

const struct stage stage_testpair = {
	.name = "testpair",
	.summary = "adds up second inputs",
	.operands = "[FILE ...]",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_ANY_TYPE,
	.agree = AGREE_EXACT,
	.init = init,
	.plan = plan,
};
