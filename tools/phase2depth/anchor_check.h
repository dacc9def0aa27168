/* Do the phases fit each other, and what they are measured by? By what heads tell. */
#ifndef ANCHOR_CHECK_H
#define ANCHOR_CHECK_H

#include "run/stage.h"
#include "triangulate.h"

/* A phase that is known up to whole turns only has a depth over the reference that it was unwrapped
 * by, and over no other one. calibrated: there is none. -1 after fail(). */
int anchor_check(const struct run *, const struct frame_head *in, bool calibrated);

/* The other axis's phase of --across must be of the same pixels and absolute; states for checks
 * what it gives by the calibration. -1 after fail(). */
int across_plan(struct run *, const struct calib *, const struct triangulation *, bool centered,
    const struct frame_head *in);

#endif
