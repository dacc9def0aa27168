/*
 * A camera that sees the line of a laser plane, and the stage that moves the object through it
 * (methods §11; Liu 2016 eq 1-3). Lengths are in the calibration's unit.
 */
#ifndef LASER_H
#define LASER_H

#include <stdbool.h>

#include "optics/calib.h"

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
/* Takes a point on the object, seen with the stage at `travel`, back to travel 0. */
void laser_unmove(const struct laser *, double travel, double X[3]);
/* The same with the stage turned by an angle. */
void laser_unturn(const struct laser *, double angle_rad, double X[3]);
/* Two unit vectors across a unit vector: p, q and it are right-handed. */
void laser_across(const double axis[3], double p[3], double q[3]);
/* Turns v about a unit vector, right-handed (Rodrigues). */
void laser_rotate(const double axis[3], double angle_rad, double v[3]);

#endif
