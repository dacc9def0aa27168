/* The difference of two images, which may be of any type: options, plan, passes of the device. */
#include "skeleton.h"

#include "run/passes.h"
#include "run/stage.h"
#include "skeleton.block.h"

struct parameters {
	const char *right;
};

static const struct opt options[] = {
	{ 'r', "right", "FILE", OPT_STREAM, AT(right), NULL, 0, 0, NULL,
	  "what is subtracted: as many frames as the input has", NULL },
	{ 0 },
};

BODY_ROWS(skeleton, subtract)

/* The same on the device. */
static int
passes(struct run *run, struct passes *passes)
{
	const struct skeleton_block *planned = run->priv;
	struct pass pass = { .shader = SHADER(skeleton), .block = planned,
		.bytes = sizeof(*planned), PASS_FOURS };

	passes_read(passes, planned->left);
	passes_read(passes, planned->right);
	passes_add(passes, &pass);
	return 0;
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	const struct frame_head *right = run_second_input_head(run, "right", 0);
	struct skeleton_block *planned = run->priv;
	size_t left_c, right_c;

	if (run_channel(run, in, "image", &left_c) < 0 ||
	    run_second_input(run, in, "right", "image", &right_c) < 0)
		return -1;
	/* the runner leaves the size of a stream to the stage */
	if (right->w != in->w || right->h != in->h)
		return fail(parameters->right, "is %zu x %zu, the input is %zu x %zu", right->w,
		    right->h, in->w, in->h);
	*planned = (struct skeleton_block){ .left = (uint)left_c, .left_type = in->type,
		.right = (uint)right_c, .right_type = right->type };
	run->scratch_bytes = 2 * frame_stride(in->w, SAMPLE_FLOAT);
	return head_set_channels(out, "difference");
}

static const struct body body = { .rows = skeleton_subtract, .passes = passes };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;

	run->body = &body;
	if (!parameters->right)
		return fail_usage("--right", "is needed");
	return 0;
}

const struct stage stage_skeleton = {
	.name = "skeleton",
	.summary = "the difference of two images",
	/* .example = { "skeleton --right FILE", "images", "skeleton" }, */
	.options = options,
	STAGE_MEMORY(skeleton_block),
	.traits = STAGE_ANY_TYPE,
	.init = init,
	.plan = plan,
};
