#include "run/flow_gpu.h"

#include <stdlib.h>

#include "run/device.h"
#include "run/pass_list.h"

/* A segment of its own, outside the chain: one frame at a time, which the caller waits for. */
struct flow_gpu {
	struct link link;
	bool able;
	struct frame *completed;
};

void
flow_gpu_end(struct chain *chain, struct link *owner)
{
	struct flow_gpu *flow = owner->flow_gpu;

	if (!flow)
		return;
	device_abandon(chain->device, &flow->link);
	head_free(&flow->link.in);
	head_free(&flow->link.out);
	free(flow);
	owner->flow_gpu = NULL;
}

static int
take_completed(struct chain *chain, size_t at, struct frame *frame)
{
	chain->link[at - 1].flow_gpu->completed = frame;
	return 0;
}

static int
plan_flow(struct flow_gpu *flow, struct run *run, const struct frame_head *in,
    const struct frame_head *out)
{
	struct link *link = &flow->link;

	head_free(&link->in);
	head_free(&link->out);
	link->run = *run;
	link->run.link = link;
	if (head_copy(&link->in, in) < 0 || head_copy(&link->out, out) < 0)
		return -1;
	return passes_plan(run->chain->device, link, &flow->able);
}

/* Not 0 after fail(). */
static int
submit_flow(struct flow_gpu *flow, struct frame *in)
{
	struct chain *chain = flow->link.run.chain;
	struct frame *again = NULL;
	struct segment segment = { .chain = chain, .link = &flow->link, .n = 1,
		.h = in->head.h };
	int status = -1;

	if (frame_duplicate(in, &again) == 0 && frame_new(&flow->link.out, &segment.out) == 0) {
		segment.in = again;
		segment_halos(&segment);
		status = device_start(chain->device, &segment, take_completed);
	}
	if (status != 0) {
		frame_free(again);
		frame_free(segment.out);
		return status;
	}
	return device_drain(chain, &flow->link, 0, take_completed);
}

bool
run_wants_device(const struct run *run)
{
	return run->chain->device && run->link->place == PLACE_DEVICE;
}

int
run_passes(struct run *run, struct frame *in, const struct frame_head *out, struct frame **made)
{
	struct link *owner = run->link;
	struct flow_gpu *flow = owner->flow_gpu;

	*made = NULL;
	if (!run_wants_device(run))
		return 0;
	if (!flow)
		flow = owner->flow_gpu = calloc(1, sizeof(*flow));
	if (!flow)
		return fail_memory();
	if (plan_flow(flow, run, &in->head, out) < 0)
		return -1;
	if (!flow->able)
		return 0;
	if (submit_flow(flow, in) != 0)
		return -1;
	*made = flow->completed;
	flow->completed = NULL;
	return 0;
}
