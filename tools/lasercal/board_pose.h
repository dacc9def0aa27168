/* Where a board stands before the camera, from its corners in one picture. */
#ifndef LASERCAL_BOARD_POSE_H
#define LASERCAL_BOARD_POSE_H

#include <stddef.h>

#include "optics/calib.h"

/* Corners in space and in the picture: place (x, y) on the board in mm, full-frame pixel (u, v). */
struct board_points {
	size_t n;
	double (*place)[2], (*uv)[2];
};

/* A point b of the board is R b + t to the camera. */
struct board_pose {
	double R[9], t[3];
	double rms_px;			/* of a corner's distance */
};

/*
 * Homography of the undistorted corners, then least squares of the distances in pixels, the
 * camera's matrix and lens as they are. -1 after fail(NULL, ...): fewer than 4 corners, or all on a
 * line.
 */
int board_pose_find(const struct pinhole *camera, const struct board_points *,
    struct board_pose *);
void board_pose_apply(const struct board_pose *, const double b[3], double x[3]);
/* The pose with R turned further by exp(step[0..2]) and t moved by step[3..5]. */
void board_pose_step(const struct board_pose *, const double step[6], struct board_pose *out);
/* The angle between two poses' rotations. */
double board_pose_turn(const struct board_pose *, const struct board_pose *);
/* a b', 3x3. */
void board_pose_quotient(const double a[9], const double b[9], double out[9]);
/* Axis times angle of a rotation. */
void board_pose_log(const double R[9], double w[3]);

#endif
