/*
 * Orders by bits instead of averages, where thresholds are known: a bit of the stair says that its
 * pixel's order is at least, or is less than, some number. Pixels of one surface have one order but
 * for the whole turns between them, so that the right one contradicts no bit around, and a wrong
 * one as many as a step of the stair has thresholds.
 */
#ifndef UNDITHER3_ORDERS_H
#define UNDITHER3_ORDERS_H

#include "refine.h"

#define ORDERS_REACH 5
#define ORDERS_AREA ((2 * ORDERS_REACH + 1) * (2 * ORDERS_REACH + 1))
#define ORDERS_TRIED 5		/* the one at hand, and two on each side */
#define ORDERS_SLACK 0.1f	/* of a stair; turns are not exact */
#define ORDERS_WRONG 1.0f	/* bits that may contradict */
#define ORDERS_ALIKE 3		/* neighbours of eight */
#define ORDERS_SHARE 0.6f	/* of the window, of one surface, */
#define ORDERS_SURE 4.0f	/* contradicting every other order: that much will do by itself */

/* What the pixels around n pixels say. */
struct votes {
	float against[ORDERS_TRIED][SPAN];
	float same[SPAN];	/* pixels of the same surface */
	float broken[SPAN];	/* turns by which the nearest ones are off what their bits say */
};

static const float order_step[ORDERS_TRIED] = { 0, -1, 1, -2, 2 };

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
	const float *threshold = priv->threshold + y % DITHER_TILE * DITHER_TILE;

	bound_row(refining, y, 0, planes->w);
	for (size_t x = 0; x < planes->w; x++) {
		size_t i = first + x;
		float turns, rest, stair;

		if (planes->inside[i] == 0)
			continue;
		turns = orders->turns[i];
		rest = turns - px_floor(turns);
		stair = priv->stair[(int)(rest * HOLO_PROFILE)];
		orders->above[i] = px_floor(turns) -
		    (threshold[x % DITHER_TILE] - stair) / priv->code.height;
		orders->broken[i] =
		    px_max(px_max(refining->low[i] - turns, turns - refining->high[i]), 0.0f);
	}
}

/* The turns' growth from a pixel to the next one: on both sides alike, or where it is less. */
static float
slope_of(const float *turns, size_t step)
{
	float here = *turns, before = *(turns - step), after = turns[step];
	float came = undither3_off(before, here), goes = undither3_off(here, after);

	if (before == UNDITHER3_FAR)
		return after == UNDITHER3_FAR ? 0 : goes;
	if (after == UNDITHER3_FAR)
		return came;
	if (px_abs(goes - came) < 0.1f)
		return 0.5f * (came + goes);
	return px_abs(came) < px_abs(goes) ? came : goes;
}

static void
slope_row(const struct orders *orders, size_t y)
{
	struct planes *planes = &orders->job->planes;
	size_t first = (y + MARGIN) * planes->stride + MARGIN;

	for (size_t i = first; i < first + planes->w; i++) {
		if (planes->inside[i] == 0)
			continue;
		planes->right[i] = slope_of(orders->turns + i, 1);
		planes->down[i] = slope_of(orders->turns + i, planes->stride);
	}
}

/* The neighbour (dx, dy) of n pixels speaks. */
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

	ROWS_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F more = turns[i] - (here[i] + (right[i] * x + down[i] * y));
		PX_F whole = px_round(more);
		bool same = px_abs(more - whole) < UNDITHER3_GATE && turns[i] < UNDITHER3_FAR;
		PX_F counts = px_select(same, 1.0f, 0.0f);
		PX_F sign = px_select(bit[i] > 0.0f, 1.0f, -1.0f);
		PX_F over = above[i] - whole;

		votes->same[i] += counts;
		votes->broken[i] += near * counts * broken[i];
		for (int k = 0; k < ORDERS_TRIED; k++)
			votes->against[k][i] += px_select(
			    sign * (over + order_step[k]) < -ORDERS_SLACK, counts, 0.0f);
	}
}

/* By how much the order of a pixel is to be changed, if it can be told; else NaN. */
static float
decide(const struct votes *votes, size_t i, bool trusted, float per_pixel)
{
	float least = votes->against[0][i], next = UNDITHER3_FAR;
	int best = 0;

	for (int k = 1; k < ORDERS_TRIED; k++) {
		float against = votes->against[k][i];

		next = px_min(next, px_max(against, least));
		if (against < least) {
			least = against;
			best = k;
		}
	}
	if (least > ORDERS_WRONG)
		return PX_NAN;
	if (trusted && best == 0 && next - least >= 0.2f * per_pixel * votes->same[i])
		return 0;
	return next - least >= ORDERS_SURE && votes->broken[i] < 0.05f &&
		votes->same[i] >= ORDERS_SHARE * ORDERS_AREA ? order_step[best] : PX_NAN;
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

			if (!any_inside(planes->inside + at, n))
				continue;
			memset(&votes, 0, sizeof(votes));
			for (ptrdiff_t dy = -ORDERS_REACH; dy <= ORDERS_REACH; dy++)
				for (ptrdiff_t dx = -ORDERS_REACH; dx <= ORDERS_REACH; dx++)
					vote(orders, at, dx, dy, &votes, n);
			for (size_t i = 0; i < n; i++) {
				float step = decide(&votes, i, planes->trusted[at + i] > 0,
				    code->height / 255.0f);
				float turns = planes->turns[at + i] + step;
				bool sure = turns >= 0 && turns < code->order_most + 1;

				planes->trusted[at + i] = sure ? 1 : 0;
				planes->turns[at + i] = sure ? turns : planes->turns[at + i];
			}
		}
}

/* Trusted neighbours, of eight, of the same order but for a step from whole turn to whole turn. */
static int
alike(const struct planes *planes, size_t at)
{
	int n = 0;

	for (int way = 0; way < 9; way++) {
		size_t to = at + (size_t)((way / 3 - 1) * (ptrdiff_t)planes->stride + way % 3 - 1);

		n += way != 4 && planes->trusted[to] > 0 &&
		    px_abs(planes->turns[to] - planes->turns[at]) < 0.5f;
	}
	return n;
}

/* Row y of what check_orders() leaves. What stands alone is where two surfaces mix. */
static void
take_checked(const struct planes *planes, size_t y, bool keep, float *turns)
{
	size_t first = (y + MARGIN) * planes->stride + MARGIN;

	for (size_t x = 0; x < planes->w; x++) {
		size_t at = first + x;
		bool stays = keep || (planes->trusted[at] > 0 && alike(planes, at) >= ORDERS_ALIKE);

		turns[x] = stays ? planes->turns[at] : PX_NAN;
	}
}

static void
mend_block(void *arg, size_t block)
{
	const struct job *job = arg;

	for (size_t y = block * BLOCK; y < job->planes.h && y < (block + 1) * BLOCK; y++)
		mend_row(&job->planes, y, false, job->smooth[0] + y * job->planes.stride);
}

/* What mending leaves is trusted. */
static void
take_mended(struct job *job, size_t y)
{
	struct planes *planes = &job->planes;
	size_t first = (y + MARGIN) * planes->stride + MARGIN;
	const float *mended = job->smooth[0] + y * planes->stride;

	for (size_t x = 0; x < planes->w; x++) {
		if (planes->inside[first + x] == 0)
			continue;
		planes->trusted[first + x] = px_isnan(mended[x]) ? 0 : 1;
		if (!px_isnan(mended[x]))
			planes->turns[first + x] = mended[x];
	}
}

/* After refine(): which pixels are to be trusted, and with which order. */
static void
check_orders(struct run *run, struct job *job)
{
	struct planes *planes = &job->planes;
	size_t n = (planes->h + 2 * MARGIN) * planes->stride;
	struct orders orders = { job, planes->rest, planes->order, job->smooth[1] };
	struct refining refining = { .job = job, .low = planes->sine, .high = planes->cosine,
		.from = planes->rest };

	run_for(run, (planes->h + BLOCK - 1) / BLOCK, mend_block, job);
	for (size_t y = 0; y < planes->h; y++)
		take_mended(job, y);
	for (size_t i = 0; i < n; i++)
		orders.turns[i] = planes->inside[i] > 0 ? planes->turns[i] : UNDITHER3_FAR;
	for (size_t y = 0; y < planes->h; y++) {
		ask_row(&orders, &refining, y);
		slope_row(&orders, y);
	}
	run_for(run, (planes->h + BLOCK - 1) / BLOCK, vote_block, &orders);
}

#endif
