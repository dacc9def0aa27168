/* Multiplies every sample by a gain: options, plan, passes of the device. */
#include "skeleton.h"

#include "run/passes.h"
#include "run/stage.h"
#include "skeleton.block.h"

#define GAIN_MOST 1000

struct parameters {
	double gain;
};

static const struct opt options[] = {
	{ 'g', "gain", "G", OPT_NUMBER, AT(gain), NULL, 0, GAIN_MOST, NULL,
	  "factor on every sample (key gain), or else 1", NULL },
	{ 0 },
};

BODY_ROWS(skeleton, scale)

/* The same on the device: a pass for each channel. */
static int
passes(struct run *run, struct passes *passes)
{
	const struct skeleton *skeleton = run->priv;

	for (size_t c = 0; c < passes_input(passes)->c; c++) {
		struct skeleton_block block = { (uint)c, skeleton->gain };
		struct pass pass = { .shader = SHADER(skeleton), .block = &block,
			.bytes = sizeof(block), PASS_FOURS };

		passes_read(passes, c);
		passes_add(passes, &pass);
	}
	return 0;
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct skeleton *skeleton = run->priv;
	double gain;

	(void)out;		/* size, channels and metadata stay */
	if (run_number(run, parameters->gain, in, "gain", 1, &gain) < 0)
		return -1;
	if (!(gain >= 0 && gain <= GAIN_MOST))
		return fail(NULL, "key gain must be 0 to %d, not %g", GAIN_MOST, gain);
	skeleton->gain = (float)gain;
	return 0;
}

static const struct body body = { .rows = skeleton_scale, .passes = passes };

static int
init(struct run *run)
{
	run->body = &body;
	return 0;
}

const struct stage stage_skeleton = {
	.name = "skeleton",
	.summary = "multiply every sample by a gain",
	.example = { "skeleton --gain 2", "images", "skeleton" },
	.options = options,
	STAGE_MEMORY(skeleton),
	.init = init,
	.plan = plan,
};
