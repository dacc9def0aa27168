#include "unwrap/borders.h"

#include <stdlib.h>
#include <string.h>

#define WEIGHT_LEAST 64   /* of a pair half a turn apart, */
#define WEIGHT_STEPS 1024 /* and so much more of one that agrees */

/* ---- the borders of patches ---- */

struct votes {
	const struct patches *patches;
	const struct phase_plane *phase, *quality;
	struct regions *regions;
};

static float
quality_at(const struct phase_plane *quality, size_t x, size_t y)
{
	float q = phase_row(quality, y)[x] * quality->turns;

	return q > 0 ? fminf(q, 1) : 0;
}

/* The vote of pixel x, y of a patch about its neighbour at x1, y1 in another one; to be added to
 * the patch's borders. */
static inline __attribute__((always_inline)) struct border
vote(const struct votes *votes, size_t x, size_t y, size_t x1, size_t y1)
{
	const struct patches *patches = votes->patches;
	size_t at = y * patches->w + x, at1 = y1 * patches->w + x1;
	float step =
	    (phase_row(votes->phase, y1)[x1] - phase_row(votes->phase, y)[x]) * votes->phase->turns;
	float sure = WEIGHT_LEAST + WEIGHT_STEPS * (1 - 2 * phase_distance(step));

	if (votes->quality)
		sure *= fminf(quality_at(votes->quality, x, y), quality_at(votes->quality, x1, y1));
	return (struct border){ patches->patch[at1],
		patches->turns[at] - patches->turns[at1] + phase_turns(step),
		1 + lrintf(sure) };
}

/* Is the neighbour, `step` pixels off in the list of patches, part of another patch? */
static inline bool
is_other(const int32_t *patch, ptrdiff_t step)
{
	return patch[step] != *patch && patch[step] != NO_PATCH;
}

/* How many votes pixel x, y of a patch has. */
static inline size_t
count_votes(const struct patches *patches, const int32_t *patch, size_t x, size_t y)
{
	ptrdiff_t w = (ptrdiff_t)patches->w;

	return (size_t)(x > 0 && is_other(patch, -1)) + (x + 1 < patches->w && is_other(patch, 1)) +
	    (y > 0 && is_other(patch, -w)) + (y + 1 < patches->h && is_other(patch, w));
}

#define LOOK_BACK 4 /* at so many of a region's borders: a patch's four sides */

/* Adds a vote to a region's borders; to one of the last if they are of the same regions and turns.
 */
static inline void
add_vote(struct regions *regions, int32_t region, struct border vote)
{
	size_t end = regions->end[region], first = regions->first[region];
	size_t stop = end - first > LOOK_BACK ? end - LOOK_BACK : first;

	for (size_t i = end; i > stop; i--) {
		struct border *border = &regions->border[i - 1];

		if (border->other == vote.other && border->turns == vote.turns) {
			border->weight += vote.weight;
			return;
		}
	}
	regions->border[regions->end[region]++] = vote;
}

static inline size_t
last_row(const struct patches *patches, size_t j)
{
	return (j + 1) * PATCH_SIDE < patches->h ? (j + 1) * PATCH_SIDE : patches->h;
}

/* Is square i of row j one patch? It is if that holds both corners: patches are squares. */
static bool
is_whole(const struct patches *patches, size_t i, size_t j)
{
	size_t y1 = last_row(patches, j) - 1, x0 = i * PATCH_SIDE;
	size_t x1 = x0 + PATCH_SIDE < patches->w ? x0 + PATCH_SIDE - 1 : patches->w - 1;
	int32_t first = patches->patch[j * PATCH_SIDE * patches->w + x0];

	return first != NO_PATCH && first == patches->patch[y1 * patches->w + x1];
}

/* Calls fn for the pixels of row j of squares that may have neighbours in other patches, row by
 * row. The patches of such a row are this call's alone: no other thread writes to their borders. */
static inline __attribute__((always_inline)) void
each_border_pixel(const struct votes *votes, size_t j,
    void (*fn)(const struct votes *, const int32_t *patch, size_t x, size_t y))
{
	const struct patches *patches = votes->patches;
	size_t y0 = j * PATCH_SIDE, y1 = last_row(patches, j);

	for (size_t y = y0; y < y1; y++)
		for (size_t i = 0; i < patches->across; i++) {
			size_t x = i * PATCH_SIDE, end = x + PATCH_SIDE;
			size_t step = 1;

			if (end > patches->w)
				end = patches->w;
			if (y > y0 && y + 1 < y1 && end - x > 2 && is_whole(patches, i, j))
				step = end - 1 - x; /* its sides only */
			for (; x < end; x += step)
				fn(votes, patches->patch + y * patches->w + x, x, y);
		}
}

static inline void
count_pixel(const struct votes *votes, const int32_t *patch, size_t x, size_t y)
{
	if (*patch != NO_PATCH)
		votes->regions->end[*patch] += count_votes(votes->patches, patch, x, y);
}

static inline void
put_pixel(const struct votes *votes, const int32_t *patch, size_t x, size_t y)
{
	const struct patches *patches = votes->patches;
	ptrdiff_t w = (ptrdiff_t)patches->w;

	if (*patch == NO_PATCH)
		return;
	if (x > 0 && is_other(patch, -1))
		add_vote(votes->regions, *patch, vote(votes, x, y, x - 1, y));
	if (x + 1 < patches->w && is_other(patch, 1))
		add_vote(votes->regions, *patch, vote(votes, x, y, x + 1, y));
	if (y > 0 && is_other(patch, -w))
		add_vote(votes->regions, *patch, vote(votes, x, y, x, y - 1));
	if (y + 1 < patches->h && is_other(patch, w))
		add_vote(votes->regions, *patch, vote(votes, x, y, x, y + 1));
}

static void
count_row(void *arg, size_t j)
{
	each_border_pixel(arg, j, count_pixel);
}

static void
put_row(void *arg, size_t j)
{
	each_border_pixel(arg, j, put_pixel);
}

/* ---- lists ---- */

static int
by_region(const void *a, const void *b)
{
	const struct border *left = a, *right = b;

	if (left->other != right->other)
		return left->other < right->other ? -1 : 1;
	return (left->turns > right->turns) - (left->turns < right->turns);
}

static void
insertion_sort(struct border *border, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct border moved = border[i];
		size_t at = i;

		for (; at > 0 && by_region(&moved, &border[at - 1]) < 0; at--)
			border[at] = border[at - 1];
		border[at] = moved;
	}
}

size_t
borders_add_up(struct border *border, size_t n)
{
	size_t last = 0;

	if (n == 0)
		return 0;
	if (n < 24)
		insertion_sort(border, n);
	else
		qsort(border, n, sizeof(*border), by_region);
	for (size_t i = 1; i < n; i++)
		if (by_region(&border[last], &border[i]) == 0)
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

/* ---- all of them ---- */

static void
add_up_chunk(void *arg, size_t chunk)
{
	struct regions *regions = arg;

	for (size_t i = chunk * CHUNK; i < chunk_end(chunk, regions->n); i++)
		regions->end[i] = regions->first[i] +
		    borders_add_up(
			regions->border + regions->first[i], regions->end[i] - regions->first[i]);
}

int
borders_find(struct run *run, const struct patches *patches, const struct phase_plane *phase,
    const struct phase_plane *quality, struct regions *regions)
{
	struct votes votes = { patches, phase, quality, regions };
	size_t n = patches_count(patches), borders = 0;

	if (regions_reserve(regions, n, 0) < 0)
		return -1;
	run_for(run, patches->down, count_row, &votes);
	for (size_t i = 0; i < n; i++) {
		size_t count = regions->end[i];

		regions->first[i] = regions->end[i] = borders;
		borders += count;
	}
	regions->border_room = borders + 1;
	free(regions->border);
	regions->border = malloc(regions->border_room * sizeof(*regions->border));
	if (!regions->border) {
		regions_free(regions);
		return fail_memory();
	}
	run_for(run, patches->down, put_row, &votes);
	run_for(run, chunks(n), add_up_chunk, regions);
	return 0;
}
