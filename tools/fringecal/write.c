/* The result of a calibration: JSON for the tools that measure, a table for people, camera models
 * of mrcal, and the folders that results are written into. */
#include "fringecal.h"

#include <errno.h>
#include <mrcal/mrcal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "io/codec.h"
#include "io/safe_file.h"
#include "io/target.h"

/* ---- folders that results are written into ---- */

/* Can it be made, or files where it is there already? */
int
folder_check(const char *option, const char *folder, bool force, bool later)
{
	size_t n = strlen(folder);
	struct stat status;
	char *path;
	int result = 0;

	if (!n)
		return fail_usage(option, "is an empty name");
	if (stat(folder, &status) == 0 && !S_ISDIR(status.st_mode))
		return fail_usage(folder, "is no folder");
	if (!later || access(folder, F_OK) == 0) {
		path = must_format("%s/", folder);
		result = target_check(path, force);
		free(path);
	}
	if (result < 0)
		return -1;
	if (access(folder, F_OK) == 0)
		return access(folder, W_OK | X_OK) == 0 ? 0 :
		    fail_errno(folder, "cannot be written into");
	while (n > 1 && folder[n - 1] == '/')
		n--;
	while (n > 0 && folder[n - 1] != '/')
		n--;
	path = n ? must_format("%.*s", (int)n, folder) : must_strdup(".");
	result = access(path, W_OK | X_OK);
	free(path);
	return result == 0 || (later && errno == ENOENT) ? 0 :
	    fail_errno(folder, "cannot be made");
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
	FILE *to = safe_file_open(path, &place);

	if (!to)
		return -1;
	if (d != frame) {
		calib_pose_between(&s->device[frame], &s->device[d], &pose);
		mrcal_r_from_R(rt, NULL, pose.R);
		for (size_t k = 0; k < 3; k++)
			rt[3 + k] = M_PER_MM * pose.T[k];
	}
	fprintf(to, "{\n    'lensmodel': 'LENSMODEL_%s',\n", lens[device->model]);
	fputs("    # fx fy cx cy, then the lens\n", to);
	put(to, "intrinsics", s->intrinsics[d], calib_intrinsics_count(device->model));
	fprintf(to, "    # from the frame of %s: rotation vector, translation in m\n",
	    problem->device[frame].name);
	put(to, "extrinsics", rt, 6);
	put(to, "imagersize", size, 2);
	fprintf(to, "    'kind': '%s',\n}\n", calib_kind_names[device->kind]);
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
		char *path = must_format("%s/%s.cameramodel", folder, problem->device[d].name);

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

/* A list of n numbers after a text, as "key": [..]. */
static void
put_list(FILE *to, const char *before, const double *v, size_t n)
{
	fprintf(to, "%s[", before);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? ", " : "", to);
		json_put_number(to, v[i]);
	}
	fputc(']', to);
}

static void
put_matrix(FILE *to, const char *before, const double v[9])
{
	fprintf(to, "%s[", before);
	for (size_t i = 0; i < 3; i++)
		put_list(to, i ? ", " : "", v + 3 * i, 3);
	fputc(']', to);
}

/* Its matrix and its lens, of which a perfect one is four zeros, after these texts. */
static void
put_intrinsics(FILE *to, const char *before_K, const char *before_lens,
    const struct calib_problem *problem, const struct calib_solution *s, size_t d)
{
	const double *core = s->intrinsics[d];
	const double K[9] = { core[0], 0, core[2], 0, core[1], core[3], 0, 0, 1 };
	size_t n = calib_intrinsics_count(problem->device[d].model);

	put_matrix(to, before_K, K);
	put_list(to, before_lens, core + 4, n > 4 ? n - 4 : 4);
}

/* The pose from one device to another. */
static void
put_pose(FILE *to, const char *before_R, const char *before_T, const struct calib_solution *s,
    size_t from, size_t d)
{
	struct calib_pose pose;

	calib_pose_between(&s->device[from], &s->device[d], &pose);
	put_matrix(to, before_R, pose.R);
	put_list(to, before_T, pose.T, 3);
}

/* The names that phase2depth(1) knows. */
static void
put_camera_and_projector(FILE *to, const struct calib_problem *problem,
    const struct calib_solution *s, size_t camera, size_t projector)
{
	const struct calib_device *device = problem->device;

	fprintf(to, "\t\"camera_size\": [%zu, %zu],\n", device[camera].w, device[camera].h);
	put_intrinsics(to, "\t\"camera_K\": ", ",\n\t\"camera_dist\": ", problem, s, camera);
	fputs(",\n", to);
	if (projector == problem->devices)
		return;
	fprintf(to, "\t\"projector_size\": [%zu, %zu],\n", device[projector].w,
	    device[projector].h);
	put_intrinsics(to, "\t\"projector_K\": ", ",\n\t\"projector_dist\": ", problem, s,
	    projector);
	put_pose(to, ",\n\t\"R_cam_to_proj\": ", in_mm(problem) ? ",\n\t\"T_cam_to_proj_mm\": " :
	    ",\n\t\"T_cam_to_proj\": ", s, camera, projector);
	fputs(",\n", to);
}

/* The names of OpenCV's stereoCalibrate. */
static void
put_pair(FILE *to, const struct calib_problem *problem, const struct calib_solution *s, size_t a,
    size_t b)
{
	fprintf(to, "\t\"image_size\": [%zu, %zu],\n", problem->device[a].w, problem->device[a].h);
	put_intrinsics(to, "\t\"K1\": ", ",\n\t\"d1\": ", problem, s, a);
	put_intrinsics(to, ",\n\t\"K2\": ", ",\n\t\"d2\": ", problem, s, b);
	put_pose(to, ",\n\t\"R\": ", ",\n\t\"T\": ", s, a, b);
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
		json_put_number(to, sd(s, at));
	}
	fputc('}', to);
}

static void
put_device(FILE *to, const struct calib_problem *problem, const struct calib_solution *s,
    size_t frame, size_t d)
{
	const struct calib_device *device = &problem->device[d];
	size_t points = calib_device_points(problem, d);

	fprintf(to, "\t\t\"%s\": {\n\t\t\t\"kind\": \"%s\", \"model\": \"%s\", "
	    "\"size\": [%zu, %zu],\n", device->name, calib_kind_names[device->kind],
	    calib_model_names[device->model], device->w, device->h);
	put_intrinsics(to, "\t\t\t\"K\": ", ",\n\t\t\t\"dist\": ", problem, s, d);
	put_pose(to, ",\n\t\t\t\"R\": ", in_mm(problem) ? ",\n\t\t\t\"T_mm\": " :
	    ",\n\t\t\t\"T\": ", s, d, frame);
	fputs(",\n\t\t\t\"rms_px\": ", to);
	json_put_number(to, s->device_rms[d]);
	fprintf(to, ", \"points\": %zu, \"rejected\": %zu, \"rms_over_sigma\": ", points,
	    points - s->device_used[d]);
	json_put_number(to, s->device_scale[d]);
	fputs(", \"excess_px\": ", to);
	json_put_number(to, s->device_excess[d]);
	fputs(",\n\t\t\t", to);
	put_sd(to, problem, s, d);
	fprintf(to, "\n\t\t}%s\n", d + 1 < problem->devices ? "," : "");
}

static void
put_board(FILE *to, const struct calib_problem *problem, const struct calib_solution *s)
{
	fprintf(to, "\t\"board\": {\"corners\": [%zu, %zu], \"spacing\": ", problem->board.w,
	    problem->board.h);
	json_put_number(to, problem->board.spacing);
	if (problem->board.diameter > 0) {
		fputs(", \"diameter\": ", to);
		json_put_number(to, problem->board.diameter);
	}
	if (problem->warp) {
		const double deviation[2] = { sd(s, s->parameters - 2), sd(s, s->parameters - 1) };

		put_list(to, ", \"bend\": ", s->bend, 2);
		put_list(to, ", \"bend_sd\": ", deviation, 2);
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
		json_put_number(to, s->view_rms[v]);
		fputs(", \"excess_px\": ", to);
		json_put_number(to, s->view_excess[v]);
		fprintf(to, "}%s\n", v + 1 < problem->views ? "," : "");
	}
	fputs("\t],\n", to);
}

static void
put_covariance(FILE *to, const struct calib_problem *problem, const struct calib_solution *s)
{
	size_t n = s->parameters;

	fputs("\t\"parameters\": [", to);
	for (size_t i = 0; i < n; i++) {
		char name[64];

		calib_parameter_name(problem, i, name, sizeof(name));
		fprintf(to, "%s\"%s\"", i ? ", " : "", name);
	}
	fputs("],\n\t\"covariance\": [\n", to);
	for (size_t i = 0; i < n; i++) {
		put_list(to, "\t\t", s->covariance + i * n, n);
		fprintf(to, "%s\n", i + 1 < n ? "," : "");
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
	folder = must_format("%.*s", (int)(slash - path), path);
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

	uncertainty_volume_range(problem, s, uvz);
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
	json_put_number(to, s->rms);
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
	/* where the board was: there the covariance counts */
	put_list(to, "\t\"volume\": {\"u\": ", uvz[0], 2);
	put_list(to, ", \"v\": ", uvz[1], 2);
	put_list(to, ", \"z\": ", uvz[2], 2);
	fputs("},\n", to);
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
		size_t points = calib_device_points(problem, d);

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
