#include "pair.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "optics/calib_entries.h"

#include "rig.h"

#define MARGIN 1.25	/* an assumed projector lights so much more than a camera sees */

static void
normalise(double v[3])
{
	double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);

	for (size_t i = 0; i < 3; i++)
		v[i] /= length;
}

static void
size_of(const struct pinhole *camera, double size[2])
{
	size[0] = camera->w > 0 ? camera->w : 2 * camera->K[2] + 1;
	size[1] = camera->w > 0 ? camera->h : 2 * camera->K[5] + 1;
}

void
pair_size(const struct pair *pair, double size[2])
{
	size_of(&pair->stereo.camera[STEREO_LEFT], size);
}

/* Adds the direction of the middle of a camera's picture, in the world. */
static void
add_middle(const struct pinhole *camera, double sum[3])
{
	double size[2], ray[3] = { 0, 0, 1 };

	size_of(camera, size);
	if (!pinhole_undistort(camera, (double[2]){ (size[0] - 1) / 2, (size[1] - 1) / 2 }, ray))
		ray[0] = ray[1] = 0;
	normalise(ray);
	for (size_t i = 0; i < 3; i++)
		sum[i] += camera->R[i] * ray[0] + camera->R[3 + i] * ray[1] +
		    camera->R[6 + i] * ray[2];
}

/* Midway between the cameras, looking midway between their pictures' middles, its columns across
 * the baseline; it lights more than the left camera sees. */
static void
assume_projector(const struct stereo *stereo, const double size_px[2], struct pinhole *projector)
{
	const struct pinhole *left = &stereo->camera[STEREO_LEFT];
	double center[3], x[3], z[3] = { 0, 0, 0 }, along = 0, size[2];
	double *R = projector->R;

	pinhole_center(&stereo->camera[STEREO_RIGHT], center);
	add_middle(left, z);
	add_middle(&stereo->camera[STEREO_RIGHT], z);
	normalise(z);
	for (size_t i = 0; i < 3; i++)
		along += center[i] * z[i];
	for (size_t i = 0; i < 3; i++)
		x[i] = (center[i] - along * z[i]) * (center[0] < 0 ? -1 : 1);
	normalise(x);
	for (size_t i = 0; i < 3; i++) {
		size_t j = (i + 1) % 3, k = (i + 2) % 3;

		R[i] = x[i];
		R[3 + i] = z[j] * x[k] - z[k] * x[j];
		R[6 + i] = z[i];
	}
	for (size_t i = 0; i < 3; i++)
		projector->T[i] = -(R[3 * i] * center[0] + R[3 * i + 1] * center[1] +
		    R[3 * i + 2] * center[2]) / 2;
	size_of(left, size);
	projector->K[0] = projector->K[4] = fmin(size_px[0] / size[0] * left->K[0],
	    size_px[1] / size[1] * left->K[4]) / MARGIN;
	projector->K[2] = (size_px[0] - 1) / 2;
	projector->K[5] = (size_px[1] - 1) / 2;
	projector->K[8] = 1;
	projector->w = size_px[0];
	projector->h = size_px[1];
	pinhole_complete(projector);
}

/* The size of the view's camera where the file has it under its name. */
static int
find_size(const char *path, const char *view, struct pinhole *camera)
{
	char kind[2 * NUMBER_FILE_NAME_SIZE];
	struct number_file numbers;
	struct pinhole device = { 0 };
	int status = 0;

	if (number_file_load(path, &numbers) < 0)
		return -1;
	snprintf(kind, sizeof(kind), "devices.%s.kind", view);
	if (number_file_find(&numbers, kind))
		status = calib_get_device(path, &numbers, view, &device);
	number_file_free(&numbers);
	if (device.w > 0 && device.h > 0) {
		camera->w = device.w;
		camera->h = device.h;
	}
	return status;
}

int
pair_open(struct pair *pair, const char *path, const char *view, const double projector_px[2],
    struct calib *calib)
{
	struct stereo *stereo = &pair->stereo;

	if (stereo_load(path, stereo) < 0)
		return -1;
	if (stereo_find_side(path, view, &pair->side) < 0)
		return -1;
	pair->given = true;
	if (!stereo->has_projector)
		assume_projector(stereo, projector_px, &stereo->projector);
	*calib = (struct calib){ .camera = stereo->camera[pair->side],
		.projector = stereo->projector, .unit = "mm" };
	return find_size(path, view, &calib->camera);
}

double
pair_axes_meet(const struct pair *pair)
{
	const struct calib both = { .camera = pair->stereo.camera[STEREO_LEFT],
		.projector = pair->stereo.camera[STEREO_RIGHT] };

	return rig_axes_meet(&both);
}

bool
pair_disparity(const struct pair *pair, const double X[3], const double origin_px[2], size_t w,
    size_t h, double *disparity)
{
	const struct stereo *stereo = &pair->stereo;
	const struct pinhole *right = &stereo->camera[STEREO_RIGHT];
	const struct pinhole *other = &stereo->camera[!pair->side];
	double seen[3], rectified[2][2], uv[2];
	double at[2] = { other->w > 0 ? 0 : origin_px[0], other->w > 0 ? 0 : origin_px[1] };
	double size[2] = { other->w > 0 ? other->w : (double)w, other->w > 0 ? other->h :
		(double)h };

	for (size_t i = 0; i < 3; i++)
		seen[i] = right->R[3 * i] * X[0] + right->R[3 * i + 1] * X[1] +
		    right->R[3 * i + 2] * X[2] + right->T[i];
	if (!pinhole_project(other, X, uv) ||
	    !stereo_project(stereo, STEREO_LEFT, X, rectified[0]) ||
	    !stereo_project(stereo, STEREO_RIGHT, seen, rectified[1]))
		return false;
	*disparity = rectified[0][0] - rectified[1][0];
	for (size_t i = 0; i < 2; i++)
		if (!(uv[i] >= at[i] - 0.5 && uv[i] < at[i] + size[i] - 0.5))
			return false;
	return true;
}
