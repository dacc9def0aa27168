/* The search for the fringe order that fits all phases best (methods §5, beyond the papers). */
#ifndef ORDER_SEARCH_H
#define ORDER_SEARCH_H

#include "temporal.h"

#define ORDER_SEARCH_MOST 65535	/* orders */

/* All fringe orders of the field are tried; positions and slack in turns of the wanted phase. */
struct order_search {
	size_t phases, channel[UNWRAP_PHASES_MOST];	/* the wanted one first */
	float ratio[UNWRAP_PHASES_MOST];	/* turns of this phase in one of the wanted one */
	float norm;				/* 1/sum ratio^2 */
	float mean;				/* 1/phases */
	float lo, hi, slack;			/* the field */
	float chance;			/* median root mean square of random phases, in turns */
	long first, last;			/* orders to try */
};

/* -1 after fail() where another order fits as well as the right one. */
int order_search_plan(const struct temporal *, struct order_search *out);

#endif
