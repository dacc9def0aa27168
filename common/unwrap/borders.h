/*
 * The third step of spatial unwrapping: the borders of regions. Votes between the same two regions
 * for the same turns are added; each region's borders also say which neighbour it joins next.
 */
#ifndef BORDERS_H
#define BORDERS_H

#include "unwrap/first_choice.h"

#define CHUNK 512 /* regions that a thread takes at a time */
#define NO_MEMBER (-1)

/* Regions and, for each, its borders from first to end, in any order. */
struct regions {
	size_t n;
	size_t *first, *end;
	struct border *border;
	size_t borders;		  /* how many there are */
	size_t room, border_room; /* of these, and of borders */
};

/* What the next regions are made of: patches, or regions. */
struct members {
	const struct choice *region; /* of each member: its region's number, and the turns to it */
	const int32_t *head;	     /* the first member of each region */
	const int32_t *next;	     /* of each member; NO_MEMBER behind the last */
};

void regions_free(struct regions *);
/* The borders of n regions of patches, which gave so many votes in all, and the regions' choices.
 * -1 after fail(). */
int borders_of_patches(struct run *, const struct votes *, const struct patch_place *,
    const struct members *, size_t n, size_t votes_given, struct regions *, struct choice *);
/* The same of regions. */
int borders_of_regions(struct run *, const struct regions *, const struct members *, size_t n,
    struct regions *, struct choice *);

static inline size_t
chunks(size_t n, size_t chunk)
{
	return (n + chunk - 1) / chunk;
}

#endif
