/*
 * The second step of spatial unwrapping: votes of neighbouring pixels that belong to different
 * patches. Each such pair votes for the whole turns that bring it nearest together, with a weight
 * that falls with what then still lies between them. Votes between the same two regions for the
 * same turns are added.
 *
 * In noise most patches are single pixels. Their borders are never listed: each patch chooses a
 * neighbour from its pixels, and only what patches have joined to has lists.
 */
#ifndef BORDERS_H
#define BORDERS_H

#include "unwrap/patches.h"

#define CHUNK 512 /* regions that a thread takes at a time */

/* What the pairs between a region and another one vote for: `turns` to add to the other one. */
struct border {
	int32_t turns, other; /* in this order they are one number of 64 bits, to sort by */
	int64_t weight;
};

/* Regions and, for each, its borders from first to end, by the other one's number, then by turns.
 */
struct regions {
	size_t n;
	size_t *first, *end;
	struct border *border;
	size_t room, border_room; /* of these, and of borders */
};

/* Which neighbour a region joins. */
struct choice {
	int32_t other; /* NO_PATCH: it borders on nothing */
	int32_t turns; /* to add to the region itself */
};

/* A patch's first pixel, and how far it reaches. */
struct patch_place {
	uint32_t at; /* counted row by row */
	uint8_t w, h;
};

/* What votes, about patches of a phase. quality: weights of pixels, of which 1 and more counts
 * fully, 0 and NaN hardly; NULL: all count alike. */
struct votes {
	const struct patches *patches;
	const struct phase_plane *phase, *quality;
	const float *rows; /* the phase's, */
	size_t stride;	   /* so many samples apart */
	struct patch_place *place; /* of each patch */
};

/* The patches that each region is made of. */
struct members {
	const struct choice *choice; /* of each patch: its region's number, and the turns to it */
	const int32_t *member;	     /* patches, region by region */
	const size_t *first;	     /* of each region, and behind the last one their number */
};

/* Room for n regions with so many borders in all, at first {0}, whose memory is kept where it is
 * enough; `end` is 0. -1 after fail(). */
int regions_reserve(struct regions *, size_t n, size_t borders);
void regions_free(struct regions *);
/* Sorts n borders of one region and adds up those that are alike; how many are left. */
size_t borders_add_up(struct border *, size_t n);
/* The choice of the most unanimous border of a region: `first` and `end` of its sorted borders. */
struct choice borders_choose(const struct border *border, size_t first, size_t end, size_t region);
struct votes votes_of(const struct patches *, const struct phase_plane *,
    const struct phase_plane *quality);
/* The choice of every patch, and its place. Returns how many votes there were. */
size_t patches_choose(struct run *, struct votes *, struct choice *);
/* The borders of n regions of patches, which gave so many votes in all. -1 after fail(); free with
 * regions_free(). */
int borders_gather(struct run *, const struct votes *, const struct members *, size_t n,
    size_t votes_given, struct regions *);

static inline size_t
chunks(size_t n)
{
	return (n + CHUNK - 1) / CHUNK;
}

/* The first item behind a chunk of n items. */
static inline size_t
chunk_end(size_t chunk, size_t n)
{
	return (chunk + 1) * CHUNK < n ? (chunk + 1) * CHUNK : n;
}

#endif
