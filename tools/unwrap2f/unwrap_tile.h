/* The pixels of a row that go through unwrapping together, on the processor. */
#ifndef UNWRAP_TILE_H
#define UNWRAP_TILE_H

#include "order_search.h"
#include "phase_orders.h"

#define UNWRAP_TILE 256

/* Pixels whose orders are tried. */
struct tried_pixels {
	float phase[UNWRAP_PHASES_MOST][UNWRAP_TILE];	/* the search's own, in turns */
	float from[UNWRAP_TILE];		/* orders are counted from here */
	float cost[UNWRAP_TILE], order[UNWRAP_TILE];	/* the best so far */
	uint32_t at[UNWRAP_TILE];		/* the pixel of the tile */
	size_t n;
} __attribute__((aligned(64)));

struct unwrap_tile {
	float signal[UNWRAP_TILE];
	float absolute[UNWRAP_TILE], residual[UNWRAP_TILE];	/* of the base */
	uint32_t bad[UNWRAP_TILE];			/* a phase that is needed is missing */
	uint32_t lacks[UNWRAP_TILE];			/* the search: any phase is */
	uint32_t wild[UNWRAP_TILE];			/* any phase has more than a turn */
	uint32_t doubt[UNWRAP_TILE];			/* which orders may be better */
	struct tried_pixels all, doubtful;
	float result[UNWRAP_TILE];			/* absphase */
	float own[UNWRAP_PHASES_MOST][UNWRAP_TILE];	/* absphase of every phase */
	float sum[UNWRAP_TILE], weight[UNWRAP_TILE];
} __attribute__((aligned(64)));

/*
 * The best orders of n pixels from (x, y) on. `ordered`: tile->absolute and residual are those of a
 * sequence, which pixels that lack a phase keep, unless search->complete; otherwise those are bad.
 */
void order_search_tile(const struct order_search *, const struct frame *in, size_t y, size_t x,
    size_t n, bool ordered, struct unwrap_tile *);
/* tile->result, and tile->own, from the base's absolute phase. */
void phase_orders_tile(const struct phase_orders *, const struct frame *in, size_t y, size_t x,
    size_t n, struct unwrap_tile *);

#endif
