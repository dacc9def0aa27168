/*
 * The third step of spatial unwrapping: regions that border on each other become one, and so on
 * until nothing borders on anything. In a round every region takes the neighbour whose border is
 * the most unanimous (the weight for the winning turns less the weight against them), and joins it
 * by those turns; borders that fall together are added. So what is certain comes first, and a
 * doubtful pixel is judged by all its neighbours, not by the best one.
 *
 * At least every second region goes in a round, and a round sorts the borders that are left: O(n
 * log n). Nothing depends on threads: sums are of whole numbers, and ties go by the regions'
 * numbers.
 */
#ifndef JOINING_H
#define JOINING_H

#include "unwrap/borders.h"

/* What becomes of each patch. */
struct joined {
	size_t patches, components;
	int32_t *component; /* which it is part of */
	int32_t *turns;     /* to add to all its pixels */
};

/* Joins the patches of a phase; quality as in struct votes. -1 after fail(); free with
 * joined_free(). */
int join_regions(struct run *, const struct patches *, const struct phase_plane *,
    const struct phase_plane *quality, struct joined *);
void joined_free(struct joined *);

#endif
