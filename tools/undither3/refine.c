#include "refine.h"

#include "base/cpu_level.h"
#include "undither3.px.h"

#define REFINE_ROWS 32		/* that a thread takes at a time */

/* How the turns bend in n pixels of a line. */
static void
bend_row(const float *restrict before, const float *restrict here, const float *restrict after,
    float *restrict bend, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		bend[i] = undither3_bend_of(before[i], here[i], after[i]);
}

void
refine_bound_row(const struct refining *refining, size_t y, size_t x, size_t n)
{
	const struct job *job = refining->job;
	size_t tile = y % DITHER_TILE * DITHER_TILE;
	size_t first = (y + MARGIN) * job->planes.stride + x + MARGIN;
	const float *restrict from = refining->from + first;
	const float *restrict red = job->bit[0] + first, *restrict green = job->bit[1] + first;
	float *restrict low = refining->low + first, *restrict high = refining->high + first;

	for (size_t k = 0; k < n; k += DITHER_TILE) {
		const float *restrict sine = job->priv->bits.arc[0] + tile;
		const float *restrict cosine = job->priv->bits.arc[1] + tile;
		size_t most = n - k < DITHER_TILE ? n - k : DITHER_TILE;

		CPU_SIMD
		for (size_t i = 0; i < most; i++) {
			struct bits_bounds bounds = bits_bound(
			    from[k + i], red[k + i], green[k + i], sine[i], cosine[i]);

			low[k + i] = bounds.low;
			high[k + i] = bounds.high;
		}
	}
}

/* A step of n pixels; bends have one more on each side along the row. */
static void
step_row(const struct refining *refining, size_t first, const float *restrict along,
    const float *restrict above, const float *restrict here, const float *restrict below, size_t n)
{
	const float *restrict from = refining->from + first, *restrict low = refining->low + first;
	const float *restrict high = refining->high + first;
	const float *restrict inside = refining->job->planes.inside + first;
	float *restrict last = refining->last + first, *restrict to = refining->to + first;
	float momentum = refining->momentum;

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F bent = undither3_bent(
		    along[i], along[i + 1], along[i + 2], above[i], here[i], below[i]);
		PX_F next = undither3_step(from[i], bent, low[i], high[i]);

		next = px_select(inside[i] > 0.0f, next, UNDITHER3_FAR);
		to[i] = next + momentum * (next - last[i]);
		last[i] = next;
	}
}

bool
refine_any_inside(const float *restrict inside, size_t n)
{
	float most = 0;

	for (size_t i = 0; i < n; i++)
		most = px_max(most, inside[i]);
	return most > 0;
}

static void
refine_block(void *arg, size_t block)
{
	const struct refining *refining = arg;
	const struct planes *planes = &refining->job->planes;
	size_t stride = planes->stride, y0 = block * REFINE_ROWS;
	size_t y1 = y0 + REFINE_ROWS < planes->h ? y0 + REFINE_ROWS : planes->h;

	for (size_t x = 0; x < planes->w; x += SPAN) {
		size_t n = planes->w - x < SPAN ? planes->w - x : SPAN;
		float along[SPAN + 2], down[3][SPAN];

		for (size_t y = y0; y < y1 + 2; y++) {
			size_t first = (y + MARGIN - 1) * stride + x + MARGIN;
			const float *at = refining->from + first;

			bend_row(at - stride, at, at + stride, down[y % 3], n);
			if (y < y0 + 2)
				continue;
			first -= stride;
			at -= stride;
			if (!refine_any_inside(planes->inside + first, n))
				continue;
			bend_row(at - 2, at - 1, at, along, n + 2);
			if (refining->anew)
				refine_bound_row(refining, y - 2, x, n);
			step_row(refining, first, along, down[(y - 2) % 3], down[(y - 1) % 3],
			    down[y % 3], n);
		}
	}
}

/* Turns that moved far were at a place where two surfaces mix: they are not to be trusted. */
static void
take_refined(struct planes *planes, const float *restrict last, size_t n)
{
	const float *restrict inside = planes->inside;
	float *restrict turns = planes->turns, *restrict trusted = planes->trusted;

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		bool moved = undither3_moved(last[i], turns[i]);

		trusted[i] = px_select(moved, 0.0f, trusted[i]);
		turns[i] = px_select(inside[i] > 0.0f && !moved, px_max(last[i], 0.0f), turns[i]);
	}
}

void
refine_turns(struct run *run, struct job *job)
{
	struct planes *planes = &job->planes;
	size_t n = (planes->h + 2 * MARGIN) * planes->stride;
	struct refining refining = { job, planes->sine, planes->cosine, job->smooth[1],
		planes->rest, planes->order, 0, false };

	for (size_t i = 0; i < n; i++)
		refining.last[i] = refining.from[i] = refining.to[i] =
		    planes->inside[i] > 0 ? planes->turns[i] : UNDITHER3_FAR;
	for (int step = 0; step < REFINE_STEPS; step++) {
		float *from = refining.from;

		refining.momentum = (float)step / (float)(step + 3);
		refining.anew = step % REFINE_BOUNDS == 0;
		run_for(run, (planes->h + REFINE_ROWS - 1) / REFINE_ROWS, refine_block, &refining);
		refining.from = refining.to;
		refining.to = from;
	}
	take_refined(planes, refining.last, n);
}
