/*
 * A camera that sees the line of a laser plane, and the stage that moves the object through it
 * (methods §11; Liu 2016 eq 1-3). Lengths are in the calibration's unit.
 */
#pragma once

#include "optics/calib.h"
#include "run/run.h"

struct laser {
	struct pinhole camera;	/* where the file gives no pose, the camera is the world */
	char unit[16];
	double origin_px[2];	/* as struct calib's */
	bool has_plane, has_direction, has_axis;
	/* All in the world. A x + B y + C z + D = 0, (A B C) a unit vector. */
	double plane[4];
	double direction[3];	/* how far the object moves per unit of travel */
	/* The stage turns the object about this axis, right-handed; a unit vector. */
	double axis_point[3], axis_direction[3];
};

/*
 * Reads camera matrix and distortion (man/laser2xyz.1 lists the names), the camera's pose, and of
 * laser_plane, scan_direction, axis_point_mm and axis_direction what is there. `device`: the camera
 * devices.NAME of a file of several; NULL: the first. 0, or -1 after fail(path, ...).
 */
int laser_load(const char *path, const char *device, struct laser *);

enum laser_meeting {
	LASER_MET,
	LASER_NO_RAY,		/* the pixel is no number, or the lens model has no ray there */
	LASER_PARALLEL,		/* the ray runs along the plane, within 1e-6 rad */
	LASER_BEHIND		/* they meet behind the camera */
};

/* Where a (distorted, full-frame) pixel's ray meets the plane, in the world, and how far that is
 * along the camera's axis. near: the undistorted coordinates of a pixel nearby, or NaN; becomes
 * those of this one. */
enum laser_meeting laser_meet(const struct laser *, const double uv[2], double near[2],
    double X[3], double *depth);
/* Two unit vectors across a unit vector: p, q and it are right-handed. */
void laser_across(const double axis[3], double p[3], double q[3]);
/* Turns v about a unit vector, right-handed (Rodrigues). */
void laser_rotate(const double axis[3], double angle_rad, double v[3]);
/* Turns the columns of R likewise. */
void laser_rotate_matrix(const double axis[3], double angle_rad, double R[9]);

/* ---- where the stage stood when a frame was taken ---- */

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
