#include "fit.h"

#include <stdlib.h>
#include <string.h>

#include "base/cpu_level.h"
#include "base/large_memory.h"
#include "first_smoothing.h"
#include "grow.h"
#include "mend.h"
#include "orders.h"
#include "refine.h"
#include "undither3.px.h"
#include "unpack.h"
#include "window.h"

/* The levels of turns, in the order sine, cosine, stair; NaN is black. */
static void
encode(const float *restrict turns, const struct holo_code *code, float *restrict sine,
    float *restrict cosine, float *restrict stair, size_t n)
{
	float most = code->order_most, height = code->height, base = code->base;
	float swing = code->swing, waves = code->waves;

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		struct undither3_levels levels =
		    undither3_encode(turns[i], most, height, base, swing, waves);

		sine[i] = levels.sine;
		cosine[i] = levels.cosine;
		stair[i] = levels.stair;
	}
}

/* Turns of a piece of rows, and their levels. */
static void
fit_block(void *arg, size_t block)
{
	const struct job *job = arg;
	const struct priv *priv = job->priv;
	struct sums sums;

	for (size_t y = block * BLOCK; y < priv->h && y < (block + 1) * BLOCK; y++)
		for (size_t x = 0; x < priv->w; x += SPAN) {
			size_t n = priv->w - x < SPAN ? priv->w - x : SPAN;

			window_sum(&job->planes, &priv->kernels, y, x, n, &sums);
			window_turns(&job->planes, &sums,
			    (y + MARGIN) * job->planes.stride + MARGIN + x, n, priv->moved,
			    priv->code.order_most);
		}
}

/* What is certain enough of row y, and how certain it is, where that is asked. */
static void
take_row(const struct job *job, size_t y, float *restrict turns)
{
	const struct planes *planes = &job->planes;
	size_t first = (y + MARGIN) * planes->stride + MARGIN;
	const float *restrict certainty = planes->certainty + first;
	const float *restrict found = planes->turns + first;
	float least = job->priv->least;

	CPU_SIMD
	for (size_t x = 0; x < planes->w; x++)
		turns[x] = px_select(certainty[x] >= least, found[x], PX_NAN);
	if (job->priv->keep)
		memcpy(frame_floats(job->out, job->out->head.c - 1, y), certainty,
		    planes->w * sizeof(*certainty));
}

static void
level_block(void *arg, size_t block)
{
	const struct job *job = arg;
	const struct priv *priv = job->priv;
	const size_t *place = holo_place[priv->holo.layout];

	for (size_t y = block * BLOCK; y < priv->h && y < (block + 1) * BLOCK; y++) {
		float *turns = job->smooth[0] + y * job->planes.stride;

		take_row(job, y, turns);
		encode(turns, &priv->code, frame_floats(job->out, place[0], y),
		    frame_floats(job->out, place[1], y), frame_floats(job->out, place[2], y),
		    priv->w);
	}
}

static float *
row_of(const struct planes *planes, float *plane, size_t y)
{
	return plane + (y + MARGIN) * planes->stride + MARGIN;
}

static int
job_start(struct job *job, const struct priv *priv, const struct frame *in, struct frame *out)
{
	struct planes *planes = &job->planes;
	float **plane[] = { &planes->sine, &planes->cosine, &planes->inside, &planes->rest,
		&planes->order, &planes->right, &planes->down, &planes->turns, &planes->trusted,
		&planes->certainty, &job->bit[0], &job->bit[1], &job->bit[2], &job->smooth[0],
		&job->smooth[1], &job->smooth[2] };
	size_t n = sizeof(plane) / sizeof(*plane), pixels, all;

	*job = (struct job){ .priv = priv, .out = out };
	planes->w = priv->w;
	planes->h = priv->h;
	planes->stride = priv->w + 2 * MARGIN;
	if (size_multiply(planes->stride, priv->h + 2 * MARGIN, &pixels) < 0 ||
	    size_multiply(pixels, n, &all) < 0)
		return -1;
	job->memory = large_memory(all, sizeof(float));
	if (!job->memory)
		return fail_memory();
	memset(job->memory, 0, all * sizeof(float));
	for (size_t i = 0; i < n; i++)
		*plane[i] = (float *)job->memory + i * pixels;
	for (size_t c = 0; c < 3; c++)
		for (size_t y = 0; y < priv->h; y++)
			unpack_row(priv, in, c, y, 0, priv->w, row_of(planes, job->bit[c], y));
	return 0;
}

static void
find_turns(struct run *run, struct job *job)
{
	first_smoothing(job);
	run_for(run, (job->priv->h + BLOCK - 1) / BLOCK, fit_block, job);
	if (job->priv->ordered)
		refine_turns(run, job);
	mend_all(run, job);
	if (job->priv->checked)
		orders_check(run, job);
}

/* The same, as a device has found them. */
static void
take_turns(struct job *job, const struct frame *found)
{
	struct planes *planes = &job->planes;

	for (size_t y = 0; y < planes->h + 2 * MARGIN; y++) {
		float *turns = planes->turns + y * planes->stride;
		size_t bytes = planes->stride * sizeof(*turns);

		memcpy(turns, frame_row(found, 0, y), bytes);
		memcpy(planes->trusted + y * planes->stride, frame_row(found, 1, y), bytes);
		for (size_t x = 0; x < planes->stride; x++)
			planes->inside[y * planes->stride + x] = px_isnan(turns[x]) ? 0 : 1;
	}
}

/* Turns and trust become levels. */
static int
finish(struct run *run, struct job *job)
{
	if (grow(run, job, job->priv->checked) < 0)
		return -1;
	run_for(run, (job->priv->h + BLOCK - 1) / BLOCK, level_block, job);
	return 0;
}

int
fit(struct run *run, const struct frame *in, struct frame *out)
{
	struct frame *found = NULL;
	struct job job = { 0 };
	int status = fit_turns_on_device(run, in, &found);

	if (status == 0)
		status = job_start(&job, run->priv, in, out);
	if (status == 0 && found)
		take_turns(&job, found);
	else if (status == 0)
		find_turns(run, &job);
	if (status == 0)
		status = finish(run, &job);
	free(job.memory);
	frame_free(found);
	return status;
}
