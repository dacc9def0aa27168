#include "unwrap/borders.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/large_memory.h"

void
regions_free(struct regions *regions)
{
	free(regions->first);
	free(regions->end);
	free(regions->border);
	*regions = (struct regions){ 0 };
}

/* Room for n regions with so many borders in all, at first {0}; what was there is lost, and memory
 * kept where it is enough. -1 after fail(). */
static int
regions_reserve(struct regions *regions, size_t n, size_t borders)
{
	regions->n = n;
	regions->borders = 0;
	if (n >= regions->room) {
		free(regions->first);
		free(regions->end);
		regions->room = n + 1;
		regions->first = large_memory(regions->room, sizeof(*regions->first));
		regions->end = large_memory(regions->room, sizeof(*regions->end));
	}
	if (borders >= regions->border_room) {
		free(regions->border);
		regions->border_room = borders + 1;
		regions->border = large_memory(regions->border_room, sizeof(*regions->border));
	}
	if (regions->first && regions->end && regions->border)
		return 0;
	regions_free(regions);
	return fail_memory();
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
	_Atomic bool failed;
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
patch_votes(const struct source *source, size_t patch)
{
	(void)source;
	(void)patch;
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

/* Scratch memory for one chunk: that of one that is done, if there is some. NULL: no memory. */
static struct scratch *
take_scratch(struct gathering *gathering)
{
	struct scratch *scratch = NULL;

	for (size_t i = 0; i < SPARE_MOST && !scratch; i++)
		scratch = atomic_exchange(&gathering->spare[i], NULL);
	if (scratch)
		return scratch;
	scratch = calloc(1, sizeof(*scratch));
	if (scratch && !border_sums_begin(&scratch->sums)) {
		free_scratch(scratch);
		return NULL;
	}
	return scratch;
}

static void
give_scratch(struct gathering *gathering, struct scratch *scratch)
{
	for (size_t i = 0; i < SPARE_MOST && scratch; i++)
		scratch = atomic_exchange(&gathering->spare[i], scratch);
	free_scratch(scratch);
}

static bool
make_room(struct scratch *scratch, size_t n)
{
	size_t room = 2 * (scratch->n + n) + 8 * CHUNK;
	struct border *border;

	if (scratch->n + n <= scratch->room)
		return true;
	border = realloc(scratch->border, room * sizeof(*border));
	if (!border)
		return false;
	scratch->border = border;
	scratch->room = room;
	return true;
}

typedef size_t votes_fn(const struct source *, size_t member);
typedef void add_fn(const struct source *, size_t member, int32_t r, struct border_sums *);

static inline __attribute__((always_inline)) bool
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
			if (!border_sums_reserve(sums, votes(&source, (size_t)m)))
				return false;
			add(&source, (size_t)m, (int32_t)r, sums);
		}
		if (!make_room(scratch, border_sums_count(sums)))
			return false;
		regions->first[r] = scratch->n;
		scratch->n += border_sums_finish(
		    sums, (int32_t)r, scratch->border + scratch->n, &gathering->choice[r]);
		regions->end[r] = scratch->n;
	}
	return true;
}

static inline __attribute__((always_inline)) void
gather_chunk(struct gathering *gathering, size_t chunk, votes_fn *votes, add_fn *add)
{
	struct regions *regions = gathering->regions;
	struct scratch *scratch = take_scratch(gathering);
	size_t r0 = chunk * CHUNK, r1 = r0 + CHUNK < regions->n ? r0 + CHUNK : regions->n, at;

	if (!scratch || !gather(gathering, r0, r1, votes, add, scratch)) {
		gathering->failed = true;
		free_scratch(scratch);
		return;
	}
	at = atomic_fetch_add(&gathering->used, scratch->n);
	if (scratch->n > 0)
		memcpy(regions->border + at, scratch->border, scratch->n * sizeof(struct border));
	scratch->n = 0;
	give_scratch(gathering, scratch);
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

static int
gather_all(struct run *run, struct gathering *gathering, size_t n, size_t borders,
    void (*gather_one)(void *arg, size_t chunk))
{
	/* of the room for all votes only what is used is ever touched */
	if (regions_reserve(gathering->regions, n, borders) < 0)
		return -1;
	run_for(run, chunks(n, CHUNK), gather_one, gathering);
	for (size_t i = 0; i < SPARE_MOST; i++)
		free_scratch(gathering->spare[i]);
	gathering->regions->borders = gathering->used;
	return gathering->failed ? fail_memory() : 0;
}

int
borders_of_patches(struct run *run, const struct votes *votes, const struct patch_place *place,
    const struct members *members, size_t n, size_t votes_given, struct regions *regions,
    struct choice *choice)
{
	struct gathering gathering = { .source = { .votes = *votes, .place = place,
		.members = *members }, .regions = regions, .choice = choice };

	return gather_all(run, &gathering, n, votes_given, gather_patches_chunk);
}

int
borders_of_regions(struct run *run, const struct regions *from, const struct members *members,
    size_t n, struct regions *regions, struct choice *choice)
{
	struct gathering gathering = { .source = { .from = *from, .members = *members },
		.regions = regions, .choice = choice };

	return gather_all(run, &gathering, n, from->borders, gather_regions_chunk);
}
