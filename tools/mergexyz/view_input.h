/* The frames of each view, and their poses. */
#ifndef MERGEXYZ_VIEW_INPUT_H
#define MERGEXYZ_VIEW_INPUT_H

#include "frame/frame.h"
#include "points/pose.h"
#include "run/run.h"

/* View k's planes of a frame (1: the input itself) as a frame of their own. -1 after fail(). */
int view_input_take(struct run *, const struct frame *in, size_t view, struct frame **out);
/* The pose of a view's frame `number`, from 1: its own, or the only one of its file. -1 after
 * fail(). */
int view_input_pose(const struct run *, size_t view, size_t number, struct pose *);

#endif
