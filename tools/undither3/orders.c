#include "orders.h"

#include <string.h>

#include "base/cpu_level.h"
#include "refine.h"
#include "undither3.px.h"

/* The votes of the pixels around n pixels. */
struct votes {
	float against[UNDITHER3_TRIED][SPAN];
	float same[SPAN];	/* pixels of the same surface */
	float broken[SPAN];	/* turns by which the nearest ones are off their bits */
};

struct orders {
	struct job *job;
	float *turns;		/* UNDITHER3_FAR without a surface */
	float *above;		/* by how much the order is above what the stair's bit asks */
	float *broken;
};

/* What a pixel's own bits ask of it. */
static void
ask_row(const struct orders *orders, const struct refining *refining, size_t y)
{
	const struct planes *planes = &orders->job->planes;
	const struct priv *priv = orders->job->priv;
	size_t first = (y + MARGIN) * planes->stride + MARGIN;
	const float *threshold = priv->bits.threshold + y % DITHER_TILE * DITHER_TILE;

	refine_bound_row(refining, y, 0, planes->w);
	for (size_t x = 0; x < planes->w; x++) {
		size_t i = first + x;
		float turns, rest, stair;

		if (planes->inside[i] == 0)
			continue;
		turns = orders->turns[i];
		rest = turns - px_floor(turns);
		stair = priv->bits.stair[(int)(rest * HOLO_PROFILE)];
		orders->above[i] = bits_above(
		    turns, threshold[x % DITHER_TILE], stair, priv->code.height);
		orders->broken[i] = undither3_broken(
		    turns, (struct bits_bounds){ refining->low[i], refining->high[i] });
	}
}

static void
slope_row(const struct orders *orders, size_t y)
{
	struct planes *planes = &orders->job->planes;
	size_t first = (y + MARGIN) * planes->stride + MARGIN;
	const float *turns = orders->turns;

	for (size_t i = first; i < first + planes->w; i++) {
		if (planes->inside[i] == 0)
			continue;
		planes->right[i] = undither3_slope(turns[i - 1], turns[i], turns[i + 1]);
		planes->down[i] = undither3_slope(
		    turns[i - planes->stride], turns[i], turns[i + planes->stride]);
	}
}

/* The neighbour (dx, dy) of n pixels votes. */
static void
vote(const struct orders *orders, size_t at, ptrdiff_t dx, ptrdiff_t dy, struct votes *votes,
    size_t n)
{
	const struct planes *planes = &orders->job->planes;
	size_t there = at + (size_t)(dy * (ptrdiff_t)planes->stride + dx);
	const float *restrict here = orders->turns + at, *restrict turns = orders->turns + there;
	const float *restrict right = planes->right + at, *restrict down = planes->down + at;
	const float *restrict above = orders->above + there;
	const float *restrict broken = orders->broken + there;
	const float *restrict bit = orders->job->bit[2] + there;
	float x = (float)dx, y = (float)dy, near = dx * dx <= 1 && dy * dy <= 1 ? 1 : 0;

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F more = undither3_more(turns[i], here[i], right[i], down[i], x, y);
		PX_F counts = undither3_same(turns[i], more);
		PX_F over = above[i] - px_round(more);

		votes->same[i] += counts;
		votes->broken[i] += near * counts * broken[i];
		for (int k = 0; k < UNDITHER3_TRIED; k++)
			votes->against[k][i] += px_select(
			    undither3_contradicts(bit[i], over, k), counts, 0.0f);
	}
}

static float
decide(const struct votes *votes, size_t i, float trusted, float per_pixel)
{
	float against[UNDITHER3_TRIED];

	for (int k = 0; k < UNDITHER3_TRIED; k++)
		against[k] = votes->against[k][i];
	return undither3_decide(
	    against, votes->same[i], votes->broken[i], trusted, ORDERS_AREA, per_pixel);
}

static void
vote_block(void *arg, size_t block)
{
	const struct orders *orders = arg;
	struct planes *planes = &orders->job->planes;
	const struct holo_code *code = &orders->job->priv->code;
	struct votes votes;

	for (size_t y = block * BLOCK; y < planes->h && y < (block + 1) * BLOCK; y++)
		for (size_t x = 0; x < planes->w; x += SPAN) {
			size_t n = planes->w - x < SPAN ? planes->w - x : SPAN;
			size_t at = (y + MARGIN) * planes->stride + x + MARGIN;

			if (!refine_any_inside(planes->inside + at, n))
				continue;
			memset(&votes, 0, sizeof(votes));
			for (ptrdiff_t dy = -ORDERS_REACH; dy <= ORDERS_REACH; dy++)
				for (ptrdiff_t dx = -ORDERS_REACH; dx <= ORDERS_REACH; dx++)
					vote(orders, at, dx, dy, &votes, n);
			for (size_t i = 0; i < n; i++) {
				float step = decide(&votes, i, planes->trusted[at + i],
				    code->height / 255.0f);
				float turns = planes->turns[at + i] + step;
				bool sure = turns >= 0 && turns < code->order_most + 1;

				planes->trusted[at + i] = sure ? 1 : 0;
				planes->turns[at + i] = sure ? turns : planes->turns[at + i];
			}
		}
}

void
orders_check(struct run *run, struct job *job)
{
	struct planes *planes = &job->planes;
	size_t n = (planes->h + 2 * MARGIN) * planes->stride;
	struct orders orders = { job, planes->rest, planes->order, job->smooth[1] };
	struct refining refining = { .job = job, .low = planes->sine, .high = planes->cosine,
		.from = planes->rest };

	for (size_t i = 0; i < n; i++)
		orders.turns[i] = planes->inside[i] > 0 ? planes->turns[i] : UNDITHER3_FAR;
	for (size_t y = 0; y < planes->h; y++) {
		ask_row(&orders, &refining, y);
		slope_row(&orders, y);
	}
	run_for(run, (planes->h + BLOCK - 1) / BLOCK, vote_block, &orders);
}
