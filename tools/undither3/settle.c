#include "settle.h"

#include "undither3.px.h"

#define STEPS 40

struct settling {
	const struct growing *growing;
	float *surface;		/* turns; UNDITHER3_FAR where nothing is trusted */
	float momentum;
};

/* How a line of pixels bends around one of them. */
static float
bent(const float *at, ptrdiff_t step)
{
	float before = undither3_bend_of(at[-2 * step], at[-step], at[0]);
	float here = undither3_bend_of(at[-step], at[0], at[step]);
	float after = undither3_bend_of(at[0], at[step], at[2 * step]);

	return before + after - 2 * here;
}

static void
step_block(void *arg, size_t block)
{
	const struct settling *settling = arg;
	const struct growing *growing = settling->growing;
	ptrdiff_t stride = (ptrdiff_t)growing->job->planes.stride;

	for (size_t i = block * GROW_PIXELS; i < growing->n && i < (block + 1) * GROW_PIXELS; i++) {
		struct waiting *pixel = &growing->waiting[i];
		const float *at = settling->surface + pixel->at;
		float next;

		if (!pixel->round)
			continue;
		next = undither3_step(
		    *at, bent(at, 1) + bent(at, stride), pixel->low, pixel->high);
		pixel->next = next + settling->momentum * (next - pixel->turns);
		pixel->turns = next;
	}
}

static void
find_bounds(const struct growing *growing)
{
	const struct job *job = growing->job;
	const struct bits_code *code = &job->priv->bits;

	for (size_t i = 0; i < growing->n; i++) {
		struct waiting *pixel = &growing->waiting[i];
		struct bits_bounds bounds = bits_bound(pixel->turns, job->bit[0][pixel->at],
		    job->bit[1][pixel->at], code->arc[0][pixel->place],
		    code->arc[1][pixel->place]);

		pixel->low = bounds.low;
		pixel->high = bounds.high;
	}
}

void
settle(struct run *run, struct growing *growing)
{
	struct planes *planes = &growing->job->planes;
	struct settling settling = { growing, growing->job->smooth[1], 0 };
	size_t blocks = (growing->n + GROW_PIXELS - 1) / GROW_PIXELS;

	for (size_t i = 0; i < (planes->h + 2 * MARGIN) * planes->stride; i++)
		settling.surface[i] = planes->trusted[i] > 0 ? planes->turns[i] : UNDITHER3_FAR;
	find_bounds(growing);
	for (int step = 0; step < STEPS; step++) {
		settling.momentum = (float)step / (float)(step + 3);
		run_for(run, blocks, step_block, &settling);
		for (size_t i = 0; i < growing->n; i++)
			if (growing->waiting[i].round)
				settling.surface[growing->waiting[i].at] = growing->waiting[i].next;
	}
	for (size_t i = 0; i < growing->n; i++)
		if (growing->waiting[i].round)
			planes->turns[growing->waiting[i].at] =
			    px_max(growing->waiting[i].turns, 0.0f);
}
