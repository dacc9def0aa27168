/* Levels within the gap: what lossy coding leaves of a step from no depth to a depth. */
#ifndef DEPTHDEC_GAP_H
#define DEPTHDEC_GAP_H

#include "depthcode/depthcode.px.h"
#include "run/stage.h"

struct gap {
	size_t frames, moved;		/* so far; those with too many */
	size_t last;			/* run_inputs() of the last of these, + 1 */
};

/* Counts those of a frame's channel luma, and warns of the first frame that has too many. */
void gap_count(struct run *, struct gap *, const struct depthcode_code *, const struct frame *,
    size_t luma);
/* At the end: how many frames had too many, where it was more than one. */
void gap_conclude(const struct gap *);

#endif
