/* The pixels of a row that go through unwrapping together, on the processor. */
#ifndef UNWRAP_TILE_H
#define UNWRAP_TILE_H

#include "order_search.h"
#include "order_table.h"
#include "phase_orders.h"

#define UNWRAP_TILE 256

enum doubt { SURE_ORDER, NEAR_ORDER, ANY_ORDER };

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
	uint32_t orders[UNWRAP_TILE];			/* cells of the table */
	uint32_t doubt[UNWRAP_TILE];			/* which orders may be better */
	bool doubts;					/* are there any? */
	bool by_table, sure;		/* all are at the first order of their cell */
	bool partly;			/* some lack a phase, but not all */
	struct tried_pixels all, doubtful;
	float result[UNWRAP_TILE];			/* absphase */
	float own[UNWRAP_PHASES_MOST][UNWRAP_TILE];	/* absphase of every phase */
	float sum[UNWRAP_TILE], weight[UNWRAP_TILE];
} __attribute__((aligned(64)));

/*
 * The best orders of n pixels from (x, y) on, in two halves. Begins them; does it take the absolute
 * phase and residual of a sequence to end them?
 */
bool order_search_begin(const struct order_search *, const struct frame *in, size_t y, size_t x,
    size_t n, struct unwrap_tile *);
/*
 * `ordered`: tile->absolute and residual are those of a sequence, which pixels that lack a phase
 * keep, unless search->complete; otherwise those are bad.
 */
void order_search_end(const struct order_search *, const struct frame *in, size_t y, size_t x,
    size_t n, bool ordered, struct unwrap_tile *);
/* The phases of a search, from a pixel on. */
struct phase_rows {
	const float *phase[UNWRAP_PHASES_MOST];
};

struct phase_rows order_search_rows(const struct order_search *, const struct frame *in, size_t y,
    size_t x);
/* All orders by the table, but those of cells that have too many, which tile->doubt marks. False
 * where a phase is no wrapped one: the table does not hold for these pixels. */
bool order_table_tile(const struct order_search *, const struct phase_rows *, size_t n,
    struct unwrap_tile *);
/*
 * The absolute phase and residual of pixels that are at the first order of their cell, and surely
 * so; residuals are at most most_left, larger ones than `most` make both NaN. False: not all are,
 * and what is stored is of no use.
 */
bool order_table_direct(const struct order_search *, const struct phase_rows *, size_t n,
    float most_left, float most, float *restrict absolute, float *restrict residual);
/* tile->result, and tile->own, from the base's absolute phase. */
void phase_orders_tile(const struct phase_orders *, const struct frame *in, size_t y, size_t x,
    size_t n, struct unwrap_tile *);

#endif
