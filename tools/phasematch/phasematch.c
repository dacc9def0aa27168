/* The difference of two images, which may be of any type. */
#include "run/stage.h"

#include "run/passes.h"
#include "phasematch.block.h"
#include "phasematch.px.h"

struct parameters {
	const char *right;
};

static const struct opt options[] = {
	{ 'r', "right", "FILE", OPT_STREAM, offsetof(struct parameters, right), NULL, 0, 0, NULL,
	  "what is subtracted: as many frames as the input has", NULL },
	{ 0 },
};

#define DEFINE_CONVERT(name, c_type) \
static void \
name(const c_type *restrict from, float *restrict to, size_t w) \
{ \
	CPU_SIMD \
	for (size_t x = 0; x < w; x++) \
		to[x] = from[x]; \
}

DEFINE_CONVERT(convert_uchar, uint8_t)
DEFINE_CONVERT(convert_ushort, uint16_t)

/* Row y of a channel as floats: its own, or else converted ones in `room`. Every plane has its own
 * type and stride. */
static const float *
row_of_floats(const struct frame *in, size_t c, size_t y, float *room)
{
	const void *row = frame_row(in, c, y);

	if (in->plane[c].type == SAMPLE_FLOAT)
		return row;
	if (in->plane[c].type == SAMPLE_UCHAR)
		convert_uchar(row, room, in->head.w);
	else
		convert_ushort(row, room, in->head.w);
	return room;
}

static void
subtract_row(const float *restrict left, const float *restrict right, float *restrict out, size_t w)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++)
		out[x] = phasematch_pixel(left[x], right[x]);
}

static void
rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	const struct phasematch_block *planned = run->priv;
	float *room[2] = { scratch->memory };

	room[1] = room[0] + frame_stride(in->head.w, SAMPLE_FLOAT) / sizeof(float);
	for (size_t y = y0; y < y1; y++)
		subtract_row(row_of_floats(in, planned->left, y, room[0]),
		    row_of_floats(in, planned->right, y, room[1]), frame_floats(out, 0, y),
		    in->head.w);
}

/* The same on the device. */
static int
passes(struct run *run, struct passes *passes)
{
	const struct phasematch_block *planned = run->priv;
	struct pass pass = { .shader = SHADER(phasematch), .block = planned,
		.bytes = sizeof(*planned), PASS_FOURS };

	passes_read(passes, planned->left);
	passes_read(passes, planned->right);
	return passes_add(passes, &pass);
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	const struct frame_head *right = run_second_input_head(run, "right", 0);
	struct phasematch_block *planned = run->priv;
	size_t left_c, right_c;

	if (run_channel(run, in, "image", &left_c) < 0 ||
	    run_second_input(run, in, "right", "image", &right_c) < 0)
		return -1;
	/* the runner leaves the size of a stream to the stage */
	if (right->w != in->w || right->h != in->h)
		return fail(parameters->right, "is %zu x %zu, the input is %zu x %zu", right->w,
		    right->h, in->w, in->h);
	*planned = (struct phasematch_block){ .left = (uint)left_c, .left_type = in->type,
		.right = (uint)right_c, .right_type = right->type };
	run->scratch_bytes = 2 * frame_stride(in->w, SAMPLE_FLOAT);
	return head_set_channels(out, "difference");
}

static const struct body body = { .rows = rows, .passes = passes };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;

	run->body = &body;
	if (!parameters->right)
		return fail_usage("--right", "is needed");
	return 0;
}

STAGE(phasematch) = {
	.name = "phasematch",
	.summary = "the difference of two images",
	.operands = "[FILE ...]",
	/* .example = { "phasematch --right FILE", "images", "phasematch" }, */
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct phasematch_block),
	.traits = STAGE_ANY_TYPE,
	.agree = AGREE_EXACT,
	.init = init,
	.plan = plan,
};
