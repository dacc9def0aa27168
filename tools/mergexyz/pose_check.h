/* Do the poses, or points of one world without poses, put the views where they can have seen each
 * other? */
#ifndef MERGEXYZ_POSE_CHECK_H
#define MERGEXYZ_POSE_CHECK_H

#include "frame/frame.h"
#include "points/ordered_view.h"
#include "points/pose.h"
#include "run/run.h"

#define POSE_CHECK_TEXT 160

/* The last frame that was looked at; zeros at first. */
struct pose_check {
	struct ordered_view view;
	struct pose pose;
	size_t number, of_view;		/* of the frame: both from 1 */
	size_t seen;			/* frames so far */
	bool posed;			/* poses are given: only frames of different ones tell */
	bool warned;
	bool met;			/* a camera had a point of another frame in its picture */
	char apart[POSE_CHECK_TEXT];	/* the first two frames that had none of each other */
};

/*
 * Compares a frame of floats with the one before it, the first few times: one line warns where the
 * inverse poses would join them and these do not, and where points of the one lie before the
 * surface that the other's camera saw. Frames without order or camera are left out. -1 after
 * fail(): memory.
 */
int pose_check_frame(struct pose_check *, struct run *, const struct frame *, size_t number,
    size_t of_view, const struct pose *);
/* All frames are there: warns where no two that were compared had a point of one another in their
 * pictures, unless another line was printed. */
void pose_check_warn(const struct pose_check *);
void pose_check_free(struct pose_check *);

#endif
