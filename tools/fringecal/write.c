/* The result of a calibration: JSON for the tools that measure, a table for people, camera models
 * of mrcal, and the folders that results are written into. */
#include "fringecal.h"

#include <errno.h>
#include <math.h>
#include <mrcal/mrcal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "io/codec.h"
#include "io/safe_file.h"
#include "io/target.h"

/* ---- folders that results are written into ---- */

/* Can it be made, or files where it is there already? */
static int
place_check(const char *folder, bool later)
{
	size_t n = strlen(folder);
	char *place;
	int found;

	if (access(folder, F_OK) == 0)
		return access(folder, W_OK | X_OK) == 0 ? 0 :
		    fail_errno(folder, "cannot be written into");
	while (n > 1 && folder[n - 1] == '/')
		n--;
	while (n > 0 && folder[n - 1] != '/')
		n--;
	place = n ? strndup(folder, n) : strdup(".");
	if (!place)
		return fail_memory();
	found = access(place, W_OK | X_OK);
	free(place);
	return found == 0 || (later && errno == ENOENT) ? 0 : fail_errno(folder, "cannot be made");
}

int
folder_check(const char *option, const char *folder, bool force, bool later)
{
	struct stat status;
	char *path;
	size_t n;
	int result;

	if (!folder[0])
		return fail_usage(option, "is an empty name");
	if (stat(folder, &status) == 0 && !S_ISDIR(status.st_mode))
		return fail_usage(folder, "is no folder");
	n = strlen(folder) + 2;
	path = malloc(n);
	if (!path)
		return fail_memory();
	snprintf(path, n, "%s/", folder);
	result = later && access(folder, F_OK) < 0 ? 0 : target_check(path, force);
	free(path);
	return result < 0 ? -1 : place_check(folder, later);
}

int
folder_make(const char *folder)
{
	struct stat at;
	int error;

	if (mkdir(folder, 0777) == 0)
		return 0;
	error = errno;
	if (stat(folder, &at) == 0 && S_ISDIR(at.st_mode))
		return 0;
	errno = error;
	return fail_errno(folder, "cannot be made");
}

/* ---- camera models of mrcal ---- */

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

/* ---- JSON ---- */

static double
sd(const struct calib_solution *solution, size_t parameter)
{
	return sqrt(solution->covariance[parameter * solution->parameters + parameter]);
}

static bool
in_mm(const struct calib_problem *problem)
{
	return !strcmp(problem->board.unit, "mm");
}

static void
put_number(FILE *to, double v)
{
	char text[32];

	fputs(isfinite(v) ? number_format(v, text) : "null", to);
}

static void
put_list(FILE *to, const double *v, size_t n)
{
	fputc('[', to);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? ", " : "", to);
		put_number(to, v[i]);
	}
	fputc(']', to);
}

static void
put_matrix(FILE *to, const double *v, size_t n)
{
	fputc('[', to);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? ", " : "", to);
		put_list(to, v + n * i, n);
	}
	fputc(']', to);
}

static void
put_K(FILE *to, const double *core)
{
	const double K[9] = { core[0], 0, core[2], 0, core[1], core[3], 0, 0, 1 };

	put_matrix(to, K, 3);
}

/* A perfect lens is four zeros. */
static void
put_lens(FILE *to, enum calib_model model, const double *intrinsics)
{
	size_t n = calib_intrinsics_count(model);

	put_list(to, intrinsics + 4, model == CALIB_PINHOLE ? 4 : n - 4);
}

/* The names that phase2depth(1) knows. */
static void
put_camera_and_projector(FILE *to, const struct calib_problem *problem,
    const struct calib_solution *s, size_t camera, size_t projector)
{
	const struct calib_device *c = &problem->device[camera];
	struct calib_pose pose;

	fprintf(to, "\t\"camera_size\": [%zu, %zu],\n\t\"camera_K\": ", c->w, c->h);
	put_K(to, s->intrinsics[camera]);
	fputs(",\n\t\"camera_dist\": ", to);
	put_lens(to, c->model, s->intrinsics[camera]);
	fputs(",\n", to);
	if (projector == problem->devices)
		return;
	fprintf(to, "\t\"projector_size\": [%zu, %zu],\n\t\"projector_K\": ",
	    problem->device[projector].w, problem->device[projector].h);
	put_K(to, s->intrinsics[projector]);
	fputs(",\n\t\"projector_dist\": ", to);
	put_lens(to, problem->device[projector].model, s->intrinsics[projector]);
	calib_pose_between(&s->device[camera], &s->device[projector], &pose);
	fputs(",\n\t\"R_cam_to_proj\": ", to);
	put_matrix(to, pose.R, 3);
	fprintf(to, ",\n\t\"T_cam_to_proj%s\": ", in_mm(problem) ? "_mm" : "");
	put_list(to, pose.T, 3);
	fputs(",\n", to);
}

/* The names of OpenCV's stereoCalibrate. */
static void
put_pair(FILE *to, const struct calib_problem *problem, const struct calib_solution *s, size_t a,
    size_t b)
{
	struct calib_pose pose;

	fprintf(to, "\t\"image_size\": [%zu, %zu],\n\t\"K1\": ", problem->device[a].w,
	    problem->device[a].h);
	put_K(to, s->intrinsics[a]);
	fputs(",\n\t\"d1\": ", to);
	put_lens(to, problem->device[a].model, s->intrinsics[a]);
	fputs(",\n\t\"K2\": ", to);
	put_K(to, s->intrinsics[b]);
	fputs(",\n\t\"d2\": ", to);
	put_lens(to, problem->device[b].model, s->intrinsics[b]);
	calib_pose_between(&s->device[a], &s->device[b], &pose);
	fputs(",\n\t\"R\": ", to);
	put_matrix(to, pose.R, 3);
	fputs(",\n\t\"T\": ", to);
	put_list(to, pose.T, 3);
	fputs(",\n", to);
}

static void
put_sd(FILE *to, const struct calib_problem *problem, const struct calib_solution *s, size_t d)
{
	static const char *const pose[] = { "rx", "ry", "rz", "tx", "ty", "tz" };
	size_t n = calib_intrinsics_count(problem->device[d].model);

	fputs("\"sd\": {", to);
	for (size_t k = 0; k < n + (d ? 6 : 0); k++) {
		size_t at = k < n ? calib_parameter_intrinsics(problem, d) + k :
		    calib_parameter_pose(problem, d) + k - n;

		fprintf(to, "%s\"%s\": ", k ? ", " : "",
		    k < n ? calib_intrinsics_names[k] : pose[k - n]);
		put_number(to, sd(s, at));
	}
	fputc('}', to);
}

static void
put_device(FILE *to, const struct calib_problem *problem, const struct calib_solution *s,
    size_t frame, size_t d)
{
	const struct calib_device *device = &problem->device[d];
	struct calib_pose pose;
	size_t points = 0;

	for (size_t v = 0; v < problem->views; v++)
		points += problem->view[v].device == d ? problem->view[v].n : 0;
	fprintf(to, "\t\t\"%s\": {\n\t\t\t\"kind\": \"%s\", \"model\": \"%s\", "
	    "\"size\": [%zu, %zu],\n\t\t\t\"K\": ", device->name,
	    device->kind == CALIB_CAMERA ? "camera" : "projector",
	    calib_model_names[device->model], device->w, device->h);
	put_K(to, s->intrinsics[d]);
	fputs(",\n\t\t\t\"dist\": ", to);
	put_lens(to, device->model, s->intrinsics[d]);
	calib_pose_between(&s->device[d], &s->device[frame], &pose);
	fputs(",\n\t\t\t\"R\": ", to);
	put_matrix(to, pose.R, 3);
	fprintf(to, ",\n\t\t\t\"T%s\": ", in_mm(problem) ? "_mm" : "");
	put_list(to, pose.T, 3);
	fputs(",\n\t\t\t\"rms_px\": ", to);
	put_number(to, s->device_rms[d]);
	fprintf(to, ", \"points\": %zu, \"rejected\": %zu, \"rms_over_sigma\": ", points,
	    points - s->device_used[d]);
	put_number(to, s->device_scale[d]);
	fputs(", \"excess_px\": ", to);
	put_number(to, s->device_excess[d]);
	fputs(",\n\t\t\t", to);
	put_sd(to, problem, s, d);
	fprintf(to, "\n\t\t}%s\n", d + 1 < problem->devices ? "," : "");
}

static void
put_board(FILE *to, const struct calib_problem *problem, const struct calib_solution *s)
{
	fprintf(to, "\t\"board\": {\"corners\": [%zu, %zu], \"spacing\": ", problem->board.w,
	    problem->board.h);
	put_number(to, problem->board.spacing);
	if (problem->board.diameter > 0) {
		fputs(", \"diameter\": ", to);
		put_number(to, problem->board.diameter);
	}
	if (problem->warp) {
		const double deviation[2] = { sd(s, s->parameters - 2), sd(s, s->parameters - 1) };

		fputs(", \"bend\": ", to);
		put_list(to, s->bend, 2);
		fputs(", \"bend_sd\": ", to);
		put_list(to, deviation, 2);
	}
	fputs("},\n", to);
}

static void
put_views(FILE *to, const struct calib_problem *problem, const struct calib_solution *s)
{
	fputs("\t\"views\": [\n", to);
	for (size_t v = 0; v < problem->views; v++) {
		const struct calib_view *view = &problem->view[v];

		fprintf(to, "\t\t{\"pose\": %zu, \"device\": \"%s\", \"points\": %zu, "
		    "\"rejected\": %zu, \"rms_px\": ", view->pose + 1,
		    problem->device[view->device].name, view->n, view->n - s->view_used[v]);
		put_number(to, s->view_rms[v]);
		fputs(", \"excess_px\": ", to);
		put_number(to, s->view_excess[v]);
		fprintf(to, "}%s\n", v + 1 < problem->views ? "," : "");
	}
	fputs("\t],\n", to);
}

/* Where the board was: there the covariance counts. */
static void
put_volume(FILE *to, const double uvz[3][2])
{
	fputs("\t\"volume\": {", to);
	for (size_t k = 0; k < 3; k++) {
		fprintf(to, "%s\"%c\": ", k ? ", " : "", "uvz"[k]);
		put_list(to, uvz[k], 2);
	}
	fputs("},\n", to);
}

static void
put_covariance(FILE *to, const struct calib_problem *problem, const struct calib_solution *s)
{
	fputs("\t\"parameters\": [", to);
	for (size_t i = 0; i < s->parameters; i++) {
		char name[64];

		calib_parameter_name(problem, i, name, sizeof(name));
		fprintf(to, "%s\"%s\"", i ? ", " : "", name);
	}
	fputs("],\n\t\"covariance\": [\n", to);
	for (size_t i = 0; i < s->parameters; i++) {
		fputs("\t\t[", to);
		for (size_t j = 0; j < s->parameters; j++) {
			fputs(j ? ", " : "", to);
			put_number(to, s->covariance[i * s->parameters + j]);
		}
		fprintf(to, "]%s\n", i + 1 < s->parameters ? "," : "");
	}
	fputs("\t]\n", to);
}

int
write_check(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct stat status;
	char *folder;
	int found;

	if (codec_by_suffix(path))
		return fail(path, "has the suffix of a format for frames: the calibration is "
		    "JSON, NAME.json");
	if (!slash || slash == path)
		return 0;
	folder = strndup(path, (size_t)(slash - path));
	if (!folder)
		return fail_memory();
	found = stat(folder, &status);
	free(folder);
	return found == 0 ? 0 : fail_errno(path, "cannot be created");
}

int
write_json(const struct calib_problem *problem, const struct calib_solution *s, size_t frame,
    const char *path)
{
	size_t camera[2] = { problem->devices, problem->devices }, projector = problem->devices;
	struct safe_file *place;
	double uvz[3][2];
	FILE *to;

	if (uncertainty_volume_range(problem, s, uvz) < 0)
		return -1;
	to = safe_file_open(path, &place);
	if (!to)
		return -1;
	for (size_t d = problem->devices; d-- > 0;)
		if (problem->device[d].kind == CALIB_PROJECTOR) {
			projector = d;
		} else {
			camera[1] = camera[0];
			camera[0] = d;
		}
	fprintf(to, "{\n\t\"unit\": \"%s\",\n\t\"frame\": \"%s\",\n\t\"rms_px\": ",
	    problem->board.unit, problem->device[frame].name);
	put_number(to, s->rms);
	fputs(",\n", to);
	put_camera_and_projector(to, problem, s, camera[0], projector);
	if (camera[1] < problem->devices)
		put_pair(to, problem, s, camera[0], camera[1]);
	fputs("\t\"devices\": {\n", to);
	for (size_t d = 0; d < problem->devices; d++)
		put_device(to, problem, s, frame, d);
	fputs("\t},\n", to);
	put_board(to, problem, s);
	put_views(to, problem, s);
	put_volume(to, uvz);
	put_covariance(to, problem, s);
	fputs("}\n", to);
	return safe_file_close(to, path, place, true);
}

/* ---- text ---- */

static double
parameter(const struct calib_problem *problem, const struct calib_solution *s, size_t i)
{
	for (size_t d = 0; d < s->devices; d++) {
		size_t at = calib_parameter_intrinsics(problem, d);

		if (i >= at && i < calib_parameter_intrinsics(problem, d + 1))
			return s->intrinsics[d][i - at];
		at = d ? calib_parameter_pose(problem, d) : s->parameters;
		if (i >= at && i < at + 3)
			return s->rotation[d][i - at];
		if (i >= at + 3 && i < at + 6)
			return s->device[d].T[i - at - 3];
	}
	return s->bend[i + 2 - s->parameters];
}

void
write_text(const struct calib_problem *problem, const struct calib_solution *s, FILE *to)
{
	fprintf(to, "%-28s %14s %12s\n", "parameter", "value", "sd");
	for (size_t i = 0; i < s->parameters; i++) {
		char name[64];

		calib_parameter_name(problem, i, name, sizeof(name));
		fprintf(to, "%-28s %14.6f %12.3g\n", name, parameter(problem, s, i), sd(s, i));
	}
	fprintf(to, "\n%-20s %8s %8s %9s %11s %10s\n", "device", "points", "rejected", "rms_px",
	    "rms/sigma", "excess_px");
	for (size_t d = 0; d < s->devices; d++) {
		size_t points = 0;

		for (size_t v = 0; v < problem->views; v++)
			points += problem->view[v].device == d ? problem->view[v].n : 0;
		fprintf(to, "%-20s %8zu %8zu %9.4f %11.3f %10.4f\n", problem->device[d].name,
		    points, points - s->device_used[d], s->device_rms[d], s->device_scale[d],
		    s->device_excess[d]);
	}
	fprintf(to, "\n%-5s %-20s %6s %8s %9s %10s\n", "pose", "device", "points", "rejected",
	    "rms_px", "excess_px");
	for (size_t v = 0; v < problem->views; v++) {
		const struct calib_view *view = &problem->view[v];

		fprintf(to, "%-5zu %-20s %6zu %8zu %9.4f %10.4f\n", view->pose + 1,
		    problem->device[view->device].name, view->n, view->n - s->view_used[v],
		    s->view_rms[v], s->view_excess[v]);
	}
}
