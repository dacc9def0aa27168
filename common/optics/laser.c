/*
 * Laser planes: intersects the rays of a camera with them and moves the points with the stage (Liu
 * 2016, eq 1-3).
 */
#define _GNU_SOURCE
#include "optics/laser.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/linear.h"
#include "optics/calib.h"

/* A ray and a plane at a smaller angle do not meet. */
#define LEAST_SINE 1e-6
#define UNIT_NEAR 0.1		/* of 1: so long a normal was meant to be a unit vector, */
#define UNIT_ROUNDED 0.01	/* and so near it is one but for rounding */

struct file {
	const char *path;
	struct number_file numbers;
};

/* Names of a single camera's matrix and distortion, in the order of preference. */
static const struct names {
	const char *K, *distortion;
} names[] = {
	{ "camera_K", "camera_dist|camera_distortion" },
	{ "camera_matrix", "distortion_coefficients|camera_distortion" },
	{ "cameraMatrix", "distCoeffs" },
	{ "cameraMatrix1", "distCoeffs1" },
	{ "cam_K", "cam_dist|cam_kc" },
	{ "K1", "d1|D1" },
	{ "M1", "D1|d1" },
	{ "K", "dist|D|d" },
};

#define NAMES (sizeof(names) / sizeof(names[0]))

/* The same where it is there: *has. */
static int
get_optional(const struct file *file, const char *name, const char *what, size_t n, double *out,
    bool *has)
{
	*has = calib_has(&file->numbers, name);
	return *has ? calib_get(file->path, &file->numbers, name, what, n, out) : 0;
}

/* World to camera: R and T come together, or neither. */
static int
get_pose(const struct file *file, struct pinhole *camera)
{
	static const char R[] = "camera_R", T[] = "camera_T_mm";
	bool has_R = calib_has(&file->numbers, R), has_T;

	for (int i = 0; i < 3; i++)
		camera->R[4 * i] = 1;
	if (get_optional(file, T, "a translation of 3 numbers", 3, camera->T, &has_T) < 0)
		return -1;
	if (has_R != has_T)
		return fail(file->path, "has %s but no %s", has_R ? R : T, has_R ? T : R);
	return has_R ? calib_get_rotation(file->path, &file->numbers, R, camera->R) : 0;
}

static int
get_camera(const struct file *file, struct pinhole *camera)
{
	const struct number_file *numbers = &file->numbers;

	for (size_t i = 0; i < NAMES; i++)
		if (calib_has(numbers, names[i].K))
			return calib_get_intrinsics(file->path, numbers, names[i].K,
			    names[i].distortion, "a 3x3 camera matrix", camera) < 0 ? -1 :
			    get_pose(file, camera);
	return fail(file->path, "expected a camera matrix called camera_K, found %zu other "
	    "entries%s%s (man laser2xyz lists the names)", numbers->entries,
	    numbers->entries ? ", the first one " : "",
	    numbers->entries ? numbers->entry[0].name : "");
}

/* A unit vector out of v, and what it is divided by; a file rounds to a few digits. */
static int
normalise(const struct file *file, const char *name, double v[3], double *length)
{
	*length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
	if (!(*length > 0))
		return fail(file->path, "%s: expected a direction, found zeros", name);
	for (int i = 0; i < 3; i++)
		v[i] /= *length;
	return 0;
}

static int
get_stage(const struct file *file, struct laser *laser)
{
	bool has_point;
	double length;

	if (get_optional(file, "laser_plane", "4 numbers", 4, laser->plane,
		&laser->has_plane) < 0 ||
	    get_optional(file, "scan_direction", "3 numbers", 3, laser->direction,
		&laser->has_direction) < 0 ||
	    get_optional(file, "axis_point_mm", "3 numbers", 3, laser->axis_point,
		&has_point) < 0 ||
	    get_optional(file, "axis_direction", "3 numbers", 3, laser->axis_direction,
		&laser->has_axis) < 0)
		return -1;
	if (has_point != laser->has_axis)
		return fail(file->path, "has %s but no %s", has_point ? "axis_point_mm" :
		    "axis_direction", has_point ? "axis_direction" : "axis_point_mm");
	if (laser->has_plane) {
		if (normalise(file, "laser_plane", laser->plane, &length) < 0)
			return -1;
		laser->plane[3] /= length;
		if (fabs(length - 1) > UNIT_ROUNDED && fabs(length - 1) < UNIT_NEAR)
			warn(file->path, "laser_plane: A, B, C have length %.4g, nearly that of a "
			    "unit vector: is a digit wrong?", length);
	}
	if (laser->has_direction && laser->direction[0] == 0 && laser->direction[1] == 0 &&
	    laser->direction[2] == 0)
		return fail(file->path, "scan_direction: expected a direction, found zeros");
	return laser->has_axis ?
	    normalise(file, "axis_direction", laser->axis_direction, &length) : 0;
}

/* The crop that the matrix is meant for, and the full frame's size. */
static int
get_frame(const struct file *file, struct laser *laser)
{
	struct pinhole *camera = &laser->camera;
	const char *path = file->path;
	bool cropped = calib_has(&file->numbers, "crop_x0_y0");
	double size[2];

	if (calib_get_pair(path, &file->numbers, "crop_x0_y0", "a crop's x0 y0",
		laser->origin_px) < 0 ||
	    calib_get_pair(path, &file->numbers, cropped ? "full_size|S" :
		"full_size|S|camera_size|image_size|imageSize", "a size, w h", size) < 0)
		return -1;
	camera->K[2] += laser->origin_px[0];
	camera->K[5] += laser->origin_px[1];
	camera->w = size[0];
	camera->h = size[1];
	return 0;
}

static int
get_all(const struct file *file, const char *device, struct laser *laser)
{
	if (device ? calib_get_device(file->path, &file->numbers, device, &laser->camera) < 0 :
	    get_camera(file, &laser->camera) < 0 || get_frame(file, laser) < 0)
		return -1;
	if (!(laser->camera.K[0] > 0 && laser->camera.K[4] > 0))
		return fail(file->path, "the camera's matrix: expected positive focal lengths, "
		    "found %g %g: is the picture mirrored?", laser->camera.K[0],
		    laser->camera.K[4]);
	calib_get_unit(&file->numbers, laser->unit);
	pinhole_complete(&laser->camera);
	return get_stage(file, laser);
}

int
laser_load(const char *path, const char *device, struct laser *laser)
{
	struct file file = { path, { 0 } };
	int status;

	memset(laser, 0, sizeof(*laser));
	if (number_file_load(path, &file.numbers) < 0)
		return -1;
	status = get_all(&file, device, laser);
	number_file_free(&file.numbers);
	return status;
}

/* ---- points ---- */

enum laser_meeting
laser_meet(const struct laser *laser, const double uv[2], double near[2], double X[3],
    double *depth)
{
	const struct pinhole *camera = &laser->camera;
	double ray[3], world[3], center[3], along, length;

	if (!isfinite(uv[0]) || !isfinite(uv[1]) || !(camera->distorted ?
	    pinhole_undistort_near(camera, uv, near) : pinhole_undistort(camera, uv, near)))
		return LASER_NO_RAY;
	ray[0] = near[0];
	ray[1] = near[1];
	ray[2] = 1;
	for (int i = 0; i < 3; i++)
		world[i] = camera->R[i] * ray[0] + camera->R[3 + i] * ray[1] +
		    camera->R[6 + i] * ray[2];
	pinhole_center(camera, center);
	along = vector3_dot(laser->plane, world);
	length = sqrt(vector3_dot(ray, ray));
	if (!(fabs(along) > LEAST_SINE * length))
		return LASER_PARALLEL;
	*depth = -(vector3_dot(laser->plane, center) + laser->plane[3]) / along;
	if (!(*depth > 0))
		return LASER_BEHIND;
	for (int i = 0; i < 3; i++)
		X[i] = center[i] + *depth * world[i];
	return LASER_MET;
}

void
laser_unmove(const struct laser *laser, double travel, double X[3])
{
	for (int i = 0; i < 3; i++)
		X[i] -= travel * laser->direction[i];
}

void
laser_across(const double a[3], double p[3], double q[3])
{
	int least = fabs(a[0]) < fabs(a[1]) ? 0 : 1;
	double norm;

	least = fabs(a[2]) < fabs(a[least]) ? 2 : least;
	for (int i = 0; i < 3; i++)
		p[i] = (i == least) - a[least] * a[i];
	norm = sqrt(vector3_dot(p, p));
	for (int i = 0; i < 3; i++)
		p[i] /= norm;
	for (int i = 0; i < 3; i++)
		q[i] = a[(i + 1) % 3] * p[(i + 2) % 3] - a[(i + 2) % 3] * p[(i + 1) % 3];
}

void
laser_rotate(const double axis[3], double angle_rad, double v[3])
{
	double c = cos(angle_rad), s = sin(angle_rad), along = vector3_dot(axis, v) * (1 - c);
	double turned[3] = { axis[1] * v[2] - axis[2] * v[1], axis[2] * v[0] - axis[0] * v[2],
		axis[0] * v[1] - axis[1] * v[0] };

	for (int i = 0; i < 3; i++)
		v[i] = c * v[i] + s * turned[i] + along * axis[i];
}

void
laser_unturn(const struct laser *laser, double angle_rad, double X[3])
{
	for (int i = 0; i < 3; i++)
		X[i] -= laser->axis_point[i];
	laser_rotate(laser->axis_direction, -angle_rad, X);
	for (int i = 0; i < 3; i++)
		X[i] += laser->axis_point[i];
}
