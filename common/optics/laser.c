#define _GNU_SOURCE
#include "optics/laser.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "optics/number_file.h"

/* A ray and a plane at a smaller angle do not meet. */
#define LEAST_SINE 1e-6

struct file {
	const char *path;
	struct number_file numbers;
};

/* Names of a single camera's matrix and distortion, in the order of preference. */
static const struct names {
	const char *K, *distortion[3];
} names[] = {
	{ "camera_K", { "camera_dist", "camera_distortion" } },
	{ "camera_matrix", { "distortion_coefficients", "camera_distortion" } },
	{ "cameraMatrix", { "distCoeffs" } },
	{ "cameraMatrix1", { "distCoeffs1" } },
	{ "cam_K", { "cam_dist", "cam_kc" } },
	{ "K1", { "d1", "D1" } },
	{ "M1", { "D1", "d1" } },
	{ "K", { "dist", "D", "d" } },
};

#define NAMES (sizeof(names) / sizeof(names[0]))

/* `n` finite numbers called `name`. */
static int
get(const struct file *file, const char *name, size_t n, double *out)
{
	const struct number_file_entry *entry = number_file_find(&file->numbers, name);

	if (!entry)
		return fail(file->path, "has no %s", name);
	if (entry->n != n)
		return fail(file->path, "%s: expected %zu numbers, found %zu", name, n, entry->n);
	for (size_t i = 0; i < n; i++) {
		out[i] = file->numbers.v[entry->first + i];
		if (!isfinite(out[i]))
			return fail(file->path, "%s: expected numbers, found %g", name, out[i]);
	}
	return 0;
}

/* The same where it is there: *has. */
static int
get_optional(const struct file *file, const char *name, size_t n, double *out, bool *has)
{
	*has = number_file_find(&file->numbers, name) != NULL;
	return *has ? get(file, name, n, out) : 0;
}

static int
get_matrix(const struct file *file, const char *name, double K[9])
{
	if (get(file, name, 9, K) < 0)
		return -1;
	if (!(fabs(K[0]) > 0 && fabs(K[4]) > 0) || K[3] != 0 || K[6] != 0 || K[7] != 0 ||
	    K[8] != 1)
		return fail(file->path, "%s: expected fx s cx, 0 fy cy, 0 0 1%s", name,
		    K[2] == 0 && K[6] != 0 ? ", found its transpose" : "");
	return 0;
}

static int
get_distortion(const struct file *file, const char *name, double d[14])
{
	const struct number_file_entry *entry = number_file_find(&file->numbers, name);
	size_t n = entry ? entry->n : 0;

	memset(d, 0, 14 * sizeof(*d));
	if (n == 0)
		return 0;
	if (n != 4 && n != 5 && n != 8 && n != 12 && n != 14)
		return fail(file->path, "%s: expected 4, 5, 8, 12 or 14 coefficients, found %zu",
		    name, n);
	if (get(file, name, n, d) < 0)
		return -1;
	return d[12] == 0 && d[13] == 0 ? 0 :
	    fail(file->path, "%s: expected an untilted sensor", name);
}

static int
check_rotation(const struct file *file, const char *name, const double R[9])
{
	double det = R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) +
	    R[2] * (R[3] * R[7] - R[4] * R[6]);

	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 3; j++) {
			double dot = R[3 * i] * R[3 * j] + R[3 * i + 1] * R[3 * j + 1] +
			    R[3 * i + 2] * R[3 * j + 2];

			if (!(fabs(dot - (i == j)) < 1e-2) || det < 0)
				return fail(file->path, "%s: expected a rotation matrix", name);
		}
	return 0;
}

/* World to camera: R and T come together, or neither. */
static int
get_pose(const struct file *file, const char *R, const char *T, struct pinhole *camera)
{
	static const double none[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
	bool has_R, has_T;

	memcpy(camera->R, none, sizeof(none));
	memset(camera->T, 0, sizeof(camera->T));
	if (get_optional(file, R, 9, camera->R, &has_R) < 0 ||
	    get_optional(file, T, 3, camera->T, &has_T) < 0)
		return -1;
	if (has_R != has_T)
		return fail(file->path, "has %s but no %s", has_R ? R : T, has_R ? T : R);
	return has_R ? check_rotation(file, R, camera->R) : 0;
}

static int
get_device(const struct file *file, const char *device, struct pinhole *camera)
{
	char name[4][NUMBER_FILE_NAME_SIZE + 16];
	static const char *const part[] = { "K", "dist", "R", "T_mm" };

	for (size_t i = 0; i < 4; i++)
		snprintf(name[i], sizeof(name[i]), "devices.%.40s.%s", device, part[i]);
	if (!number_file_find(&file->numbers, name[0]))
		return fail(file->path, "has no %s: no camera called %s", name[0], device);
	return get_matrix(file, name[0], camera->K) < 0 ||
	    get_distortion(file, name[1], camera->distortion) < 0 ||
	    get_pose(file, name[2], name[3], camera) < 0 ? -1 : 0;
}

static int
get_camera(const struct file *file, struct pinhole *camera)
{
	const struct number_file *numbers = &file->numbers;

	for (size_t i = 0; i < NAMES; i++) {
		if (!number_file_find(numbers, names[i].K))
			continue;
		if (get_matrix(file, names[i].K, camera->K) < 0)
			return -1;
		for (size_t k = 0; k < 3 && names[i].distortion[k]; k++)
			if (number_file_find(numbers, names[i].distortion[k]))
				return get_distortion(file, names[i].distortion[k],
				    camera->distortion);
		return 0;
	}
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

	if (get_optional(file, "laser_plane", 4, laser->plane, &laser->has_plane) < 0 ||
	    get_optional(file, "scan_direction", 3, laser->direction,
		&laser->has_direction) < 0 ||
	    get_optional(file, "axis_point_mm", 3, laser->axis_point, &has_point) < 0 ||
	    get_optional(file, "axis_direction", 3, laser->axis_direction, &laser->has_axis) < 0)
		return -1;
	if (has_point != laser->has_axis)
		return fail(file->path, "has %s but no %s", has_point ? "axis_point_mm" :
		    "axis_direction", has_point ? "axis_direction" : "axis_point_mm");
	if (laser->has_plane) {
		if (normalise(file, "laser_plane", laser->plane, &length) < 0)
			return -1;
		laser->plane[3] /= length;
	}
	if (laser->has_direction && laser->direction[0] == 0 && laser->direction[1] == 0 &&
	    laser->direction[2] == 0)
		return fail(file->path, "scan_direction: expected a direction, found zeros");
	return laser->has_axis ?
	    normalise(file, "axis_direction", laser->axis_direction, &length) : 0;
}

/* The full frame's size, where the file has one that goes with the camera. */
static int
get_size(const struct file *file, struct pinhole *camera)
{
	static const char *const sizes[] = { "full_size", "camera_size", "image_size",
		"imageSize" };
	double size[2];
	bool has = false;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && !has; i++)
		if (get_optional(file, sizes[i], 2, size, &has) < 0)
			return -1;
	if (has && !(size[0] >= 1 && size[1] >= 1))
		return fail(file->path, "expected the size of a picture, found %g %g", size[0],
		    size[1]);
	camera->w = has ? size[0] : 0;
	camera->h = has ? size[1] : 0;
	return 0;
}

static int
get_all(const struct file *file, const char *device, struct laser *laser)
{
	const struct number_file_entry *unit = number_file_find(&file->numbers, "length_unit");
	struct pinhole *camera = &laser->camera;
	bool has;

	if (!unit)
		unit = number_file_find(&file->numbers, "unit");
	if (device ? get_device(file, device, camera) < 0 : get_camera(file, camera) < 0 ||
	    get_pose(file, "camera_R", "camera_T_mm", camera) < 0)
		return -1;
	if (get_optional(file, "crop_x0_y0", 2, laser->origin_px, &has) < 0)
		return -1;
	if (has && !device) {
		camera->K[2] += laser->origin_px[0];
		camera->K[5] += laser->origin_px[1];
	}
	snprintf(laser->unit, sizeof(laser->unit), "%.15s",
	    unit && unit->text[0] ? unit->text : "mm");
	if (!device && get_size(file, camera) < 0)
		return -1;
	pinhole_complete(camera);
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

static double
dot(const double a[3], const double b[3])
{
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

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
	along = dot(laser->plane, world);
	length = sqrt(dot(ray, ray));
	if (!(fabs(along) > LEAST_SINE * length))
		return LASER_PARALLEL;
	*depth = -(dot(laser->plane, center) + laser->plane[3]) / along;
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
	norm = sqrt(dot(p, p));
	for (int i = 0; i < 3; i++)
		p[i] /= norm;
	for (int i = 0; i < 3; i++)
		q[i] = a[(i + 1) % 3] * p[(i + 2) % 3] - a[(i + 2) % 3] * p[(i + 1) % 3];
}

void
laser_rotate(const double axis[3], double angle_rad, double v[3])
{
	double c = cos(angle_rad), s = sin(angle_rad), along = dot(axis, v) * (1 - c);
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
