/* Does --period, or --count, contradict the frame's own key? Orders may fit all the same: those of
 * periods that are all wrong by one factor, and those that a Gray code gives. */
#ifndef PERIOD_CONFLICT_H
#define PERIOD_CONFLICT_H

#include "frame/frame.h"
#include "temporal.h"

struct period_conflict {
	bool found, off;		/* off: it was told */
	double says_px, own_px;		/* of the first phase whose periods differ, */
	size_t number;			/* its channel, from 1 */
	bool counted;			/* by --count */
};

/* -1 after fail(): memory. */
int period_conflict_find(struct period_conflict *, const struct temporal_options *,
    const struct temporal *, const struct frame_head *);
/* Warns, once in a run. */
void period_conflict_warn(struct period_conflict *);

#endif
