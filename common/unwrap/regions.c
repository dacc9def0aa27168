/*
 * Spatial unwrapping by regions: cuts the picture into patches of consistent phase, counts the
 * votes for turns along their borders, and joins patches, best border first, to components.
 */
#include "unwrap/regions.h"

#include <stdatomic.h>

#include "base/process.h"
#include "image/statistics.h"

/* How far two phases that are `step` turns apart are from whole turns: 0 to 0.5. NaN if one is. */
static inline float
phase_distance(float step)
{
	return fabsf(step - phase_round(step));
}

static void
patches_free(struct patches *patches)
{
	free_all(patches->patch, patches->turns, patches->share, patches->first);
	*patches = (struct patches){ 0 };
}

/* Memory for frames of a size; what was there is freed. -1 after fail(). */
static int
patches_begin(struct patches *patches, patches_cut *cut, size_t w, size_t h)
{
	patches_free(patches);
	if (w == 0 || h == 0 || w > INT32_MAX / h)
		return fail(NULL, "images of %zux%zu are too large to be unwrapped", w, h);
	patches->cut = cut;
	patches->w = w;
	patches->h = h;
	patches->across = (w + PATCH_SIDE - 1) / PATCH_SIDE;
	patches->down = (h + PATCH_SIDE - 1) / PATCH_SIDE;
	patches->patch = must_resize(NULL, w * h, sizeof(*patches->patch));
	patches->turns = must_resize(NULL, w * h, sizeof(*patches->turns));
	patches->first = must_alloc(patches->across * patches->down + 1, sizeof(*patches->first));
	return 0;
}

/* From numbers within a square to numbers within the image, of n pixels. */
static inline void
add_first(int32_t *restrict patch, int32_t first, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		patch[x] += patch[x] == NO_PATCH ? 0 : first;
}

static void
number_squares_row(void *arg, size_t j)
{
	const struct patches_job *job = arg;
	const struct patches *patches = job->patches;
	const int32_t *first = patches->first + j * patches->across;
	size_t end = (j + 1) * PATCH_SIDE < patches->h ? (j + 1) * PATCH_SIDE : patches->h;

	for (size_t y = j * PATCH_SIDE; y < end; y++) {
		int32_t *patch = patches->patch + y * patches->w;
		size_t whole = patches->w / PATCH_SIDE;

		for (size_t i = 0; i < whole; i++)
			add_first(patch + i * PATCH_SIDE, first[i], PATCH_SIDE);
		if (whole < patches->across)
			add_first(patch + whole * PATCH_SIDE, first[whole],
			    patches->w - whole * PATCH_SIDE);
	}
}

/* The patches of a phase of that size. */
static void
patches_find(struct run *run, struct patches *patches, const struct phase_plane *phase)
{
	struct patches_job job = { .patches = patches, .phase = phase };
	int32_t before = 0;

	run_for(run, patches->down, patches->cut, &job);
	for (size_t i = 0; i < patches->across * patches->down; i++) {
		int32_t count = patches->first[i];

		patches->first[i] = before;
		before += count;
	}
	patches->first[patches->across * patches->down] = before;
	run_for(run, patches->down, number_squares_row, &job);
}

/* ---- shares ---- */

#define SHARES_SAMPLED 8192 /* for their quantile, about */
/* Larger shares than this quantile count like it: measured over 64 maps of each kind of terrain in
 * tests/unwrap_maps.py, and on noise. */
#define SHARE_ALIKE 0.5
/* Of the most that the variance of the squares' patches can be, m (PATCH_SIDE^2 - m): above it some
 * parts of the image are much noisier than others. It is 0.15 to 0.48 on those maps; 0.02 where the
 * noise is the same everywhere, at most, and along a fault; 0.08 where it is 0.3 to 1.5 rad. */
#define SPREAD_UNEVEN 0.12

/* Is the noise uneven? A square has the more patches the noisier it is, from 1 on. */
static bool
patches_are_uneven(const struct patches *patches)
{
	const double most = PATCH_SIDE * PATCH_SIDE;
	double n = 0, sum = 0, squares = 0, mean;

	for (size_t i = 0; i < patches->across * patches->down; i++) {
		double count = patches->first[i + 1] - patches->first[i];

		n += count > 0;
		sum += count;
		squares += count * count;
	}
	mean = n > 0 ? sum / n : 0;
	return n > 0 && squares / n - mean * mean > SPREAD_UNEVEN * mean * (most - mean);
}

/* The share from which on all count alike; NAN: no pixel is valid. */
static float
share_quantile(const struct patches *patches)
{
	size_t pixels = patches->w * patches->h, step = 1 + pixels / SHARES_SAMPLED, n = 0;
	double *v = must_alloc(pixels / step + 1, sizeof(*v));
	float share;

	for (size_t i = 0; i < pixels; i += step)
		if (patches->patch[i] != NO_PATCH)
			v[n++] = (double)patches->share[i];
	share = n ? (float)statistics_quantile(v, n, SHARE_ALIKE) : NAN;
	free(v);
	return share;
}

/* The shares of a phase's pixels, into patches->share, if its noise is uneven. Returns the one that
 * counts fully; NAN: there are none. */
static float
shares_find(struct run *run, struct patches *patches, const struct phase_plane *phase,
    const struct phase_plane *quality)
{
	struct patches_job job = { patches, phase, quality, true };

	if (!patches_are_uneven(patches))
		return NAN;
	if (!patches->share)
		patches->share = must_resize(NULL, patches->w * patches->h,
		    sizeof(*patches->share));
	run_for(run, patches->down, patches->cut, &job);
	return share_quantile(patches);
}

/* ---- votes ---- */

/* The weight of a pair half a turn apart, and how much more one has that agrees; their sum is
 * rounded by phase_round(). */
#define VOTE_LEAST (64 << VOTE_SHIFT)
#define VOTE_STEPS (1024 << VOTE_SHIFT)
#define VOTE_SHIFT 11 /* shares of votes are divided so finely */

/* Where a plane's rows begin; samples from one to the next. */
static inline const float *
votes_rows(const struct phase_plane *plane, size_t *stride)
{
	const float *rows = phase_row(plane, 0);

	*stride = plane->frame->head.h > 1 ? (size_t)(phase_row(plane, 1) - rows) : 0;
	return rows;
}

/* most: as of shares_find(). */
static inline struct votes
votes_of(const struct patches *patches, const struct phase_plane *phase,
    const struct phase_plane *quality, float most)
{
	struct votes votes = { .w = patches->w, .h = patches->h, .patch = patches->patch,
		.turns = patches->turns, .unit = phase->turns };

	votes.phase = votes_rows(phase, &votes.stride);
	if (!isnan(most)) {
		votes.quality = patches->share;
		votes.quality_stride = patches->w;
		votes.quality_unit = 1 / most;
	} else if (quality) {
		votes.quality = votes_rows(quality, &votes.quality_stride);
		votes.quality_unit = quality->turns;
	}
	return votes;
}

/* How far a pixel's vote counts, 0 to 1. */
static inline float
vote_share(float quality, float unit)
{
	float q = quality * unit;

	return q > 0 ? (q < 1 ? q : 1) : 0;
}

/* The weight of a pair that `distance` turns part when they are nearest together. */
static inline int32_t
vote_weight(float distance, float share)
{
	return 1 + (int32_t)phase_round((VOTE_LEAST + VOTE_STEPS * (1 - 2 * distance)) * share);
}

static inline float
vote_step(const struct votes *votes, const struct pair *pair)
{
	const float *phase = votes->phase + pair->phase_at;

	return (phase[pair->phase_out] - *phase) * votes->unit;
}

/* The turns that the pair's second patch needs beside the first one's. */
static inline int32_t
vote_turns(const struct votes *votes, const struct pair *pair, float step)
{
	const int32_t *turns = votes->turns + pair->at;

	return *turns - turns[pair->out] - (int32_t)phase_round(step);
}

/* The lesser share of the pair's pixels. */
static inline float
vote_pair_share(const struct votes *votes, const struct pair *pair)
{
	size_t at = pair->at, other = at + (size_t)pair->out, w = votes->w;
	float a, b;

	if (!votes->quality)
		return 1;
	a = vote_share(votes->quality[at / w * votes->quality_stride + at % w],
	    votes->quality_unit);
	b = vote_share(votes->quality[other / w * votes->quality_stride + other % w],
	    votes->quality_unit);
	return a < b ? a : b;
}

#define NO_BEST ((struct best){ { -1, 0 }, INT64_MIN })

/* Of all votes about one neighbour, which sum to so much, the most are for `winner`. */
static inline void
best_keep(struct best *best, size_t region, const struct border *winner, int64_t sum)
{
	int64_t margin = 2 * winner->weight - sum;
	bool better = margin > best->margin;

	if (__builtin_expect(margin == best->margin, 0))
		better = border_tie(region, (size_t)winner->other) >
		    border_tie(region, (size_t)best->choice.other);
	best->choice.other = better ? winner->other : best->choice.other;
	best->choice.turns = better ? -winner->turns : best->choice.turns;
	best->margin = better ? margin : best->margin;
}

/* Of borders to one region the heavier one wins, then that of fewer turns, then a negative one. */
static inline bool
border_outweighs(const struct border *a, const struct border *b)
{
	int64_t fewer = (int64_t)(a->turns < 0 ? -a->turns : a->turns) -
	    (b->turns < 0 ? -b->turns : b->turns);

	if (a->weight != b->weight)
		return a->weight > b->weight;
	return fewer ? fewer < 0 : a->turns < b->turns;
}

#define FIRST_ROOM 512 /* the tables of so many stay in the first cache */

static uint32_t
more_slot(uint32_t sum, int32_t turns, uint32_t shift)
{
	return border_slot(sum * 0x85EBCA6Bu ^ (uint32_t)turns, shift);
}

/* Puts what the lists have into tables of twice their room. */
static void
fill_tables(struct border_sums *sums)
{
	size_t slots = 2 * sums->room;
	uint32_t mask = (uint32_t)slots - 1;

	free(sums->slot);
	free(sums->more_slot);
	sums->slot = must_alloc(slots, sizeof(*sums->slot));
	sums->more_slot = must_alloc(slots, sizeof(*sums->more_slot));
	for (sums->shift = 32; slots > 1; slots /= 2)
		sums->shift--;
	for (size_t i = 1; i < sums->n; i++) {
		uint32_t at = border_slot((uint32_t)sums->sum[i].border.other, sums->shift);

		while (sums->slot[at])
			at = (at + 1) & mask;
		sums->slot[at] = (uint32_t)i;
		sums->sum[i].slot = at;
	}
	for (size_t i = 1; i < sums->more_n; i++) {
		uint32_t at = more_slot(sums->more[i].sum, sums->more[i].turns, sums->shift);

		while (sums->more_slot[at])
			at = (at + 1) & mask;
		sums->more_slot[at] = (uint32_t)i;
		sums->more[i].slot = at;
	}
}

static void
set_room(struct border_sums *sums, size_t room)
{
	sums->sum = must_resize(sums->sum, room, sizeof(*sums->sum));
	memset(sums->sum + sums->room, 0, (room - sums->room) * sizeof(*sums->sum));
	sums->more = must_resize(sums->more, room, sizeof(*sums->more));
	sums->room = room;
	fill_tables(sums);
}

void
border_sums_begin(struct border_sums *sums)
{
	*sums = (struct border_sums){ .n = 1, .more_n = 1 };
	set_room(sums, FIRST_ROOM);
}

void
border_sums_free(struct border_sums *sums)
{
	free_all(sums->sum, sums->more, sums->slot, sums->more_slot);
	*sums = (struct border_sums){ 0 };
}

void
border_sums_grow(struct border_sums *sums, size_t n)
{
	size_t needed = (sums->n > sums->more_n ? sums->n : sums->more_n) + n, room = sums->room;

	while (room < needed)
		room *= 2;
	if (room > UINT32_MAX / 4)
		out_of_memory();
	set_room(sums, room);
}

void
border_sums_add_more(struct border_sums *sums, uint32_t sum, int32_t turns, int64_t weight)
{
	uint32_t at = more_slot(sum, turns, sums->shift), i;

	while ((i = sums->more_slot[at]) &&
	    (sums->more[i].sum != sum || sums->more[i].turns != turns))
		at = (at + 1) & (UINT32_MAX >> sums->shift);
	if (i) {
		sums->more[i].weight += weight;
		return;
	}
	i = (uint32_t)sums->more_n++;
	sums->more_slot[at] = i;
	sums->more[i] = (struct border_more){ turns, sum, at, sums->sum[sum].more, weight };
	sums->sum[sum].more = i;
}

/* Lists the other turns of a border; *winner is the heaviest of all. Returns their weight. */
static int64_t
list_more(struct border_sums *sums, const struct border_sum *sum, struct border *list, size_t *n,
    struct border *winner)
{
	int64_t weight = 0;

	for (uint32_t i = sum->more; i; i = sums->more[i].next) {
		const struct border_more *more = &sums->more[i];
		struct border border = { more->turns, sum->border.other, more->weight };

		if (border_outweighs(&border, winner))
			*winner = border;
		list[(*n)++] = border;
		weight += border.weight;
		sums->more_slot[more->slot] = 0;
	}
	return weight;
}

size_t
border_sums_finish(struct border_sums *sums, int32_t region, struct border *list,
    struct choice *choice)
{
	struct best best = NO_BEST;
	struct border_sum *sum = sums->sum + 1;
	size_t n = 0;

	sums->slot[sum->slot] = 0; /* the region itself */
	*sum = (struct border_sum){ 0 };
	for (sum++; sum < sums->sum + sums->n; sum++) {
		struct border winner = sum->border;
		int64_t weight = winner.weight;

		list[n++] = winner;
		if (sum->more)
			weight += list_more(sums, sum, list, &n, &winner);
		sums->slot[sum->slot] = 0;
		*sum = (struct border_sum){ 0 };
		best_keep(&best, (size_t)region, &winner, weight);
	}
	sums->n = sums->more_n = 1;
	*choice = best.choice;
	return n;
}

/* A patch's first pixel, and how far it reaches. */
struct patch_place {
	uint32_t at; /* counted row by row */
	uint8_t w, h;
};

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
	_Atomic size_t given;	/* votes, each pair counted from either side */
};

/* ---- weights ---- */

#define FIRST_AHEAD_PIXELS ((size_t)2 * PATCH_SIDE) /* how far ahead memory is fetched */

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
	__builtin_prefetch(votes->patch + y * votes->w + x0 + FIRST_AHEAD_PIXELS);
	__builtin_prefetch(votes->phase + y * votes->stride + x0 + FIRST_AHEAD_PIXELS);
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

#define NO_MEMBER (-1)

/* Room for n regions with so many borders in all, at first {0}; what was there is lost, and memory
 * kept where it is enough. */
static void
regions_reserve(struct regions *regions, size_t n, size_t borders)
{
	regions->n = n;
	regions->borders = 0;
	if (n >= regions->room) {
		free(regions->first);
		free(regions->end);
		regions->room = n + 1;
		regions->first = must_large(regions->room, sizeof(*regions->first));
		regions->end = must_large(regions->room, sizeof(*regions->end));
	}
	if (borders >= regions->border_room) {
		free(regions->border);
		regions->border_room = borders + 1;
		regions->border = must_large(regions->border_room, sizeof(*regions->border));
	}
}

/* What regions are made of: patches, by the votes of their pixels, or regions that have borders. */
struct source {
	struct votes votes;
	const struct patch_place *place;
	struct regions from;
	struct members members;
};

/* What a thread needs to gather a chunk of regions: sums of one, and the borders of all. */
struct scratch {
	struct border_sums sums;
	struct border *border;
	size_t n, room; /* borders */
};

#define SPARE_MOST 64

struct gathering {
	struct source source;
	struct regions *regions;
	struct choice *choice;
	_Atomic size_t used; /* borders: chunks take their part as they are done */
	_Atomic(struct scratch *) spare[SPARE_MOST]; /* what threads have done with */
};

/* ---- members ---- */

/* How far ahead of what is read memory is fetched: two squares of patches, some twenty regions. The
 * processor does not foresee it by itself, for members come from all rows of a square in turns. */
#define AHEAD_PIXELS ((size_t)2 * PATCH_SIDE)
#define AHEAD_PATCHES 384
#define AHEAD_BORDERS 128

/* Adds n votes of a side of a patch of region r, which has so many turns. */
static inline __attribute__((always_inline)) void
add_votes(const struct source *source, struct pair pair, size_t step, size_t phase_step,
    size_t n, int32_t turns, int32_t r, struct border_sums *sums)
{
	const struct votes *votes = &source->votes;
	const int32_t *patch = votes->patch + pair.at + pair.out;
	struct border sum = { 0, r, 0 }; /* votes of neighbours that are alike, which are many */

	for (size_t i = 0; i < n; i++) {
		int32_t other = *patch;

		if (other != NO_PATCH) {
			struct choice to = source->members.region[other];
			float distance = vote_step(votes, &pair);
			int32_t own = vote_turns(votes, &pair, distance) + turns - to.turns;

			own = to.other == r ? 0 : own;
			if (to.other != sum.other || own != sum.turns) {
				border_sums_add(sums, sum.other, sum.turns, sum.weight);
				sum = (struct border){ own, to.other, 0 };
			}
			sum.weight +=
			    vote_weight(phase_distance(distance), vote_pair_share(votes, &pair));
		}
		pair.at += step;
		pair.phase_at += phase_step;
		patch += step;
	}
	border_sums_add(sums, sum.other, sum.turns, sum.weight);
}

/* The four votes of a patch of one pixel that is inside the image. */
static inline __attribute__((always_inline)) void
add_pixel(const struct source *source, size_t at, size_t phase_at, int32_t turns, int32_t r,
    struct border_sums *sums)
{
	const struct votes *votes = &source->votes;
	const int32_t *patch = votes->patch + at, *own = votes->turns + at;
	const float *phase = votes->phase + phase_at;
	ptrdiff_t across = (ptrdiff_t)votes->w, stride = (ptrdiff_t)votes->stride;
	const ptrdiff_t out[4] = { -1, 1, -across, across };
	const float step[4] = { phase[-1] - *phase, phase[1] - *phase, phase[-stride] - *phase,
		phase[stride] - *phase };
	int32_t whole[4], weight[4];

	CPU_SIMD
	for (size_t i = 0; i < 4; i++) {
		float turn = step[i] * votes->unit;

		whole[i] = (int32_t)phase_round(turn);
		weight[i] = vote_weight(phase_distance(turn), 1);
	}
	turns += *own;
#pragma GCC unroll 4
	for (size_t i = 0; i < 4; i++) {
		int32_t other = patch[out[i]];
		struct choice to;

		if (other == NO_PATCH)
			continue;
		to = source->members.region[other];
		border_sums_add(sums, to.other,
		    to.other == r ? 0 : turns - own[out[i]] - whole[i] - to.turns, weight[i]);
	}
}

static inline size_t
patch_votes(const struct source *, size_t)
{
	return 4 * PATCH_SIDE;
}

static inline __attribute__((always_inline)) void
add_patch(const struct source *source, size_t patch, int32_t r, struct border_sums *sums)
{
	const struct votes *votes = &source->votes;
	struct patch_place place = source->place[patch];
	size_t across = votes->w, stride = votes->stride, w = place.w, h = place.h;
	size_t x = place.at % (uint32_t)across, y = place.at / (uint32_t)across;
	size_t at = place.at, phase_at = y * stride + x;
	ptrdiff_t up = -(ptrdiff_t)across, phase_up = -(ptrdiff_t)stride;
	int32_t turns = source->members.region[patch].turns;

	__builtin_prefetch(source->place + patch + AHEAD_PATCHES);
	__builtin_prefetch(source->members.region + patch + AHEAD_PATCHES);
	__builtin_prefetch(votes->patch + at + AHEAD_PIXELS);
	__builtin_prefetch(votes->turns + at + AHEAD_PIXELS);
	__builtin_prefetch(votes->phase + phase_at + AHEAD_PIXELS);
	if (place.w * place.h == 1 && x > 0 && y > 0 && x + 1 < votes->w && y + 1 < votes->h &&
	    !votes->quality) {
		add_pixel(source, at, phase_at, turns, r, sums);
		return;
	}
	if (x > 0)
		add_votes(source, (struct pair){ at, phase_at, -1, -1 }, across, stride, h,
		    turns, r, sums);
	if (x + w < across)
		add_votes(source, (struct pair){ at + w - 1, phase_at + w - 1, 1, 1 }, across,
		    stride, h, turns, r, sums);
	if (y > 0)
		add_votes(source, (struct pair){ at, phase_at, up, phase_up }, 1, 1, w, turns,
		    r, sums);
	if (y + h < votes->h)
		add_votes(source, (struct pair){ at + (h - 1) * across,
		    phase_at + (h - 1) * stride, -up, -phase_up }, 1, 1, w, turns, r, sums);
}

/* The same where no pixel has a weight. */
static inline __attribute__((always_inline)) void
add_patch_alike(const struct source *source, size_t patch, int32_t r, struct border_sums *sums)
{
	struct source alike = *source;

	alike.votes.quality = NULL;
	add_patch(&alike, patch, r, sums);
}

static inline size_t
region_votes(const struct source *source, size_t region)
{
	return source->from.end[region] - source->from.first[region];
}

static inline __attribute__((always_inline)) void
add_region(const struct source *source, size_t region, int32_t r, struct border_sums *sums)
{
	const struct border *border = source->from.border + source->from.first[region];
	const struct border *end = source->from.border + source->from.end[region];
	int32_t turns = source->members.region[region].turns;

	__builtin_prefetch(border + AHEAD_BORDERS);
	__builtin_prefetch(border + AHEAD_BORDERS + 4);
	for (; border < end; border++) {
		struct choice to = source->members.region[border->other];

		border_sums_add(sums, to.other,
		    to.other == r ? 0 : border->turns + turns - to.turns, border->weight);
	}
}

/* ---- chunks of regions ---- */

static void
free_scratch(struct scratch *scratch)
{
	if (scratch)
		border_sums_free(&scratch->sums);
	if (scratch)
		free(scratch->border);
	free(scratch);
}

/* Scratch memory for one chunk: that of one that is done, if there is some. */
static struct scratch *
take_scratch(struct gathering *gathering)
{
	struct scratch *scratch = NULL;

	for (size_t i = 0; i < SPARE_MOST && !scratch; i++)
		scratch = atomic_exchange(&gathering->spare[i], NULL);
	if (scratch)
		return scratch;
	scratch = must_alloc(1, sizeof(*scratch));
	border_sums_begin(&scratch->sums);
	return scratch;
}

static void
make_room(struct scratch *scratch, size_t n)
{
	if (scratch->n + n <= scratch->room)
		return;
	scratch->room = 2 * (scratch->n + n) + 8 * CHUNK;
	scratch->border = must_resize(scratch->border, scratch->room, sizeof(*scratch->border));
}

typedef size_t votes_fn(const struct source *, size_t member);
typedef void add_fn(const struct source *, size_t member, int32_t r, struct border_sums *);

static inline __attribute__((always_inline)) void
gather(const struct gathering *gathering, size_t r0, size_t r1, votes_fn *votes, add_fn *add,
    struct scratch *scratch)
{
	const struct source source = gathering->source; /* which no store can change */
	struct regions *regions = gathering->regions;
	struct border_sums *sums = &scratch->sums;

	for (size_t r = r0; r < r1; r++) {
		border_sums_of(sums, (int32_t)r);
		for (int32_t m = source.members.head[r]; m != NO_MEMBER;
		     m = source.members.next[m]) {
			border_sums_reserve(sums, votes(&source, (size_t)m));
			add(&source, (size_t)m, (int32_t)r, sums);
		}
		make_room(scratch, border_sums_count(sums));
		regions->first[r] = scratch->n;
		scratch->n += border_sums_finish(
		    sums, (int32_t)r, scratch->border + scratch->n, &gathering->choice[r]);
		regions->end[r] = scratch->n;
	}
}

static inline __attribute__((always_inline)) void
gather_chunk(struct gathering *gathering, size_t chunk, votes_fn *votes, add_fn *add)
{
	struct regions *regions = gathering->regions;
	struct scratch *scratch = take_scratch(gathering);
	size_t r0 = chunk * CHUNK, r1 = r0 + CHUNK < regions->n ? r0 + CHUNK : regions->n, at;

	gather(gathering, r0, r1, votes, add, scratch);
	at = atomic_fetch_add(&gathering->used, scratch->n);
	if (scratch->n > 0)
		memcpy(regions->border + at, scratch->border, scratch->n * sizeof(struct border));
	scratch->n = 0;
	for (size_t i = 0; i < SPARE_MOST && scratch; i++)
		scratch = atomic_exchange(&gathering->spare[i], scratch);
	free_scratch(scratch);
	for (size_t r = r0; r < r1; r++) {
		regions->first[r] += at;
		regions->end[r] += at;
	}
}

static void
gather_patches_chunk(void *arg, size_t chunk)
{
	struct gathering *gathering = arg;

	if (gathering->source.votes.quality)
		gather_chunk(gathering, chunk, patch_votes, add_patch);
	else
		gather_chunk(gathering, chunk, patch_votes, add_patch_alike);
}

static void
gather_regions_chunk(void *arg, size_t chunk)
{
	gather_chunk(arg, chunk, region_votes, add_region);
}

/* The borders of n regions, and the regions' choices. There are at most so many borders. */
static void
gather_all(struct run *run, struct gathering *gathering, size_t n, size_t borders,
    void (*gather_one)(void *arg, size_t chunk))
{
	/* of the room for all votes only what is used is ever touched */
	regions_reserve(gathering->regions, n, borders);
	run_for(run, chunks(n, CHUNK), gather_one, gathering);
	for (size_t i = 0; i < SPARE_MOST; i++)
		free_scratch(gathering->spare[i]);
	gathering->regions->borders = gathering->used;
}

#define PATH_MOST 64 /* choices on the way to a root, for threads that follow them by themselves */
#define WORD 64	     /* regions whose bits are in one word */
#define FOLLOW_CHUNK (64 * WORD) /* regions whose choices a thread follows at a time */

/* One round: regions choose each other, and their trees of choices are the next regions. */
struct round {
	size_t n; /* regions */
	const struct choice *choice; /* of each region */
	struct choice *region; /* the next region that each becomes part of, and the turns to it */
	uint64_t *roots;       /* a bit of each region: is it a root? */
	int32_t *rank;	       /* how many roots are before each word of `roots`, and in all */
	uint64_t *foreign;     /* a bit of each region whose root is in another chunk */
	int32_t *head, *next;  /* lists of the next regions' members */
	_Atomic bool far;      /* a root is more than PATH_MOST choices away */
};

/* Memory for n items, of which what was there is lost. */
static void *
keep(struct kept_array *array, size_t n, size_t bytes)
{
	if (array->bytes < n * bytes) {
		free(array->v);
		array->v = must_large(n, bytes);
		array->bytes = n * bytes;
	}
	return array->v;
}

/* ---- roots ---- */

/* Is region i a root: does it border on nothing, or is it the first of two that have chosen each
 * other? */
static inline bool
is_root(const struct choice *choice, size_t i)
{
	int32_t other = choice[i].other, back = choice[other < 0 ? 0 : other].other;

	return (other < 0) | ((other > (int32_t)i) & (back == (int32_t)i));
}

static void
mark_roots_chunk(void *arg, size_t chunk)
{
	struct round *round = arg;
	size_t end = (chunk + 1) * FOLLOW_CHUNK < round->n ? (chunk + 1) * FOLLOW_CHUNK : round->n;

	for (size_t i = chunk * FOLLOW_CHUNK; i < end; i += WORD) {
		uint64_t word = 0;
		int32_t roots = 0;

		for (size_t k = 0; k < WORD && i + k < end; k++) {
			bool root = is_root(round->choice, i + k);

			word |= (uint64_t)root << k;
			roots += root;
		}
		round->roots[i / WORD] = word;
		round->rank[i / WORD] = roots;
	}
}

static inline bool
has_bit(const uint64_t *bits, size_t i)
{
	return bits[i / WORD] >> (i % WORD) & 1;
}

/* How many bits are set (Hacker's Delight, 5-1): not every processor has an instruction for it. */
static inline int32_t
count_bits(uint64_t v)
{
	v -= v >> 1 & 0x5555555555555555u;
	v = (v & 0x3333333333333333u) + (v >> 2 & 0x3333333333333333u);
	return (int32_t)(((v + (v >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u >> 56);
}

/* A root's number among the next regions. */
static inline int32_t
root_number(const struct round *round, size_t root)
{
	uint64_t before = round->roots[root / WORD] & (((uint64_t)1 << root % WORD) - 1);

	return round->rank[root / WORD] + count_bits(before);
}

/* ---- trees of choices ---- */

static inline void
add_member(struct round *round, size_t i)
{
	int32_t *head = &round->head[round->region[i].other];

	round->next[i] = *head;
	*head = (int32_t)i;
}

/* Follows the choices from each region of a chunk to its root, as far as PATH_MOST. Those whose
 * root is in the same chunk become members here. */
static void
follow_choices_chunk(void *arg, size_t chunk)
{
	struct round *round = arg;
	const struct choice *choice = round->choice;
	size_t start = chunk * FOLLOW_CHUNK;
	size_t end = start + FOLLOW_CHUNK < round->n ? start + FOLLOW_CHUNK : round->n;
	size_t last = (end + WORD - 1) / WORD;

	memset(round->foreign + start / WORD, 0, (last - start / WORD) * sizeof(*round->foreign));
	for (int32_t r = round->rank[start / WORD]; r < round->rank[last]; r++)
		round->head[r] = NO_MEMBER;
	for (size_t i = start; i < end; i++) {
		size_t at = i;
		int32_t turns = 0, steps = 0;

		for (; !has_bit(round->roots, at) && steps < PATH_MOST; steps++) {
			turns += choice[at].turns;
			at = (size_t)choice[at].other;
		}
		if (!has_bit(round->roots, at)) {
			round->region[i].other = NO_PATCH;
			round->far = true;
		} else {
			round->region[i] = (struct choice){ root_number(round, at), turns };
		}
		if (has_bit(round->roots, at) && at - start < FOLLOW_CHUNK)
			add_member(round, i);
		else
			round->foreign[i / WORD] |= (uint64_t)1 << i % WORD;
	}
}

/* The same for regions that are further away; every region on the way gets what it leads to. */
static void
follow_far_choices(struct round *round)
{
	const struct choice *choice = round->choice;
	struct choice *region = round->region;

	for (size_t i = 0; i < round->n; i++) {
		int32_t at = (int32_t)i, turns = 0, number;

		for (; region[at].other == NO_PATCH; at = choice[at].other)
			turns += choice[at].turns;
		number = region[at].other;
		turns += region[at].turns;
		for (at = (int32_t)i; region[at].other == NO_PATCH; at = choice[at].other) {
			region[at] = (struct choice){ number, turns };
			turns -= choice[at].turns;
		}
	}
}

/* The next regions: one for each tree of choices, by the number of its root. Returns how many there
 * are. */
static size_t
find_trees(struct run *run, struct round *round)
{
	size_t words = chunks(round->n, WORD), all = chunks(round->n, FOLLOW_CHUNK);
	int32_t roots = 0;

	run_for(run, all, mark_roots_chunk, round);
	for (size_t word = 0; word < words; word++) {
		int32_t own = round->rank[word];

		round->rank[word] = roots;
		roots += own;
	}
	round->rank[words] = roots;
	round->far = false;
	run_for(run, all, follow_choices_chunk, round);
	if (round->far)
		follow_far_choices(round);
	for (size_t word = 0; word * WORD < round->n; word++)
		for (uint64_t bits = round->foreign[word]; bits; bits &= bits - 1)
			add_member(round, word * WORD + (size_t)__builtin_ctzll(bits));
	return (size_t)roots;
}

/* ---- levels ---- */

/* Where the regions of a level end up: `region` says where they are, `next` what becomes of that.
 */
struct composing {
	struct choice *region;
	const struct choice *next;
	size_t n;
};

static void
compose_chunk(void *arg, size_t chunk)
{
	const struct composing *composing = arg;
	struct choice *region = composing->region;
	size_t end = (chunk + 1) * FOLLOW_CHUNK;

	for (size_t i = chunk * FOLLOW_CHUNK; i < end && i < composing->n; i++) {
		struct choice next = composing->next[region[i].other];

		region[i] = (struct choice){ next.other, region[i].turns + next.turns };
	}
}

static void
compose(struct run *run, struct choice *region, size_t n, const struct choice *next)
{
	run_for(run, chunks(n, FOLLOW_CHUNK), compose_chunk,
	    &(struct composing){ region, next, n });
}

/* ---- rounds ---- */

static void
make_round(struct joining *joining, struct round *round)
{
	size_t n = joining->patches + 1, words = chunks(n, WORD) + 1;

	round->choice = keep(&joining->choice, n, sizeof(struct choice));
	round->roots = keep(&joining->roots, words, sizeof(*round->roots));
	round->rank = keep(&joining->rank, words, sizeof(*round->rank));
	round->foreign = keep(&joining->foreign, words, sizeof(*round->foreign));
	round->head = keep(&joining->head, n, sizeof(*round->head));
	round->next = keep(&joining->next, n, sizeof(*round->next));
	keep(&joining->place, n, sizeof(struct patch_place));
}

/* Rounds until there are no borders. Each leaves a level: of each of its regions the next one. */
static void
join_rounds(struct run *run, const struct patches *patches, const struct votes *votes,
    struct joining *joining, struct round *round)
{
	struct patch_place *place = joining->place.v;
	struct choice *choice = joining->choice.v;
	struct choosing choosing = { patches, votes, choice, place, 0 };
	size_t level = 0, n[LEVELS_MOST] = { round->n };
	struct regions *now = &joining->regions[0], *next = &joining->regions[1];

	run_for(run, patches->down, choose_squares_row, &choosing);
	for (;;) {
		struct gathering gathering = { .regions = next, .choice = choice };
		bool first = !joining->joined;
		size_t roots;

		round->region = keep(&joining->level[level], round->n + 1, sizeof(struct choice));
		roots = find_trees(run, round);
		if (level == 0)
			joining->joined = round->region;
		if (!first && roots == round->n)
			break;
		gathering.source = (struct source){ *votes, place, *now,
			{ round->region, round->head, round->next } };
		gather_all(run, &gathering, roots, first ? choosing.given : now->borders,
		    first ? gather_patches_chunk : gather_regions_chunk);
		n[level] = round->n;
		if (level > 0 && 2 * n[level] > n[level - 1])
			compose(run, joining->level[level - 1].v, n[level - 1], round->region);
		else
			level++;
		round->n = roots;
		now = next;
		next = next == joining->regions ? &joining->regions[1] : joining->regions;
	}
	joining->components = round->n;
	for (; level > 1; level--)
		compose(run, joining->level[level - 2].v, n[level - 2],
		    joining->level[level - 1].v);
}

/* Joins the patches of a phase; quality as in struct votes. */
static void
join_patches(struct run *run, struct patches *patches, const struct phase_plane *phase,
    const struct phase_plane *quality, struct joining *joining)
{
	struct round round = { .n = (size_t)patches->first[patches->across * patches->down] };
	struct votes votes = votes_of(patches, phase, quality,
	    shares_find(run, patches, phase, quality));

	joining->patches = round.n;
	joining->joined = NULL;
	make_round(joining, &round);
	join_rounds(run, patches, &votes, joining, &round);
}

static void
joining_free(struct joining *joining)
{
	free_all(joining->choice.v, joining->place.v, joining->head.v, joining->next.v,
	    joining->roots.v, joining->rank.v, joining->foreign.v);
	for (size_t i = 0; i < LEVELS_MOST; i++)
		free(joining->level[i].v);
	for (struct regions *own = joining->regions; own < joining->regions + 2; own++)
		free_all(own->first, own->end, own->border);
	*joining = (struct joining){ 0 };
}

/* Pixels of one component along a row. */
struct stretch {
	int32_t component;
	size_t size;
	int64_t turns;
};

static void
add_stretch(struct components *components, const struct stretch *stretch)
{
	struct component *component = &components->component[stretch->component];

	if (stretch->size == 0)
		return;
	__atomic_fetch_add(&component->size, stretch->size, __ATOMIC_RELAXED);
	__atomic_fetch_add(&component->turns, stretch->turns, __ATOMIC_RELAXED);
}

/* n pixels of a patch, whose own turns sum to so many, go on with the stretch or begin the next. */
static inline void
add_pixels(struct components *components, int32_t patch, size_t n, int32_t turns,
    struct stretch *stretch)
{
	struct choice joined = components->joined[patch];

	if (joined.other != stretch->component) {
		add_stretch(components, stretch);
		*stretch = (struct stretch){ joined.other, 0, 0 };
	}
	stretch->size += n;
	stretch->turns += turns + (int64_t)n * joined.turns;
}

static void
count_row(void *arg, size_t y)
{
	struct components *components = arg;
	size_t w = components->patches->w;
	const int32_t *patch = components->patches->patch + y * w;
	const int32_t *turns = components->patches->turns + y * w;
	struct stretch stretch = { 0 };

	for (size_t x = 0; x < w;) {
		int32_t sum = 0;

		if (x % PATCH_SIDE == 0 && x + PATCH_SIDE <= w && patches_is_whole(patch + x)) {
			for (size_t i = 0; i < PATCH_SIDE; i++)
				sum += turns[x + i];
			add_pixels(components, patch[x], PATCH_SIDE, sum, &stretch);
			x += PATCH_SIDE;
		} else {
			if (patch[x] != NO_PATCH)
				add_pixels(components, patch[x], 1, turns[x], &stretch);
			x++;
		}
	}
	add_stretch(components, &stretch);
}

int
unwrapping_begin(struct unwrapping *unwrapping, patches_cut *cut, size_t w, size_t h)
{
	joining_free(&unwrapping->joining);
	return patches_begin(&unwrapping->patches, cut, w, h);
}

void
unwrapping_free(struct unwrapping *unwrapping)
{
	joining_free(&unwrapping->joining);
	patches_free(&unwrapping->patches);
}

void
components_unwrap(struct run *run, struct unwrapping *unwrapping, const struct phase_plane *phase,
    const struct phase_plane *quality, struct components *components)
{
	struct patches *patches = &unwrapping->patches;
	struct joining *joining = &unwrapping->joining;

	*components = (struct components){ .patches = patches, .phase = phase };
	patches_find(run, patches, phase);
	join_patches(run, patches, phase, quality, joining);
	components->joined = joining->joined;
	components->n = joining->components;
	components->component = must_alloc(components->n + 1, sizeof(*components->component));
	run_for(run, patches->h, count_row, components);
}

void
components_free(struct components *components)
{
	free(components->component);
	*components = (struct components){ 0 };
}

void
components_center(struct components *components)
{
	for (size_t i = 0; i < components->n; i++) {
		struct component *component = &components->component[i];

		component->shift =
		    -(int32_t)lrint((double)component->turns / (double)component->size);
	}
}

static int
anchor(struct components *components, double x, double y, double rad)
{
	const struct patches *patches = components->patches;
	struct component *component;
	size_t column, row, i;
	double turns;
	int32_t shift;

	if (!(x >= 0 && y >= 0 && x < (double)patches->w && y < (double)patches->h))
		return fail("--anchor", "pixel %g,%g lies outside the image of %zux%zu", x, y,
		    patches->w, patches->h);
	if (x != floor(x) || y != floor(y))
		return fail(
		    "--anchor", "a pixel's column and row are whole numbers, not %g,%g", x, y);
	column = (size_t)x;
	row = (size_t)y;
	i = components_of(components, column, row);
	if (i == components->n)
		return fail("--anchor", "pixel %g,%g is invalid", x, y);
	turns =
	    (double)phase_row(components->phase, row)[column] * (double)components->phase->turns;
	shift =
	    (int32_t)lrint(rad / (2 * M_PI) - turns) - components_turns(components, column, row);
	component = &components->component[i];
	if (component->anchored && component->shift != shift)
		return fail("--anchor",
		    "pixel %g,%g is connected to one before it, which is %+d turns "
		    "off it",
		    x, y, (int)component->shift - (int)shift);
	component->shift = shift;
	component->anchored = true;
	return 0;
}

int
components_anchor(struct components *components, const struct numbers *anchors, double unit)
{
	for (size_t i = 0; i + 2 < anchors->n; i += 3)
		if (anchor(components, anchors->v[i], anchors->v[i + 1], anchors->v[i + 2] / unit) <
		    0)
			return -1;
	return 0;
}

/* ---- a reference ---- */

/* The turns from each pixel to the reference, component by component: from first[i] on those of i.
 */
static void
list_differences(const struct components *components, const struct frame *frame, size_t ref_channel,
    double turn, double *difference, size_t *end)
{
	const struct patches *patches = components->patches;

	for (size_t y = 0; y < patches->h; y++) {
		const float *phase = phase_row(components->phase, y);
		const float *ref = frame_floats(frame, ref_channel, y);

		for (size_t x = 0; x < patches->w; x++) {
			size_t i = components_of(components, x, y);

			if (i < components->n && phase_is_valid(ref[x], (float)(0.5 / M_PI)))
				difference[end[i]++] = (double)ref[x] / turn -
				    (double)phase[x] * (double)components->phase->turns -
				    components_turns(components, x, y);
		}
	}
}

void
components_refer(struct components *components, const struct frame *frame, size_t ref_channel,
    double unit)
{
	size_t all = 0, *end = must_alloc(components->n + 1, sizeof(*end));
	double *difference;

	for (size_t i = 0; i < components->n; i++) {
		end[i] = all;
		all += components->component[i].size;
	}
	difference = must_resize(NULL, all + 1, sizeof(*difference));
	list_differences(components, frame, ref_channel, 2 * M_PI * unit, difference, end);
	all = 0;
	for (size_t i = 0; i < components->n; i++) {
		struct component *component = &components->component[i];

		component->anchored = end[i] > all;
		if (component->anchored)
			component->shift = (int32_t)lrint(
			    statistics_quantile(difference + all, end[i] - all, 0.5));
		all += component->size;
	}
	free(end);
	free(difference);
}

/* ---- numbers ---- */

struct place {
	size_t size, component;
};

static int
by_size(const void *a, const void *b)
{
	const struct place *left = a, *right = b;

	if (left->size != right->size)
		return left->size > right->size ? -1 : 1;
	return left->component < right->component ? -1 : 1;
}

void
components_number(struct components *components, size_t least, bool anchored)
{
	struct place *place = must_alloc(components->n + 1, sizeof(*place));
	size_t kept = 0;

	for (size_t i = 0; i < components->n; i++) {
		const struct component *component = &components->component[i];

		if (component->size >= least && (component->anchored || !anchored))
			place[kept++] = (struct place){ component->size, i };
	}
	qsort(place, kept, sizeof(*place), by_size);
	for (size_t i = 0; i < kept; i++)
		components->component[place[i].component].label = (int32_t)i + 1;
	free(place);
}
