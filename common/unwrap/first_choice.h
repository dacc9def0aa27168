/* The first round of joining: which neighbour each patch chooses, from the votes of its pixels. In
 * noise most patches are single pixels, whose borders are never listed. */
#ifndef FIRST_CHOICE_H
#define FIRST_CHOICE_H

#include "unwrap/border_sums.h"
#include "unwrap/votes.h"

/* A patch's first pixel, and how far it reaches. */
struct patch_place {
	uint32_t at; /* counted row by row */
	uint8_t w, h;
};

/* The choice of every patch, and its place. Returns how many votes there were, each pair counted
 * from either side. */
size_t patches_choose(struct run *, const struct patches *, const struct votes *, struct choice *,
    struct patch_place *);

#endif
