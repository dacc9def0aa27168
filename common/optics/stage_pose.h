/* Where the stage stood when a frame was taken. */
#ifndef STAGE_POSE_H
#define STAGE_POSE_H

#include "optics/laser.h"
#include "run/run.h"

struct stage_pose_options {
	const char *key;		/* NULL: stage_mm or stage_deg; "none" */
	double step, angle;		/* per frame, mm and rad; NaN: not given */
};

struct stage_pose {
	enum { STAGE_POSE_NONE, STAGE_POSE_TRAVEL, STAGE_POSE_TURN } kind;
	double travel, turn_rad;
};

/* -1 after fail_usage() where the options contradict each other. */
int stage_pose_check(const struct stage_pose_options *);
/* The pose of the frame at hand: from the options, else from the frame's keys. -1 after fail(). */
int stage_pose_of(const struct run *, const struct stage_pose_options *,
    const struct frame_head *, struct stage_pose *);
/* Has the calibration (path) what it takes to undo the pose? -1 after fail(). */
int stage_pose_needs(const struct stage_pose *, const struct laser *, const char *path);
/*
 * What the frames so far have in common, for mistakes that no single one shows: start from zeros.
 * Fails where one stage travels and the other turns, or one frame has a pose and another has none;
 * warns, once, where an option (options NULL: none) contradicts the keys. At the end: warns of
 * turns that make one in radians.
 */
struct stage_history {
	size_t frames;
	int kind;			/* of the first one */
	double first, first_frame;	/* the key's number in the first frame with one */
	bool has_first, warned;
	double least_rad, most_rad;
	double least_mm, most_mm;	/* of travel */
};

int stage_history_add(struct stage_history *, const struct run *,
    const struct stage_pose_options *, const struct frame_head *, const struct stage_pose *);
void stage_history_end(const struct stage_history *);
/* Takes a point of the world back to where it is with the stage at 0. */
void stage_pose_undo(const struct stage_pose *, const struct laser *, double X[3]);

#endif
