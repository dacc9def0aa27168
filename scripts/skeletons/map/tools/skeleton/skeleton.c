/* Multiplies every sample by a gain. */
#include "run/stage.h"

#include "run/passes.h"
#include "skeleton.block.h"
#include "skeleton.px.h"

#define GAIN_MOST 1000

struct parameters {
	double gain;
};

/* What is planned for a frame. */
struct priv {
	float gain;
};

static const struct opt options[] = {
	{ 'g', "gain", "G", OPT_NUMBER, offsetof(struct parameters, gain), NULL, 0, GAIN_MOST, NULL,
	  "factor on every sample (key gain), or else 1", NULL },
	{ 0 },
};

static void
scale_row(const float *restrict in, float *restrict out, size_t w, float gain)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++)
		out[x] = skeleton_pixel(in[x], gain);
}

static void
rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	const struct priv *priv = run->priv;

	(void)scratch;
	for (size_t y = y0; y < y1; y++)
		for (size_t c = 0; c < out->head.c; c++)
			scale_row(frame_floats(in, c, y), frame_floats(out, c, y), in->head.w,
			    priv->gain);
}

/* The same on the device: a pass for each channel. */
static int
passes(struct run *run, struct passes *passes)
{
	const struct priv *priv = run->priv;

	for (size_t c = 0; c < passes_output(passes)->c; c++) {
		struct skeleton_block block = { (uint)c, priv->gain };
		struct pass pass = { .shader = SHADER(skeleton), .block = &block,
			.bytes = sizeof(block), PASS_FOURS };

		passes_read(passes, c);
		if (passes_add(passes, &pass) < 0)
			return -1;
	}
	return 0;
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	double gain;

	(void)out;		/* size, channels and metadata stay */
	if (run_number(run, parameters->gain, in, "gain", 1, &gain) < 0)
		return -1;
	if (!(gain >= 0 && gain <= GAIN_MOST))
		return fail(NULL, "key gain must be 0 to %d, not %g", GAIN_MOST, gain);
	priv->gain = (float)gain;
	return 0;
}

static const struct body body = { .rows = rows, .passes = passes };

static int
init(struct run *run)
{
	run->body = &body;
	return 0;
}

STAGE(skeleton) = {
	.name = "skeleton",
	.summary = "multiply every sample by a gain",
	.operands = "[FILE ...]",
	.example = { "skeleton --gain 2", "images", "skeleton" },
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.agree = AGREE_EXACT,
	.init = init,
	.plan = plan,
};
