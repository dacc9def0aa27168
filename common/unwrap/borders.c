#include "unwrap/borders.h"

#include <stdlib.h>

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
static struct border
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
		1 + (int64_t)rintf(sure) };
}

/* All votes of pixel x, y of a patch, at most four. */
static inline size_t
votes_of(const struct votes *votes, size_t x, size_t y, struct border out[4])
{
	const struct patches *patches = votes->patches;
	const int32_t *patch = patches->patch + y * patches->w + x;
	size_t n = 0;

	if (x > 0 && patch[-1] != *patch && patch[-1] != NO_PATCH)
		out[n++] = vote(votes, x, y, x - 1, y);
	if (x + 1 < patches->w && patch[1] != *patch && patch[1] != NO_PATCH)
		out[n++] = vote(votes, x, y, x + 1, y);
	if (y > 0 && patch[-(ptrdiff_t)patches->w] != *patch &&
	    patch[-(ptrdiff_t)patches->w] != NO_PATCH)
		out[n++] = vote(votes, x, y, x, y - 1);
	if (y + 1 < patches->h && patch[patches->w] != *patch && patch[patches->w] != NO_PATCH)
		out[n++] = vote(votes, x, y, x, y + 1);
	return n;
}

/* The patches of a row of squares are this row's alone: no other thread writes to their borders. */
static void
each_vote(const struct votes *votes, size_t j,
    void (*fn)(struct regions *, int32_t, const struct border *))
{
	const struct patches *patches = votes->patches;
	size_t y1 = (j + 1) * PATCH_SIDE < patches->h ? (j + 1) * PATCH_SIDE : patches->h;
	struct border border[4];

	for (size_t y = j * PATCH_SIDE; y < y1; y++) {
		const int32_t *patch = patches->patch + y * patches->w;

		for (size_t x = 0; x < patches->w; x++) {
			size_t n = patch[x] == NO_PATCH ? 0 : votes_of(votes, x, y, border);

			for (size_t i = 0; i < n; i++)
				fn(votes->regions, patch[x], &border[i]);
		}
	}
}

static void
count_vote(struct regions *regions, int32_t region, const struct border *border)
{
	(void)border;
	regions->end[region]++;
}

static void
put_vote(struct regions *regions, int32_t region, const struct border *border)
{
	regions->border[regions->end[region]++] = *border;
}

static void
count_row(void *arg, size_t j)
{
	each_vote(arg, j, count_vote);
}

static void
put_row(void *arg, size_t j)
{
	each_vote(arg, j, put_vote);
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
regions_new(struct regions *regions, size_t n, size_t borders)
{
	regions->n = n;
	regions->first = malloc((n + 1) * sizeof(*regions->first));
	regions->end = calloc(n + 1, sizeof(*regions->end));
	regions->border = malloc((borders + 1) * sizeof(*regions->border));
	if (regions->first && regions->end && regions->border)
		return 0;
	regions_free(regions);
	return fail_memory();
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

	if (regions_new(regions, n, 0) < 0)
		return -1;
	run_for(run, patches->down, count_row, &votes);
	for (size_t i = 0; i < n; i++) {
		size_t count = regions->end[i];

		regions->first[i] = regions->end[i] = borders;
		borders += count;
	}
	free(regions->border);
	regions->border = malloc((borders + 1) * sizeof(*regions->border));
	if (!regions->border) {
		regions_free(regions);
		return fail_memory();
	}
	run_for(run, patches->down, put_row, &votes);
	run_for(run, chunks(n), add_up_chunk, regions);
	return 0;
}
