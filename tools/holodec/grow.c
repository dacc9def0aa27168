#include "grow.h"

#include <stdlib.h>
#include <string.h>

#include "base/cpu_level.h"
#include "dark.h"
#include "faint.h"
#include "hole.h"
#include "holo/bits.h"
#include "holodec.px.h"
#include "mixing.h"
#include "odds.h"
#include "quantised.h"
#include "smooth.h"
#include "weigh.h"

#define OFF 0.1f	/* turns that a pixel's phase may be off its neighbour's surface */
#define TOGETHER 0.3f	/* turns; neighbours that are farther apart do not agree */
#define ROUNDS 12
#define CLEAR 0.25f	/* orders that clear stairs are off at most */
#define CLEAR_STEP 8	/* one column of so many is looked at */

/* Margins of those that odds decide, by rounds; the surest first. */
#define MARGINS 4
static const float margins[MARGINS] = { 6, 4, 3, 2.1f };

/* Certainty that is asked for */
#define MOST 0.93f
#define DROPPED_MOST 0.015f	/* of the surface */
#define BINS 1001

/* ---- pixels that wait ---- */

static bool
is(const struct growing *growing, ptrdiff_t at, unsigned char state)
{
	return at >= 0 && growing->state[at] == state;
}

/* Has a neighbour of the pixel been taken in the last round? */
static bool
has_news(const struct growing *growing, const struct pixel *pixel)
{
	for (int way = 0; way < BITS_WAYS; way++)
		if (is(growing, growing_beside(growing, pixel, bits_way[way][0], bits_way[way][1]),
			(unsigned char)(TRUSTED + growing->round - 1)))
			return true;
	return false;
}

/* Do the stairs of single pixels tell their order? Of the trusted ones, in some columns, nearly all
 * must be right. Finds growing->misread, whose sum is the same in every order of rows. */
static bool
stairs_are_clear(struct growing *growing)
{
	const struct regions *regions = growing->regions;
	size_t trusted = 0, clear = 0;
	uint64_t sum = 0;

	for (size_t y = 0; y < regions->h; y++)
		for (size_t x = 0; x < regions->w; x += CLEAR_STEP) {
			struct pixel pixel = { .at = (int32_t)(y * regions->w + x),
				.x = (int32_t)x, .y = (int32_t)y };
			float off;

			if (growing->state[pixel.at] != TRUSTED)
				continue;
			off = px_abs(
			    mixing_read(growing, &pixel) - growing->turns[pixel.at]);
			trusted++;
			clear += off <= CLEAR;
			sum += (uint64_t)px_round(px_min(off, 1) * VOTE_STEPS);
		}
	growing->misread = trusted ? (float)sum / (float)(VOTE_STEPS * trusted) : 0;
	return 100 * (trusted - clear) <= trusted;
}

static size_t
count_waiting(const unsigned char *restrict state, size_t n)
{
	int waiting = 0;

#pragma omp simd reduction(+ : waiting)
	for (size_t i = 0; i < n; i++)
		waiting += state[i] == WAITING;
	return (size_t)waiting;
}

static int
list_waiting(struct growing *growing)
{
	size_t w = growing->regions->w, all = w * growing->regions->h;
	size_t most = count_waiting(growing->state, all);
	const unsigned char *next = growing->state, *end = growing->state + all;
	bool clear = stairs_are_clear(growing);

	growing->pixel = malloc((most ? most : 1) * sizeof(*growing->pixel));
	if (!growing->pixel)
		return fail_memory();
	while ((next = memchr(next, WAITING, (size_t)(end - next))) != NULL) {
		struct pixel *pixel = &growing->pixel[growing->n];
		size_t i = (size_t)(next++ - growing->state);

		*pixel = (struct pixel){ .at = (int32_t)i, .x = (int32_t)(i % w),
			.y = (int32_t)(i / w) };
		pixel->dark = dark_is(growing, pixel);
		pixel->read = mixing_read(growing, pixel);
		if (clear && !pixel->dark && px_abs(pixel->read - growing->turns[i]) <= CLEAR)
			growing->state[i] = TRUSTED;
		else
			growing->n++;
	}
	return 0;
}

/* The turns of a pixel by its neighbours; NaN where they do not agree or are too few. */
static float
ask(const struct growing *growing, const struct pixel *pixel)
{
	float rest = growing->regions->rest[pixel->at], low = 1e6f, high = -1e6f, sum = 0;
	int n = 0;

	for (int way = 0; way < BITS_WAYS; way++) {
		int dx = bits_way[way][0], dy = bits_way[way][1];
		ptrdiff_t near = growing_beside(growing, pixel, dx, dy), far;
		float carried, off;

		if (!growing_is_trusted(growing, near))
			continue;
		far = growing_beside(growing, pixel, 2 * dx, 2 * dy);
		carried = bits_carry(growing->turns[near],
		    growing_is_trusted(growing, far) ? growing->turns[far] : PX_NAN);
		off = rest - carried;
		off -= px_round(off);
		if (px_abs(off) > OFF)
			continue;
		low = px_min(low, carried + off);
		high = px_max(high, carried + off);
		sum += carried + off;
		n++;
	}
	return n >= 3 && high - low < TOGETHER ? sum / (float)n : PX_NAN;
}

/* Each pixel by itself: whether it is taken in this round. */
static void
ask_pixel(const struct growing *growing, struct pixel *pixel)
{
	bool news = growing->round == STRICT + 1 || has_news(growing, pixel);
	size_t late = (size_t)(growing->round - STRICT - 1);

	if (growing->round <= STRICT) {
		if (!news)
			return;
		pixel->turns = ask(growing, pixel);
		pixel->taken = !px_isnan(pixel->turns);
		return;
	}
	if (news)
		weigh(growing, pixel);
	pixel->taken = pixel->margin > margins[late < MARGINS ? late : MARGINS - 1];
}

static void
ask_block(void *arg, size_t block)
{
	const struct growing *growing = arg;

	for (size_t i = block * PIXELS; i < growing->n && i < (block + 1) * PIXELS; i++) {
		struct pixel *pixel = &growing->pixel[i];

		if (!pixel->round && !pixel->dark)
			ask_pixel(growing, pixel);
	}
}

static size_t
take(struct growing *growing)
{
	size_t n = 0;

	for (size_t i = 0; i < growing->n; i++) {
		struct pixel *pixel = &growing->pixel[i];

		if (!pixel->taken)
			continue;
		growing->turns[pixel->at] = pixel->turns;
		growing->state[pixel->at] = (unsigned char)(TRUSTED + growing->round);
		pixel->round = (unsigned char)growing->round;
		pixel->taken = false;
		n++;
	}
	return n;
}

static float
least_of(const struct regions *regions)
{
	const float *certainty = regions->certainty;
	size_t n[BINS] = { 0 }, points = 0, dropped = 0;

	for (size_t i = 0; i < regions->w * regions->h; i++) {
		if (px_isnan(certainty[i]))
			continue;
		points++;
		n[(int)(certainty[i] * (BINS - 1))]++;
	}
	for (size_t bin = 0; bin < BINS; bin++) {
		dropped += n[bin];
		if ((float)dropped > DROPPED_MOST * (float)points)
			return px_min(px_max((float)bin / (BINS - 1), CERTAINTY_LEAST), MOST);
	}
	return MOST;
}

static void
finish(struct run *run, struct growing *growing, float *least)
{
	struct regions *regions = growing->regions;

	odds_find(run, growing);
	*least = least_of(regions);
	hole_find(run, growing);
	faint_find(run, growing);
	for (size_t i = 0; i < growing->n; i++) {
		int32_t at = growing->pixel[i].at;

		regions->order[at] = px_round(growing->turns[at] - regions->rest[at]);
	}
}

/* ---- the picture ---- */

int
grow(struct run *run, struct regions *regions, const struct reading *reading,
    const struct frame *in, const struct frame *stored, const unsigned char *surface, float *least)
{
	struct growing growing = { .regions = regions, .reading = reading, .in = in,
		.stored = stored, .surface = surface };
	int status;

	growing.turns = regions->turns;
	growing.state = regions->state;
	quantised_find(run, &growing);
	smooth_find(run, &growing);
	status = list_waiting(&growing);
	for (growing.round = 1; status == 0 && growing.round <= ROUNDS; growing.round++) {
		if (growing.round == STRICT + 1)
			weigh_noise(&growing);
		run_for(run, (growing.n + PIXELS - 1) / PIXELS, ask_block, &growing);
		if (take(&growing) == 0 && growing.round >= STRICT + MARGINS)
			break;
	}
	if (status == 0)
		finish(run, &growing, least);
	free(growing.pixel);
	return status;
}

void
grow_drop(struct regions *regions, float least)
{
	float *restrict rest = regions->rest;
	const float *restrict certainty = regions->certainty;
	size_t n = regions->w * regions->h;

	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		rest[i] = px_select(certainty[i] >= least, rest[i], PX_NAN);
}
