/*
 * The second step of spatial unwrapping: votes of neighbouring pixels that belong to different
 * patches. Each such pair votes for the whole turns that bring it nearest together, with a weight
 * that falls with what then still lies between them. Votes between the same two regions for the
 * same turns are added.
 */
#ifndef BORDERS_H
#define BORDERS_H

#include "unwrap/patches.h"

#define CHUNK 512 /* regions that a thread takes at a time */

/* What the pairs between a region and another one vote for: `turns` to add to the other one. */
struct border {
	int32_t other, turns;
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

/* Room for n regions with so many borders in all, at first {0}, whose memory is kept where it is
 * enough; `end` is 0. -1 after fail(). */
int regions_reserve(struct regions *, size_t n, size_t borders);
void regions_free(struct regions *);
/* Sorts n borders of one region and adds up those that are alike; how many are left. */
size_t borders_add_up(struct border *, size_t n);
/* The borders of all patches of a phase, as regions. quality: weights of pixels, of which 1 and
 * more counts fully, 0 and NaN hardly; NULL: all count alike. -1 after fail(); free with
 * regions_free(). */
int borders_find(struct run *, const struct patches *, const struct phase_plane *,
    const struct phase_plane *quality, struct regions *);

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
