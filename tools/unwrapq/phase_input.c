#include "phase_input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unwrap/patches.h"
#include "unwrap/wrapped_range.h"

#define SHORT 0.98	/* of a turn: samples that span less may have another one */
#define NEARLY 0.9	/* of their span: a jump over all of it, but for noise */
#define JUMPS 32	/* so large that tell */

struct range_job {
	const struct frame *frame;
	size_t channel;
	float turns;       /* of a unit */
	float *low, *high; /* of each row; low > high: no valid sample */
};

static void
range_row(void *arg, size_t y)
{
	const struct range_job *job = arg;
	const float *v = frame_floats(job->frame, job->channel, y);
	float low = INFINITY, high = -INFINITY, turns = job->turns;
	size_t w = job->frame->head.w;

	_Pragma("omp simd reduction(min:low) reduction(max:high)")
	for (size_t x = 0; x < w; x++) {
		bool valid = phase_is_valid(v[x], turns);
		float least = valid ? v[x] : INFINITY, most = valid ? v[x] : -INFINITY;

		low = least < low ? least : low;
		high = most > high ? most : high;
	}
	job->low[y] = low;
	job->high[y] = high;
}

/* How many neighbours are more than `half` apart, and of these more than `nearly`. */
struct jump_job {
	const struct frame *frame;
	size_t channel;
	float half, nearly;
	size_t *all, *large;	/* of each row */
};

static void
jump_row(void *arg, size_t y)
{
	const struct jump_job *job = arg;
	const float *v = frame_floats(job->frame, job->channel, y);

	job->all[y] = job->large[y] = 0;
	for (size_t x = 1; x < job->frame->head.w; x++) {
		float jump = fabsf(v[x] - v[x - 1]);

		job->all[y] += jump > job->half;
		job->large[y] += jump > job->nearly;
	}
	for (size_t x = 0; x < job->frame->head.w && y > 0; x++) {
		float jump = fabsf(v[x] - frame_floats(job->frame, job->channel, y - 1)[x]);

		job->all[y] += jump > job->half;
		job->large[y] += jump > job->nearly;
	}
}

/* Samples that jump over all of their own span, which is less than the turn that is given: is it
 * theirs? */
static int
check_jumps(struct run *run, const struct frame *in, size_t channel, double span, double turn)
{
	size_t h = in->head.h, *counts = calloc(2 * h, sizeof(*counts)), all = 0, large = 0;
	struct jump_job job = { in, channel, (float)(turn / 2), (float)(NEARLY * span), counts,
		NULL };

	if (!counts)
		return fail_memory();
	job.large = counts + h;
	run_for(run, h, jump_row, &job);
	for (size_t y = 0; y < h; y++) {
		all += job.all[y];
		large += job.large[y];
	}
	free(counts);
	if (large >= JUMPS && 2 * large > all)
		warn("--turn", "is %g, and the samples jump by no more than %.4g, all that they "
		    "span: if that is a whole turn, each one leaves a step of %.3g", turn, span,
		    turn - span);
	return 0;
}

int
phase_input_check(struct run *run, const struct frame *in, size_t channel, double turn)
{
	const char *name = in->head.channel[channel];
	size_t h = in->head.h;
	float *low = malloc(2 * h * sizeof(*low));
	double least = INFINITY, most = -INFINITY, whole = isnan(turn) ? 2 * M_PI : turn;

	if (!low)
		return fail_memory();
	run_for(run, h, range_row,
	    &(struct range_job){ in, channel, (float)(1 / whole), low, low + h });
	for (size_t y = 0; y < h; y++) {
		least = fmin(least, (double)low[y]);
		most = fmax(most, (double)low[h + y]);
	}
	free(low);
	if (least > most)	/* no pixel is valid: the runner says so */
		return 0;
	if (!wrapped_range_fits(least, most, whole))
		return fail(NULL,
		    "%s goes from %g to %g, but a wrapped phase over one turn at most, "
		    "which is %g (--turn)",
		    name, least, most, whole);
	if (!isnan(turn) && most - least < 0.1 * turn)
		warn(NULL,
		    "%s goes from %g to %g, a small part of --turn %g: is that what a "
		    "whole turn is in its samples?",
		    name, least, most, turn);
	if (!isnan(turn) && most - least < SHORT * turn &&
	    check_jumps(run, in, channel, most - least, turn) < 0)
		return -1;
	if (least < -1.02 * whole || most > 1.02 * whole)
		warn(NULL,
		    "%s goes from %g to %g, beyond a turn from 0, which is %g (--turn): is it a "
		    "wrapped phase?",
		    name, least, most, whole);
	if (isnan(turn) && wrapped_range_is_turns(least, most))
		warn(NULL, "%s goes from %g to %g rad: if those are turns, give --turn 1", name,
		    least, most);
	else if (isnan(turn) && strncmp(name, "phase", 5) && most - least < 0.5 * whole)
		warn(NULL,
		    "%s goes from %g to %g, less than half a turn, which is %g (--turn): is it a "
		    "wrapped phase?",
		    name, least, most, whole);
	return 0;
}
