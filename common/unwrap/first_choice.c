#include "unwrap/first_choice.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define ROW (PATCH_SIDE + 4) /* samples of a row of a square with its neighbours, in vectors */

/* A square of PATCH_SIDE pixels and their neighbours on all sides: pixel x, y of it is at
 * [y + 1][x + 1]. What is invalid or lies beyond the image is NaN. */
struct square {
	size_t x0, y0, w, h; /* as far as the image goes */
	float phase[PATCH_SIDE + 2][ROW], share[PATCH_SIDE + 2][ROW];
	/* weights of the pair of pixel x, y with the one before it, above it; 0: there is none */
	int32_t along[PATCH_SIDE][ROW], down[PATCH_SIDE + 1][PATCH_SIDE];
	/* of a pixel: the neighbour of the heaviest vote (left, right, above, below), with SEVERAL
	 * where there are more of them; NONE: there are no votes */
	int32_t heaviest[PATCH_SIDE][PATCH_SIDE];
};

enum { SEVERAL = 4, NONE = 8 };

struct choosing {
	const struct patches *patches;
	const struct votes *votes;
	struct choice *choice;
	struct patch_place *place;
	_Atomic size_t given;
};

/* ---- weights ---- */

#define AHEAD_PIXELS ((size_t)2 * PATCH_SIDE) /* how far ahead memory is fetched */

static void
load_row(struct square *square, const struct votes *votes, size_t row)
{
	size_t y = square->y0 + row - 1; /* wraps above the image */
	size_t first = square->x0 > 0 ? 0 : 1;
	size_t end = square->w + (square->x0 + square->w < votes->w ? 2 : 1);
	size_t x0 = square->x0 + first - 1;
	float *phase = square->phase[row], *share = square->share[row];

	for (size_t x = 0; x < ROW; x++)
		phase[x] = NAN;
	if (y >= votes->h)
		return;
	__builtin_prefetch(votes->patch + y * votes->w + x0 + AHEAD_PIXELS);
	__builtin_prefetch(votes->phase + y * votes->stride + x0 + AHEAD_PIXELS);
	for (size_t x = first; x < end; x++)
		phase[x] = votes->patch[y * votes->w + x0 + x - first] == NO_PATCH ? NAN
		    : votes->phase[y * votes->stride + x0 + x - first];
	if (!votes->quality)
		return;
	for (size_t x = first; x < end; x++)
		share[x] = vote_share(votes->quality[y * votes->quality_stride + x0 + x - first],
		    votes->quality_unit);
}

/* The weights of n pairs; shares: NULL where all count alike. */
static inline __attribute__((always_inline)) void
weigh_pairs(const float *restrict from, const float *restrict to, const float *restrict from_share,
    const float *restrict to_share, float unit, int32_t *restrict weight, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		float step = (to[x] - from[x]) * unit, distance = phase_distance(step);
		float share = !from_share || !to_share ? 1
		    : to_share[x] < from_share[x] ? to_share[x] : from_share[x];
		int32_t given = -(distance <= 0.5f); /* NaN: not */

		weight[x] = given & vote_weight(distance, share);
	}
}

static void
weigh_square(struct square *square, const struct votes *votes)
{
	float (*phase)[ROW] = square->phase, (*share)[ROW] = square->share;
	float unit = votes->unit;

	if (votes->quality)
		memset(square->share, 0, sizeof(square->share));
	for (size_t row = 0; row < PATCH_SIDE + 2; row++)
		load_row(square, votes, row);
	for (size_t y = 0; y < PATCH_SIDE; y++)
		if (votes->quality)
			weigh_pairs(phase[y + 1], phase[y + 1] + 1, share[y + 1], share[y + 1] + 1,
			    unit, square->along[y], ROW - 1);
		else
			weigh_pairs(phase[y + 1], phase[y + 1] + 1, NULL, NULL, unit,
			    square->along[y], ROW - 1);
	for (size_t y = 0; y <= PATCH_SIDE; y++)
		if (votes->quality)
			weigh_pairs(phase[y] + 1, phase[y + 1] + 1, share[y] + 1, share[y + 1] + 1,
			    unit, square->down[y], PATCH_SIDE);
		else
			weigh_pairs(phase[y] + 1, phase[y + 1] + 1, NULL, NULL, unit,
			    square->down[y], PATCH_SIDE);
}

/* The same of the pairs around a square that is one patch: no others vote. */
static void
weigh_sides(struct square *square, const struct votes *votes)
{
	size_t x1 = square->x0 + square->w, h = square->h, rows[4] = { 0, 1, h, h + 1 };
	float (*phase)[ROW] = square->phase;

	for (size_t i = 0; i < 4; i++)
		load_row(square, votes, rows[i]);
	for (size_t i = 0; i < 4; i += 2)
		weigh_pairs(phase[rows[i]] + 1, phase[rows[i + 1]] + 1, NULL, NULL,
		    votes->unit, square->down[rows[i]], PATCH_SIDE);
	for (size_t y = 0; y < h; y++) {
		const float *row = votes->phase + (square->y0 + y) * votes->stride;
		const int32_t *patch = votes->patch + (square->y0 + y) * votes->w;
		int32_t *along = square->along[y];

		along[0] = along[square->w] = 0;
		if (square->x0 > 0 && patch[square->x0 - 1] != NO_PATCH)
			weigh_pairs(row + square->x0 - 1, row + square->x0, NULL, NULL,
			    votes->unit, along, 1);
		if (x1 < votes->w && patch[x1] != NO_PATCH)
			weigh_pairs(row + x1 - 1, row + x1, NULL, NULL, votes->unit,
			    along + square->w, 1);
	}
}

static inline void
find_heaviest(const int32_t *restrict along, const int32_t *restrict above,
    const int32_t *restrict below, int32_t *restrict heaviest)
{
	CPU_SIMD
	for (size_t x = 0; x < PATCH_SIDE; x++) {
		int32_t left = along[x], right = along[x + 1], up = above[x], down = below[x];
		int32_t a = left > right ? left : right, b = up > down ? up : down;
		int32_t most = a > b ? a : b;
		int32_t many = (left == most) + (right == most) + (up == most) + (down == most);
		int32_t which = left == most ? 0 : right == most ? 1 : up == most ? 2 : 3;

		heaviest[x] = most == 0 ? NONE : which + (many > 1 ? SEVERAL : 0);
	}
}

static void
weigh_pixels(struct square *square, const struct votes *votes)
{
	weigh_square(square, votes);
	for (size_t y = 0; y < PATCH_SIDE; y++)
		find_heaviest(square->along[y], square->down[y], square->down[y + 1],
		    square->heaviest[y]);
}

/* Is a square that has one patch all of it, of pixels that count alike? */
static bool
is_whole(const struct square *square, const struct votes *votes)
{
	const int32_t *patch = votes->patch + square->y0 * votes->w + square->x0;

	return !votes->quality && square->w * square->h > 1 && *patch != NO_PATCH &&
	    patch[(square->h - 1) * votes->w + square->w - 1] == *patch;
}

/* ---- patches of several pixels, or at the image's rim ---- */

/* One side of a patch: n of its pixels, whose first pair this is, and their votes' weights. */
struct side {
	struct pair pair;
	size_t step, phase_step; /* to the side's next pixel */
	size_t n;
	const int32_t *weight;
	size_t weight_step;
};

/* The sides of a patch of w x h pixels from x, y of the square on. */
static void
find_sides(const struct square *square, const struct votes *votes, size_t x, size_t y, size_t w,
    size_t h, struct side side[4])
{
	size_t across = votes->w, stride = votes->stride;
	ptrdiff_t up = -(ptrdiff_t)across, phase_up = -(ptrdiff_t)stride;
	size_t at = (square->y0 + y) * across + square->x0 + x;
	size_t phase_at = (square->y0 + y) * stride + square->x0 + x;

	side[0] = (struct side){ { at, phase_at, -1, -1 }, across, stride, h,
		&square->along[y][x], ROW };
	side[1] = (struct side){ { at + w - 1, phase_at + w - 1, 1, 1 }, across, stride, h,
		&square->along[y][x + w], ROW };
	side[2] = (struct side){ { at, phase_at, up, phase_up }, 1, 1, w, &square->down[y][x], 1 };
	side[3] = (struct side){ { at + (h - 1) * across, phase_at + (h - 1) * stride, -up,
		-phase_up }, 1, 1, w, &square->down[y + h][x], 1 };
}

static inline struct pair
pair_of(const struct side *side, size_t i)
{
	struct pair pair = side->pair;

	pair.at += i * side->step;
	pair.phase_at += i * side->phase_step;
	return pair;
}

static inline int32_t
weight_of(const struct side *side, size_t i)
{
	return side->weight[i * side->weight_step];
}

/* The vote of the side's pixel i. */
static inline struct border
side_vote(const struct votes *votes, const struct side *side, size_t i, int32_t other)
{
	struct pair pair = pair_of(side, i);

	return (struct border){ vote_turns(votes, &pair, vote_step(votes, &pair)), other,
		weight_of(side, i) };
}

/* Of the side's pixels from i to `stop`, whose neighbours are of one patch. */
static void
judge_run(const struct votes *votes, const struct side *side, size_t i, size_t stop, size_t patch,
    int32_t other, struct best *best)
{
	struct border border[PATCH_SIDE];
	size_t kinds = 0, winner = 0;
	int64_t sum = 0;

	for (; i < stop; i++) {
		struct border vote = side_vote(votes, side, i, other);
		size_t k = 0;

		while (k < kinds && border[k].turns != vote.turns)
			k++;
		if (k == kinds)
			border[kinds++] = vote;
		else
			border[k].weight += vote.weight;
		sum += vote.weight;
	}
	for (size_t k = 1; k < kinds; k++)
		if (border_outweighs(&border[k], &border[winner]))
			winner = k;
	best_keep(best, patch, &border[winner], sum);
}

/* The sides of a patch have no neighbour in common: both are squares. Returns how many votes. */
static size_t
choose_neighbour(const struct square *square, const struct votes *votes, int32_t patch, size_t x,
    size_t y, size_t w, size_t h, struct choice *choice)
{
	struct side side[4];
	struct best best = NO_BEST;
	size_t given = 0;

	find_sides(square, votes, x, y, w, h, side);
	for (size_t s = 0; s < 4; s++)
		for (size_t i = 0, stop; i < side[s].n; i = stop) {
			struct pair pair = pair_of(&side[s], i);
			const int32_t *next = votes->patch + pair.at + pair.out;
			int32_t other;

			stop = i + 1;
			if (weight_of(&side[s], i) == 0)
				continue;
			other = *next;
			while (stop < side[s].n && weight_of(&side[s], stop) &&
			    next[(stop - i) * side[s].step] == other)
				stop++;
			given += stop - i;
			judge_run(votes, &side[s], i, stop, (size_t)patch, other, &best);
		}
	*choice = best.choice;
	return given;
}

/* ---- single pixels ---- */

/* Of the neighbours of a pixel whose votes weigh the same the first one in order of ties. */
static size_t
break_tie(const struct square *square, const int32_t *patch, const ptrdiff_t out[4], size_t x,
    size_t y)
{
	int32_t weight[4] = { square->along[y][x], square->along[y][x + 1], square->down[y][x],
		square->down[y + 1][x] };
	struct best best = NO_BEST;
	size_t found = 0;

	for (size_t i = 0; i < 4; i++) {
		int32_t before = best.choice.other;

		if (weight[i] == 0)
			continue;
		best_keep(&best, (size_t)*patch, &(struct border){ 0, patch[out[i]], weight[i] },
		    weight[i]);
		found = best.choice.other != before ? i : found;
	}
	return found;
}

static inline size_t
choose_pixel(const struct square *square, const struct votes *votes, size_t x, size_t y,
    struct choice *choice)
{
	ptrdiff_t across = (ptrdiff_t)votes->w, stride = (ptrdiff_t)votes->stride;
	const ptrdiff_t out[4] = { -1, 1, -across, across };
	const ptrdiff_t phase_out[4] = { -1, 1, -stride, stride };
	size_t row = square->y0 + y, column = square->x0 + x;
	struct pair pair = { row * votes->w + column, row * votes->stride + column, 0, 0 };
	const int32_t *patch = votes->patch + pair.at;
	size_t i = (size_t)square->heaviest[y][x];

	if (__builtin_expect(i >= SEVERAL, 0)) {
		if (i == NONE) {
			*choice = (struct choice){ NO_PATCH, 0 };
			return 0;
		}
		i = break_tie(square, patch, out, x, y);
	}
	pair.out = out[i];
	pair.phase_out = phase_out[i];
	*choice = (struct choice){ patch[pair.out],
		-vote_turns(votes, &pair, vote_step(votes, &pair)) };
	return 4;
}

/* ---- squares ---- */

/* The patches of the part of 2^level pixels at x, y of the square. */
static size_t
choose_part(const struct choosing *choosing, const struct square *square, size_t level, size_t x,
    size_t y)
{
	const struct votes *votes = choosing->votes;
	size_t across = votes->w, given = 0;
	size_t side = (size_t)1 << level, half = side / 2;
	size_t w = x + side < square->w ? side : square->w - x;
	size_t h = y + side < square->h ? side : square->h - y;
	size_t at = (square->y0 + y) * across + square->x0 + x;
	const int32_t *patch;

	if (x >= square->w || y >= square->h)
		return 0;
	patch = votes->patch + at;
	if (*patch != NO_PATCH && *patch == patch[(h - 1) * across + w - 1]) {
		choosing->place[*patch] =
		    (struct patch_place){ (uint32_t)at, (uint8_t)w, (uint8_t)h };
		if (level > 0)
			return choose_neighbour(
			    square, votes, *patch, x, y, w, h, &choosing->choice[*patch]);
		return choose_pixel(square, votes, x, y, &choosing->choice[*patch]);
	}
	for (size_t i = 0; i < 4 && level > 0; i++)
		given += choose_part(
		    choosing, square, level - 1, x + i % 2 * half, y + i / 2 * half);
	return given;
}

static void
choose_squares_row(void *arg, size_t j)
{
	struct choosing *choosing = arg;
	const struct patches *patches = choosing->patches;
	const int32_t *first = patches->first + j * patches->across;
	struct square square = { .y0 = j * PATCH_SIDE };
	size_t given = 0;

	square.h = patches_side(patches->h, square.y0);
	for (size_t i = 0; i < patches->across; i++) {
		if (first[i] == first[i + 1])
			continue;
		square.x0 = i * PATCH_SIDE;
		square.w = patches_side(patches->w, square.x0);
		if (first[i + 1] - first[i] == 1 && is_whole(&square, choosing->votes))
			weigh_sides(&square, choosing->votes);
		else
			weigh_pixels(&square, choosing->votes);
		given += choose_part(choosing, &square, 4, 0, 0);
	}
	atomic_fetch_add(&choosing->given, given);
}

size_t
patches_choose(struct run *run, const struct patches *patches, const struct votes *votes,
    struct choice *choice, struct patch_place *place)
{
	struct choosing choosing = { patches, votes, choice, place, 0 };

	run_for(run, patches->down, choose_squares_row, &choosing);
	return choosing.given;
}
