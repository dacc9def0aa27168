#include "run/flow_gpu.h"

#include <stdlib.h>

#include "run/device.h"
#include "run/passes.h"
#include "run/segment.h"

/* A segment of its own beside the chain: one frame at a time, waited for. */
struct flow_gpu {
	struct link link;
	bool able;
	struct frame *landed;
};

void
flow_gpu_end(struct chain *chain, struct link *owner)
{
	struct flow_gpu *aside = owner->aside;

	if (!aside)
		return;
	device_abandon(chain->device, &aside->link);
	head_free(&aside->link.in);
	head_free(&aside->link.out);
	free(aside);
	owner->aside = NULL;
}

static int
take_landed(struct chain *chain, size_t at, struct frame *frame)
{
	chain->link[at - 1].aside->landed = frame;
	return 0;
}

static int
plan_flow(struct flow_gpu *aside, struct run *run, const struct frame_head *in,
    const struct frame_head *out)
{
	struct link *link = &aside->link;

	head_free(&link->in);
	head_free(&link->out);
	link->run = *run;
	link->run.link = link;
	if (head_copy(&link->in, in) < 0 || head_copy(&link->out, out) < 0)
		return -1;
	return device_plan(run->chain->device, link, &aside->able);
}

/* Not 0 after fail(). */
static int
submit_flow(struct flow_gpu *aside, struct frame *in)
{
	struct chain *chain = aside->link.run.chain;
	struct frame *again = NULL;
	struct segment segment = { .chain = chain, .link = &aside->link, .n = 1,
		.h = in->head.h };
	int status = -1;

	if (frame_duplicate(in, &again) == 0 && frame_new(&aside->link.out, &segment.out) == 0) {
		segment.in = again;
		segment_halos(&segment);
		status = device_start(chain->device, &segment, take_landed);
	}
	if (status != 0) {
		frame_free(again);
		frame_free(segment.out);
		return status;
	}
	return device_drain(chain, &aside->link, 0, take_landed);
}

bool
run_wants_device(const struct run *run)
{
	return run->chain->device && run->link->wish == PLACE_DEVICE;
}

int
run_passes(struct run *run, struct frame *in, const struct frame_head *out, struct frame **made)
{
	struct link *owner = run->link;
	struct flow_gpu *aside = owner->aside;

	*made = NULL;
	if (!run_wants_device(run))
		return 0;
	if (!aside)
		aside = owner->aside = calloc(1, sizeof(*aside));
	if (!aside)
		return fail_memory();
	if (plan_flow(aside, run, &in->head, out) < 0)
		return -1;
	if (!aside->able)
		return 0;
	if (submit_flow(aside, in) != 0)
		return -1;
	*made = aside->landed;
	aside->landed = NULL;
	return 0;
}
