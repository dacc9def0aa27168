/* State planes: a running mean of each pixel, and how many frames it has seen. */
#include "run/stage.h"
#include "run/passes.h"
#include "teststate.px.h"

struct parameters {
	double gain;
};

static const struct opt options[] = {
	{ 'g', "gain", "G", OPT_NUMBER, offsetof(struct parameters, gain), "0.5", 0, 1, NULL,
	  "share of the new value", NULL },
	{ 0 },
};

static void
rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	float gain = (float)((const struct parameters *)run->parameters)->gain;

	(void)scratch;
	for (size_t y = y0; y < y1; y++) {
		const float *value = frame_floats(in, 0, y);
		const float *last = frame_floats(in, run_state_in(run, 0), y);
		const float *seen = frame_floats(in, run_state_in(run, 1), y);
		float *mean = frame_floats(out, run_state_out(run, 0), y);
		float *count = frame_floats(out, run_state_out(run, 1), y);

		for (size_t x = 0; x < in->head.w; x++) {
			mean[x] = teststate_mean(last[x], value[x], gain);
			count[x] = px_isnan(seen[x]) ? 1 : seen[x] + 1;
			frame_floats(out, 0, y)[x] = mean[x];
			frame_floats(out, 1, y)[x] = count[x];
		}
	}
}

static int
passes(struct run *run, struct passes *passes)
{
	struct teststate_block block = {
		(float)((const struct parameters *)run->parameters)->gain };
	struct pass pass = { .shader = SHADER(teststate), .block = &block, .bytes = sizeof(block),
		PASS_FOURS };

	passes_read(passes, 0);
	passes_add(passes, &pass);
	return 0;
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	(void)in;
	run->state = 2;
	return head_set_channels(out, "mean count");
}

static int
init(struct run *run)
{
	static const struct body body = { .rows = rows, .passes = passes };

	run->body = &body;
	return 0;
}

const struct stage stage_teststate = {
	.name = "teststate",
	.summary = "means over the frames of a stream",
	.operands = "[FILE ...]",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.agree = AGREE_EXACT,
	.init = init,
	.plan = plan,
};
