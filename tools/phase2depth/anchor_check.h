#ifndef ANCHOR_CHECK_H
#define ANCHOR_CHECK_H

#include "run/stage.h"

/* A phase that is known up to whole turns only has a depth over the reference that it was unwrapped
 * by, and over no other one. calibrated: there is none. -1 after fail(). */
int anchor_check(const struct run *, const struct frame_head *in, bool calibrated);

#endif
