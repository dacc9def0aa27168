/*
 * The last step of spatial unwrapping: regions that border on each other become one, and so on
 * until nothing borders on anything. In a round every region takes the neighbour whose border is
 * the most unanimous (the weight for the winning turns less the weight against them), and joins it
 * by those turns; borders that fall together are added. So what is certain comes first, and a
 * doubtful pixel is judged by all its neighbours, not by the best one.
 *
 * At least every second region that borders on another one goes in a round, and a round takes time
 * in proportion to what is left: O(n log n). Nothing depends on threads: sums are of whole numbers,
 * and ties go by the regions' numbers.
 */
#ifndef JOINING_H
#define JOINING_H

#include "unwrap/borders.h"

/* An array that is kept for the next frame. */
struct kept_array {
	void *v;
	size_t bytes;
};

#define LEVELS_MOST 34 /* each but the first has at most half the regions of the one before */

/* Joins patches; memory is kept from frame to frame. At first {0}. */
struct joining {
	size_t patches, components;
	struct choice *joined; /* of each patch: its component, and the turns to add */
	struct regions regions[2];
	struct kept_array choice, place, head, next, roots, rank, foreign, level[LEVELS_MOST];
};

/* Joins the patches of a phase; quality as in struct votes. -1 after fail(). */
int join_patches(struct run *, const struct patches *, const struct phase_plane *,
    const struct phase_plane *quality, struct joining *);
void joining_free(struct joining *);

#endif
