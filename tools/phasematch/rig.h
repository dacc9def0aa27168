/* From disparity to a point: the rectified pair, as its frames' keys or a calibration describe
 * it. */
#ifndef RIG_H
#define RIG_H

#include "run/stage.h"

struct rig_options {
	const char *calib;
	bool assume_rectified;
	int frame;			/* enum rig_frame */
	double min_depth, max_depth;	/* NaN: no limit */
};

enum rig_frame { RIG_RECTIFIED, RIG_LEFT };

struct rig {
	bool known;			/* else there are disparities only */
	bool turned;			/* points are those of the left camera before rectifying */
	float focal, focal_baseline;	/* px, px mm */
	float cx, cy;			/* of the input, px */
	float centres;			/* cx of the input - cx of --right */
	float least, most;		/* depths */
	float R[9], shift[3];		/* x_left = R (x + shift) */
	bool asked;			/* whether frames without keys are placed so */
};

/* -1 after fail_usage(). */
int rig_check(const struct rig_options *);
/* Of these two frames; path: of --right. -1 after fail(). */
int rig_plan(const struct run *, const struct rig_options *, const char *path,
    const struct frame_head *in, const struct frame_head *right, struct rig *);

#endif
