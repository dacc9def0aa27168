/*
 * Every phase with its own fringe order, and their weighted mean (methods §5). Once the base, the
 * phase of the shortest period, is unwrapped, it orders all others; all of them then measure one
 * coordinate, u = T PHI/2 pi, with a scatter of T sigma/2 pi.
 */
#ifndef PHASE_ORDERS_H
#define PHASE_ORDERS_H

#include "temporal.h"

struct phase_orders {
	bool wanted;			/* the base's absolute phase alone will not do */
	bool fuse;		/* absphase is the mean of all phases that are there */
	bool all;		/* every phase has a channel of its own behind the residual */
	size_t phases, channel[UNWRAP_PHASES_MOST];	/* the base first */
	size_t own[UNWRAP_PHASES_MOST];		/* the channel of its own */
	float ratio[UNWRAP_PHASES_MOST];	/* turns of this phase in one of the base */
	float scale[UNWRAP_PHASES_MOST];	/* turns of the base in one of this phase */
	float weight[UNWRAP_PHASES_MOST];	/* in the mean; their sum is 1 */
	size_t target;				/* which of these is to be unwrapped */
};

/* For phases along one axis; scatter: of every phase channel of the head, n = 0: that of their
 * numbers of steps. -1 after fail(). */
int phase_orders_plan(const struct temporal *, const struct frame_head *,
    const struct numbers *scatter, struct phase_orders *);

#endif
