#include "phase_input.h"

#include <math.h>
#include <stdlib.h>

#include "image/statistics.h"
#include "unwrap/patches.h"

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
	float low = INFINITY, high = -INFINITY;

	for (size_t x = 0; x < job->frame->head.w; x++) {
		float finite = phase_is_valid(v[x], job->turns) ? v[x] : NAN;

		low = finite < low ? finite : low;
		high = finite > high ? finite : high;
	}
	job->low[y] = low;
	job->high[y] = high;
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
	if (most - least > 1.02 * whole)
		return fail(NULL,
		    "%s goes from %g to %g, but a wrapped phase over one turn at most, "
		    "which is %g (--turn)",
		    name, least, most, whole);
	if (!isnan(turn) && most - least < 0.1 * turn)
		warn(NULL,
		    "%s goes from %g to %g, a small part of --turn %g: is that what a "
		    "whole turn is in its samples?",
		    name, least, most, turn);
	if (isnan(turn) && least >= 0 && most <= 1 && most - least > 0.95)
		warn(NULL, "%s goes from %g to %g rad: if those are turns, give --turn 1", name,
		    least, most);
	return 0;
}

int
phase_input_quality(const struct frame *in, size_t channel, double *median)
{
	size_t pixels = in->head.w * in->head.h, step = 1 + pixels / 65536, n = 0;
	double *v = malloc((pixels / step + 1) * sizeof(*v));

	if (!v)
		return fail_memory();
	for (size_t i = 0; i < pixels; i += step) {
		float q = frame_sample(in, channel, i / in->head.w, i % in->head.w);

		if (isfinite(q) && q > 0)
			v[n++] = (double)q;
	}
	*median = n ? statistics_quantile(v, n, 0.5) : 1;
	free(v);
	return 0;
}
