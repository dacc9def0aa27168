/* One subject: votes of neighbouring pixels, and the lists and choices that they make. */
#include "unwrap/borders.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define WEIGHT_LEAST 64   /* of a pair half a turn apart, */
#define WEIGHT_STEPS 1024 /* and so much more of one that agrees */
#define SORT_FEW 20	  /* borders: insertion sorts them fastest */

/* ---- votes ---- */

static float
quality_at(const struct votes *votes, size_t at)
{
	const struct phase_plane *quality = votes->quality;
	size_t w = votes->patches->w;
	float q = phase_row(quality, at / w)[at % w] * quality->turns;

	return q > 0 ? fminf(q, 1) : 0;
}

/* One side of a patch: n of its pixels, and their neighbours in other patches; places in the list
 * of patches, and in the phase, whose rows may be longer. */
struct side {
	size_t at, phase_at;	   /* the first pixel */
	ptrdiff_t out, phase_out;  /* from a pixel to its neighbour */
	size_t step, phase_step;   /* to the side's next pixel */
	size_t n;
};

/* The sides that have neighbours within the image, of a patch of w x h pixels from x, y on. */
static inline __attribute__((always_inline)) size_t
find_sides(const struct votes *votes, size_t x, size_t y, size_t w, size_t h, struct side side[4])
{
	size_t across = votes->patches->w, stride = votes->stride, n = 0;
	ptrdiff_t up = -(ptrdiff_t)across, phase_up = -(ptrdiff_t)stride;
	size_t at = y * across + x, phase_at = y * stride + x;

	if (x > 0)
		side[n++] = (struct side){ at, phase_at, -1, -1, across, stride, h };
	if (x + w < across)
		side[n++] =
		    (struct side){ at + w - 1, phase_at + w - 1, 1, 1, across, stride, h };
	if (y > 0)
		side[n++] = (struct side){ at, phase_at, up, phase_up, 1, 1, w };
	if (y + h < votes->patches->h)
		side[n++] = (struct side){ at + (h - 1) * across, phase_at + (h - 1) * stride,
			-up, -phase_up, 1, 1, w };
	return n;
}

static inline int32_t
neighbour(const struct votes *votes, const struct side *side, size_t i)
{
	return votes->patches->patch[(ptrdiff_t)(side->at + i * side->step) + side->out];
}

/* The vote of a pixel about the one that lies `out` further, in the phase `phase_out`, and is of
 * patch `other`. */
static inline __attribute__((always_inline)) struct border
vote(const struct votes *votes, size_t at, size_t phase_at, ptrdiff_t out, ptrdiff_t phase_out,
    int32_t other)
{
	const int32_t *turns = votes->patches->turns + at;
	const float *phase = votes->rows + phase_at;
	float step = (phase[phase_out] - *phase) * votes->phase->turns;
	float whole = phase_round(step);
	float sure = WEIGHT_LEAST + WEIGHT_STEPS * (1 - 2 * fabsf(step - whole));

	if (votes->quality)
		sure *= fminf(quality_at(votes, at), quality_at(votes, at + (size_t)out));
	return (struct border){ *turns - turns[out] - (int32_t)whole, other,
		1 + (int32_t)phase_round(sure) };
}

/* The vote of the side's pixel i. */
static inline __attribute__((always_inline)) struct border
side_vote(const struct votes *votes, const struct side *side, size_t i, int32_t other)
{
	return vote(votes, side->at + i * side->step, side->phase_at + i * side->phase_step,
	    side->out, side->phase_out, other);
}

/* A pixel's four neighbours, where it is not at the image's rim. */
struct around {
	ptrdiff_t out[4], phase_out[4];
};

static inline struct around
around(const struct votes *votes)
{
	ptrdiff_t w = (ptrdiff_t)votes->patches->w, stride = (ptrdiff_t)votes->stride;

	return (struct around){ { -1, 1, -w, w }, { -1, 1, -stride, stride } };
}

static inline bool
is_inside(const struct votes *votes, size_t x, size_t y)
{
	return x > 0 && y > 0 && x + 1 < votes->patches->w && y + 1 < votes->patches->h;
}

/* ---- lists ---- */

/* Borders are sorted by the other region, then by turns. */
static inline uint64_t
order(const struct border *border)
{
	return ((uint64_t)(uint32_t)border->other << 32 | (uint32_t)border->turns) ^ 1u << 31;
}

static int
by_order(const void *a, const void *b)
{
	uint64_t left = order(a), right = order(b);

	return (left > right) - (left < right);
}

static inline void
insertion_sort(struct border *border, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct border moved = border[i];
		uint64_t own = order(&moved);
		size_t at = i;

		for (; at > 0 && own < order(&border[at - 1]); at--)
			border[at] = border[at - 1];
		border[at] = moved;
	}
}

static inline void
swap(struct border *a, struct border *b)
{
	struct border moved = *a;

	*a = *b;
	*b = moved;
}

/* Of n > 2 borders the median of the first, the middle and the last one. */
static inline uint64_t
pivot(const struct border *border, size_t n)
{
	uint64_t a = order(&border[0]), b = order(&border[n / 2]), c = order(&border[n - 1]);
	uint64_t low = a < b ? a : b, high = a < b ? b : a;

	return c < low ? low : c > high ? high : c;
}

/* Quicksort (Hoare); parts that halve too seldom go to qsort(), which needs O(n log n). */
static void
sort(struct border *border, size_t n, int halvings)
{
	while (n > SORT_FEW) {
		uint64_t middle = pivot(border, n);
		size_t i = 0, j = n - 1;

		if (halvings-- == 0) {
			qsort(border, n, sizeof(*border), by_order);
			return;
		}
		for (;; i++, j--) {
			while (order(&border[i]) < middle)
				i++;
			while (order(&border[j]) > middle)
				j--;
			if (i >= j)
				break;
			swap(&border[i], &border[j]);
		}
		sort(border + j + 1, n - j - 1, halvings);
		n = j + 1;
	}
	insertion_sort(border, n);
}

size_t
borders_add_up(struct border *border, size_t n)
{
	size_t last = 0;

	if (n == 0)
		return 0;
	sort(border, n, 40);
	for (size_t i = 1; i < n; i++)
		if (order(&border[last]) == order(&border[i]))
			border[last].weight += border[i].weight;
		else
			border[++last] = border[i];
	return last + 1;
}

void
regions_free(struct regions *regions)
{
	free(regions->first);
	free(regions->end);
	free(regions->border);
	*regions = (struct regions){ 0 };
}

int
regions_reserve(struct regions *regions, size_t n, size_t borders)
{
	regions->n = n;
	if (n >= regions->room) {
		free(regions->first);
		free(regions->end);
		regions->room = n + 1;
		regions->first = malloc(regions->room * sizeof(*regions->first));
		regions->end = malloc(regions->room * sizeof(*regions->end));
	}
	if (borders >= regions->border_room) {
		free(regions->border);
		regions->border_room = borders + 1;
		regions->border = malloc(regions->border_room * sizeof(*regions->border));
	}
	if (!regions->first || !regions->end || !regions->border) {
		regions_free(regions);
		return fail_memory();
	}
	memset(regions->end, 0, n * sizeof(*regions->end));
	return 0;
}

/* ---- choices ---- */

/* The same for both of a border's sides, so that no ring of choices forms but of two. */
static inline uint64_t
tie(size_t a, size_t b)
{
	uint64_t low = a < b ? a : b, high = a < b ? b : a;

	return (low << 32 | high) * 0x9E3779B97F4A7C15u; /* odd: no two pairs alike */
}

struct best {
	struct choice choice;
	int64_t margin;
};

#define NO_BEST ((struct best){ { NO_PATCH, 0 }, INT64_MIN })

/* Of all votes about one neighbour, which sum to so much, the most are for `winner`. */
static inline void
keep_best(struct best *best, size_t region, const struct border *winner, int64_t sum)
{
	int64_t margin = 2 * winner->weight - sum;

	if (margin < best->margin ||
	    (margin == best->margin && tie(region, (size_t)winner->other) <=
		tie(region, (size_t)best->choice.other)))
		return;
	*best = (struct best){ { winner->other, -winner->turns }, margin };
}

/* Borders to one region: the heavier one wins, then that of fewer turns, then the first. */
static inline bool
outweighs(const struct border *a, const struct border *b)
{
	return a->weight > b->weight ||
	    (a->weight == b->weight && abs(a->turns) < abs(b->turns));
}

struct choice
borders_choose(const struct border *border, size_t first, size_t end, size_t region)
{
	struct best best = NO_BEST;

	for (size_t at = first, stop; at < end; at = stop) {
		const struct border *winner = &border[at];
		int64_t sum = 0;

		for (stop = at; stop < end && border[stop].other == border[at].other; stop++) {
			sum += border[stop].weight;
			if (outweighs(&border[stop], winner))
				winner = &border[stop];
		}
		keep_best(&best, region, winner, sum);
	}
	return best.choice;
}

/* Of n of a side's pixels from i on, whose neighbours are of one patch. */
static void
judge_run(const struct votes *votes, const struct side *side, size_t i, size_t n, size_t patch,
    int32_t other, struct best *best)
{
	struct border border[PATCH_SIDE];
	size_t kinds, winner = 0;
	int64_t sum = 0;

	for (size_t k = 0; k < n; k++)
		border[k] = side_vote(votes, side, i + k, other);
	kinds = borders_add_up(border, n);
	for (size_t k = 0; k < kinds; k++) {
		sum += border[k].weight;
		if (outweighs(&border[k], &border[winner]))
			winner = k;
	}
	keep_best(best, patch, &border[winner], sum);
}

/* The same of a patch of one pixel that is inside. */
static inline __attribute__((always_inline)) size_t
choose_around(const struct votes *votes, size_t x, size_t y, struct choice *choice)
{
	const int32_t *patch = votes->patches->patch + y * votes->patches->w + x;
	size_t at = y * votes->patches->w + x, phase_at = y * votes->stride + x, given = 0;
	struct around next = around(votes);
	struct best best = NO_BEST;

#pragma GCC unroll 4
	for (size_t i = 0; i < 4; i++) {
		int32_t other = patch[next.out[i]];
		struct border border;

		if (other == NO_PATCH)
			continue;
		border = vote(votes, at, phase_at, next.out[i], next.phase_out[i], other);
		keep_best(&best, (size_t)*patch, &border, border.weight);
		given++;
	}
	*choice = best.choice;
	return given;
}

/* The sides of a patch have no neighbour in common: both are squares. Returns how many votes. */
static inline __attribute__((always_inline)) size_t
choose_neighbour(const struct votes *votes, size_t patch, size_t x, size_t y, size_t w, size_t h,
    struct choice *choice)
{
	struct side side[4];
	size_t sides = find_sides(votes, x, y, w, h, side), given = 0;
	struct best best = NO_BEST;

	for (size_t s = 0; s < sides; s++)
		for (size_t i = 0, stop; i < side[s].n; i = stop) {
			int32_t other = neighbour(votes, &side[s], i);

			for (stop = i + 1;
			     stop < side[s].n && neighbour(votes, &side[s], stop) == other; stop++)
				;
			if (other == NO_PATCH)
				continue;
			given += stop - i;
			if (stop - i == 1) {
				struct border border = side_vote(votes, &side[s], i, other);

				keep_best(&best, patch, &border, border.weight);
			} else {
				judge_run(votes, &side[s], i, stop - i, patch, other, &best);
			}
		}
	*choice = best.choice;
	return given;
}

struct votes
votes_of(const struct patches *patches, const struct phase_plane *phase,
    const struct phase_plane *quality)
{
	const float *rows = phase_row(phase, 0);

	return (struct votes){ patches, phase, quality, rows,
		patches->h > 1 ? (size_t)(phase_row(phase, 1) - rows) : patches->w, NULL };
}

struct choosing {
	struct votes *votes;
	struct choice *choice;
	_Atomic size_t given;
};

/* The patches of the square of this side at x0, y0, as far as the image goes. */
static size_t
choose_square(const struct choosing *choosing, size_t x0, size_t y0, size_t side)
{
	struct votes *votes = choosing->votes;
	const struct patches *patches = votes->patches;
	size_t x1 = x0 + side < patches->w ? x0 + side : patches->w;
	size_t y1 = y0 + side < patches->h ? y0 + side : patches->h, half = side / 2, given = 0;
	int32_t patch;

	if (x0 >= patches->w || y0 >= patches->h)
		return 0;
	patch = patches->patch[y0 * patches->w + x0];
	if (patch == patches->patch[(y1 - 1) * patches->w + x1 - 1] &&
	    (side == 1 || patch != NO_PATCH)) {
		if (patch == NO_PATCH)
			return 0;
		votes->place[patch] = (struct patch_place){ (uint32_t)(y0 * patches->w + x0),
			(uint8_t)(x1 - x0), (uint8_t)(y1 - y0) };
		if (side == 1 && is_inside(votes, x0, y0))
			return choose_around(votes, x0, y0, &choosing->choice[patch]);
		if (side == 1)
			return choose_neighbour(
			    votes, (size_t)patch, x0, y0, 1, 1, &choosing->choice[patch]);
		return choose_neighbour(votes, (size_t)patch, x0, y0, x1 - x0, y1 - y0,
		    &choosing->choice[patch]);
	}
	for (size_t i = 0; i < 4; i++)
		given += choose_square(choosing, x0 + i % 2 * half, y0 + i / 2 * half, half);
	return given;
}

static void
choose_squares_row(void *arg, size_t j)
{
	struct choosing *choosing = arg;
	size_t given = 0;

	for (size_t i = 0; i < choosing->votes->patches->across; i++)
		given += choose_square(choosing, i * PATCH_SIDE, j * PATCH_SIDE, PATCH_SIDE);
	atomic_fetch_add(&choosing->given, given);
}

size_t
patches_choose(struct run *run, struct votes *votes, struct choice *choice)
{
	struct choosing choosing = { votes, choice, 0 };

	run_for(run, votes->patches->down, choose_squares_row, &choosing);
	return choosing.given;
}

/* ---- of regions of patches ---- */

struct gathering {
	const struct votes *votes;
	const struct members *members;
	struct regions *regions;
	_Atomic size_t used; /* borders: chunks take their part as they are done */
	_Atomic bool failed;
};

/* Borders of a chunk's regions, and those that are being listed. */
struct list {
	struct border *border;
	size_t n, room;
};

#define LOOK_BACK 4 /* at so many of a region's borders */

/* Adds a border to those from `first` on; to one of the last if they are alike. */
static inline void
add_border(struct list *list, size_t first, struct border border)
{
	size_t stop = list->n - first > LOOK_BACK ? list->n - LOOK_BACK : first;

	for (size_t i = list->n; i > stop; i--) {
		struct border *last = &list->border[i - 1];

		if (last->other == border.other && last->turns == border.turns) {
			last->weight += border.weight;
			return;
		}
	}
	list->border[list->n++] = border;
}

/* Room for a patch's borders, as many as it can have. */
static bool
make_room(struct list *list)
{
	size_t room = 2 * list->room + CHUNK;
	struct border *border;

	if (list->n + 4 * PATCH_SIDE <= list->room)
		return true;
	border = realloc(list->border, room * sizeof(*border));
	if (!border)
		return false;
	list->border = border;
	list->room = room;
	return true;
}

/* The same of a pixel that is inside. */
static inline void
gather_pixel(const struct gathering *gathering, size_t r, int32_t patch, size_t at, size_t phase_at,
    size_t first, struct list *list)
{
	const struct votes *votes = gathering->votes;
	const struct choice *choice = gathering->members->choice;
	const int32_t *patches = votes->patches->patch + at;
	struct around next = around(votes);

#pragma GCC unroll 4
	for (size_t i = 0; i < 4; i++) {
		int32_t other = patches[next.out[i]];
		struct border border;

		if (other == NO_PATCH || choice[other].other == (int32_t)r)
			continue;
		border = vote(votes, at, phase_at, next.out[i], next.phase_out[i],
		    choice[other].other);
		border.turns += choice[patch].turns - choice[other].turns;
		add_border(list, first, border);
	}
}

/* The borders of a patch of region r to other regions. */
static void
gather_patch(const struct gathering *gathering, size_t r, int32_t patch, size_t first,
    struct list *list)
{
	const struct votes *votes = gathering->votes;
	const struct choice *choice = gathering->members->choice;
	const struct patch_place *place = &votes->place[patch];
	uint32_t w = (uint32_t)votes->patches->w;
	size_t x = place->at % w, y = place->at / w, sides;
	struct side side[4];

	if (place->w == 1 && place->h == 1 && is_inside(votes, x, y)) {
		gather_pixel(gathering, r, patch, place->at, y * votes->stride + x, first, list);
		return;
	}
	sides = find_sides(votes, x, y, place->w, place->h, side);
	for (size_t s = 0; s < sides; s++)
		for (size_t i = 0; i < side[s].n; i++) {
			int32_t other = neighbour(votes, &side[s], i);
			struct border border;

			if (other == NO_PATCH || choice[other].other == (int32_t)r)
				continue;
			border = side_vote(votes, &side[s], i, choice[other].other);
			border.turns += choice[patch].turns - choice[other].turns;
			add_border(list, first, border);
		}
}

static void
gather_chunk(void *arg, size_t chunk)
{
	struct gathering *gathering = arg;
	struct regions *regions = gathering->regions;
	const struct members *members = gathering->members;
	struct list list = { 0 };
	size_t r0 = chunk * CHUNK, r1 = chunk_end(chunk, regions->n), at;

	for (size_t r = r0; r < r1; r++) {
		size_t first = list.n;

		for (size_t m = members->first[r]; m < members->first[r + 1]; m++) {
			if (!make_room(&list)) {
				gathering->failed = true;
				free(list.border);
				return;
			}
			gather_patch(gathering, r, members->member[m], first, &list);
		}
		list.n = first + borders_add_up(list.border + first, list.n - first);
		regions->first[r] = first;
		regions->end[r] = list.n;
	}
	at = atomic_fetch_add(&gathering->used, list.n);
	if (list.n > 0)
		memcpy(regions->border + at, list.border, list.n * sizeof(*list.border));
	free(list.border);
	for (size_t r = r0; r < r1; r++) {
		regions->first[r] += at;
		regions->end[r] += at;
	}
}

int
borders_gather(struct run *run, const struct votes *votes, const struct members *members, size_t n,
    size_t votes_given, struct regions *regions)
{
	struct gathering gathering = { votes, members, regions, 0, false };

	/* of the room for all votes only what is used is ever touched */
	if (regions_reserve(regions, n, votes_given) < 0)
		return -1;
	run_for(run, chunks(n), gather_chunk, &gathering);
	if (!gathering.failed)
		return 0;
	regions_free(regions);
	return fail_memory();
}
