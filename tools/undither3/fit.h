/* The fit: turns of all pixels, what is kept of them, and their levels. */
#ifndef UNDITHER3_FIT_H
#define UNDITHER3_FIT_H

#include "orders.h"

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

			sum_window(&job->planes, &priv->kernels, y, x, n, &sums);
			find_turns(&job->planes, &sums,
			    (y + MARGIN) * job->planes.stride + MARGIN + x, n, priv->moved,
			    priv->code.order_most);
		}
}

static void
level_block(void *arg, size_t block)
{
	const struct job *job = arg;
	const struct priv *priv = job->priv;
	const size_t *place = holo_place[priv->holo.layout];

	for (size_t y = block * BLOCK; y < priv->h && y < (block + 1) * BLOCK; y++) {
		float *turns = job->smooth[0] + y * job->planes.stride;

		if (priv->checked)
			take_checked(&job->planes, y, priv->keep, turns);
		else
			mend_row(&job->planes, y, priv->keep, turns);
		encode(turns, &priv->code, frame_floats(job->out, place[0], y),
		    frame_floats(job->out, place[1], y), frame_floats(job->out, place[2], y),
		    priv->w);
	}
}

static void
fit(struct run *run, struct job *job)
{
	find_inside(job);
	find_fringes(job);
	find_frequency(job, 1, job->planes.right);
	find_frequency(job, job->planes.stride, job->planes.down);
	find_orders(job);
	run_for(run, (job->priv->h + BLOCK - 1) / BLOCK, fit_block, job);
	if (job->priv->ordered)
		refine(run, job);
	if (job->priv->checked)
		check_orders(run, job);
	run_for(run, (job->priv->h + BLOCK - 1) / BLOCK, level_block, job);
}

#endif
