/*
 * The search for the fringe orders that fit all phases best (methods §5, beyond the papers).
 *
 * Every order of the phase of the shortest period is a straight line in the space of all phases,
 * whose coordinates are turns and repeat after a turn; a pixel belongs to the line that it lies
 * nearest to, its distance being the root of the sum of squares over all phases. A pixel that lies
 * nearer to a line than half the least distance between two lines belongs to no other one, so that
 * whatever found that line (a sequence of beats) found the best one. Only other pixels are
 * searched.
 */
#ifndef ORDER_SEARCH_H
#define ORDER_SEARCH_H

#include "temporal.h"

#define ORDER_SEARCH_MOST 65535	/* orders */

struct order_table;

/* So many orders further a line lies at this distance. */
struct order_gap {
	float distance;			/* turns */
	float orders;
};

/* All fringe orders of the field are tried; positions and slack in turns of the base. */
struct order_search {
	/* the base, of the shortest period, is the first phase */
	size_t phases, channel[UNWRAP_PHASES_MOST];
	float ratio[UNWRAP_PHASES_MOST];	/* turns of this phase in one of the base */
	float norm;		/* 1/sum ratio^2 */
	float lo, hi, slack;	/* the field */
	float distance;		/* the least one between two lines of the field, in turns */
	float sure;		/* cost, a distance squared, up to which no other line is nearer */
	/* the same between these positions: nearer to an end of the field those of the other end
	 * may be */
	float inner_sure, inner_lo, inner_hi;
	float near;		/* cost up to which the gaps tell which lines may be nearer */
	float chance;		/* median distance of random phases over the least one of lines */
	long first, last;	/* orders to try */
	bool complete;		/* pixels that lack a phase are bad; set by the caller */
	struct order_gap *gap;			/* by distance; owned */
	size_t gaps;
	struct order_table *table;		/* of three phases; owned; NULL: none */
};

/* field_px: what the orders lie in. -1 after fail() where another order fits as well as the right
 * one. */
int order_search_plan(const struct temporal *, double field_px, struct order_search *out);
void order_search_free(struct order_search *);

#endif
