#include "models.h"

#include <mrcal/mrcal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "io/safe_file.h"

#define M_PER_MM 1e-3

static const char *const lens[] = { "PINHOLE", "OPENCV4", "OPENCV5", "OPENCV8" };

static void
put(FILE *to, const char *key, const double *v, size_t n)
{
	char text[32];

	fprintf(to, "    '%s': [", key);
	for (size_t i = 0; i < n; i++)
		fprintf(to, " %s,", number_format(v[i], text));
	fputs(" ],\n", to);
}

static int
write_model(const char *path, const struct calib_problem *problem, const struct calib_solution *s,
    size_t d, size_t frame)
{
	const struct calib_device *device = &problem->device[d];
	const double size[2] = { (double)device->w, (double)device->h };
	struct calib_pose pose;
	struct safe_file *place;
	double rt[6] = { 0 };
	FILE *to;

	if (d != frame) {
		calib_pose_between(&s->device[frame], &s->device[d], &pose);
		mrcal_r_from_R(rt, NULL, pose.R);
	}
	for (size_t k = 0; k < 3 && d != frame; k++)
		rt[3 + k] = M_PER_MM * pose.T[k];
	to = safe_file_open(path, &place);
	if (!to)
		return -1;
	fprintf(to, "{\n    'lensmodel': 'LENSMODEL_%s',\n", lens[device->model]);
	fputs("    # fx fy cx cy, then the lens\n", to);
	put(to, "intrinsics", s->intrinsics[d], calib_intrinsics_count(device->model));
	fprintf(to, "    # from the frame of %s: rotation vector, translation in m\n",
	    problem->device[frame].name);
	put(to, "extrinsics", rt, 6);
	put(to, "imagersize", size, 2);
	fprintf(to, "    'kind': '%s',\n}\n",
	    device->kind == CALIB_CAMERA ? "camera" : "projector");
	return safe_file_close(to, path, place, true);
}

int
models_check(const struct calib_problem *problem)
{
	return problem->devices > 1 && strcmp(problem->board.unit, "mm") ?
	    fail("--models", "lengths in camera models are m, and nobody knows the board's "
	    "spacing: give --board WxH,MM") : 0;
}

int
models_write(const char *folder, const struct calib_problem *problem,
    const struct calib_solution *solution, size_t frame)
{
	int status = 0;

	for (size_t d = 0; d < problem->devices && status == 0; d++) {
		size_t n = strlen(folder) + CALIB_NAME_SIZE + 16;
		char *path = malloc(n);

		if (!path)
			return fail_memory();
		snprintf(path, n, "%s/%s.cameramodel", folder, problem->device[d].name);
		status = write_model(path, problem, solution, d, frame);
		free(path);
	}
	return status;
}
