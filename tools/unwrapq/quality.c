#include "quality.h"

#include <stdlib.h>
#include <string.h>

#include "fringe/channel_kinds.h"
#include "image/statistics.h"

#define LEAST 1e-6f /* of what weighs inversely: below it all weigh alike */

int
quality_plan(const struct run *run, const struct frame_head *in, const char *name, size_t phase,
    struct quality *quality)
{
	quality->kind = QUALITY_NONE;
	if (!name)
		return 0;
	quality->channel = head_channel(in, name);
	if (quality->channel == NO_CHANNEL && !strcmp(name, "variance")) {
		quality->kind = QUALITY_VARIANCE;
		return 0;
	}
	if (run_channel(run, in, name, &quality->channel) < 0)
		return -1;
	if (quality->channel == phase || channel_is_position(name))
		return fail("--quality",
		    "%s is no weight: give modulation, fit_residual, or variance", name);
	quality->kind = channel_is_error(name) ? QUALITY_INVERSE : QUALITY_WEIGHT;
	return 0;
}

struct job {
	const struct quality *quality;
	const struct phase_plane *phase;
	const struct frame *in;
};

static float
inverse(float v)
{
	return 1 / fmaxf(fabsf(v), LEAST);
}

static void
invert_row(void *arg, size_t y)
{
	const struct job *job = arg;
	const float *v = frame_floats(job->in, job->quality->channel, y);
	float *weight = frame_floats(job->quality->weights, 0, y);

	for (size_t x = 0; x < job->in->head.w; x++)
		weight[x] = isnan(v[x]) ? NAN : inverse(v[x]);
}

/* The sums of wrapped differences in a window, in turns, and of their squares. */
struct spread {
	float sum, squares;
	int n;
};

static void
add_step(struct spread *spread, float from, float to, float turns)
{
	float step = (to - from) * turns;

	step -= rintf(step);
	if (!(fabsf(step) <= 0.5f)) /* NaN */
		return;
	spread->sum += step;
	spread->squares += step * step;
	spread->n++;
}

/* The root mean square about their mean; 0.3, that of random phases, for fewer than two. */
static float
deviation(const struct spread *spread)
{
	float n = (float)spread->n, mean = spread->sum / n;

	return spread->n < 2 ? 0.3f : sqrtf(fmaxf(spread->squares / n - mean * mean, 0));
}

static void
vary_row(void *arg, size_t y)
{
	const struct job *job = arg;
	const struct phase_plane *phase = job->phase;
	size_t w = job->in->head.w, h = job->in->head.h;
	size_t y0 = y > 0 ? y - 1 : 0, y1 = y + 1 < h ? y + 1 : y;
	float *weight = frame_floats(job->quality->weights, 0, y);

	for (size_t x = 0; x < w; x++) {
		size_t x0 = x > 0 ? x - 1 : 0, x1 = x + 1 < w ? x + 1 : x;
		struct spread across = { 0 }, down = { 0 };

		for (size_t j = y0; j <= y1; j++)
			for (size_t i = x0; i <= x1; i++) {
				const float *v = phase_row(phase, j) + i;

				if (i < x1)
					add_step(&across, v[0], v[1], phase->turns);
				if (j < y1)
					add_step(&down, *v, phase_row(phase, j + 1)[i],
					    phase->turns);
			}
		weight[x] = inverse(deviation(&across) + deviation(&down));
	}
}

/* The median of weights where they are above 0, of every so many pixels; 0 where they nowhere are.
 * -1 after fail(). */
static int
find_median(const struct frame *frame, size_t channel, double *median)
{
	size_t pixels = frame->head.w * frame->head.h, step = 1 + pixels / 65536, n = 0;
	double *v = malloc((pixels / step + 1) * sizeof(*v));

	if (!v)
		return fail_memory();
	for (size_t i = 0; i < pixels; i += step) {
		float q = frame_sample(frame, channel, i / frame->head.w, i % frame->head.w);

		if (isfinite(q) && q > 0)
			v[n++] = (double)q;
	}
	*median = n ? statistics_quantile(v, n, 0.5) : 0;
	free(v);
	return 0;
}

static int
make_weights(struct run *run, struct quality *quality, const struct phase_plane *phase)
{
	struct frame_head head;
	int status;

	frame_free(quality->weights);
	quality->weights = NULL;
	if (head_init(&head, phase->frame->head.w, phase->frame->head.h, 1, SAMPLE_FLOAT) < 0)
		return -1;
	status = frame_new(&head, &quality->weights);
	head_free(&head);
	if (status == 0)
		run_for(run, phase->frame->head.h,
		    quality->kind == QUALITY_INVERSE ? invert_row : vary_row,
		    &(struct job){ quality, phase, phase->frame });
	return status;
}

int
quality_find(struct run *run, struct quality *quality, const struct phase_plane *phase,
    const struct phase_plane **out)
{
	bool own = quality->kind == QUALITY_WEIGHT;
	double median = 0;

	*out = NULL;
	if (quality->kind == QUALITY_NONE)
		return 0;
	if (!own && make_weights(run, quality, phase) < 0)
		return -1;
	quality->plane = (struct phase_plane){ own ? phase->frame : quality->weights,
		own ? quality->channel : 0, 1 };
	if (find_median(quality->plane.frame, quality->plane.channel, &median) < 0)
		return -1;
	if (median > 0) {
		quality->plane.turns = (float)(1 / median);
		*out = &quality->plane;
	} else {
		warn("--quality", "%s is nowhere above 0: all pixels count alike",
		    phase->frame->head.channel[quality->channel]);
	}
	return 0;
}

void
quality_free(struct quality *quality)
{
	frame_free(quality->weights);
}
