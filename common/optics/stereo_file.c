/* Rectified pairs out of calibration files. */
#include "optics/stereo.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "optics/calib_entries.h"

#define AGREE_PX 0.1		/* R T and R1 R2 P1 P2 may differ by so much */

struct pair_names {
	const char *K[2], *distortion[2], *R, *T;
};

static const struct pair_names pairs[] = {
	{ { "K1|M1", "K2|M2" }, { "D1|d1", "D2|d2" }, "R", "T|T_mm" },
	{ { "cameraMatrix1", "cameraMatrix2" }, { "distCoeffs1", "distCoeffs2" }, "R", "T|T_mm" },
};

static const struct projector_names {
	const char *K, *distortion, *R, *T;
} projectors[] = {
	{ "projector_K", "projector_dist", "R_cam_to_proj", "T_cam_to_proj|T_cam_to_proj_mm" },
	{ "M4", "D4", "Rlp", "Tlp|Tlp_mm" },
	{ "M3|K3", "D3|d3", "Rlp", "Tlp|Tlp_mm" },
};

static void
set_identity(double R[9])
{
	for (size_t i = 0; i < 9; i++)
		R[i] = i % 4 == 0;
}

static int
find_scale(const char *path, const char *unit, double *mm)
{
	static const struct {
		const char *name;
		double mm;
	} units[] = { { "mm", 1 }, { "cm", 10 }, { "m", 1000 }, { "um", 1e-3 }, { "in", 25.4 } };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(unit, units[i].name)) {
			*mm = units[i].mm;
			return 0;
		}
	return fail(path, "length_unit: expected mm, cm, m, um or in, found %s", unit);
}

/* 24 numbers: the left camera's 3x4 matrix, then the right one's. */
static int
read_plain(const char *path, struct stereo *stereo)
{
	struct calib calib;
	struct pinhole *left = &stereo->camera[0], *right = &stereo->camera[1];

	if (calib_load(path, &calib) < 0)
		return -1;
	*left = calib.camera;
	*right = calib.projector;
	pinhole_between(left->R, left->T, right->R, right->T, right->R, right->T);
	set_identity(left->R);
	memset(left->T, 0, sizeof(left->T));
	return 0;
}

static int
read_pose(const char *path, const struct number_file *numbers, const char *R, const char *T,
    double mm, struct pinhole *device)
{
	if (calib_get_rotation(path, numbers, R, device->R) < 0 ||
	    calib_get(path, numbers, T, "a translation of 3 numbers", 3, device->T) < 0)
		return -1;
	for (size_t i = 0; i < 3; i++)
		device->T[i] *= mm;
	return 0;
}

static int
fail_no_pair(const char *path, const struct number_file *numbers)
{
	static const char *const projector[] = { "projector_K", "M4", "projectorMatrix",
		"projector_matrix", "proj_K" };

	for (size_t i = 0; i < sizeof(projector) / sizeof(projector[0]); i++)
		if (calib_has(numbers, projector[i]))
			return fail(path, "expected two cameras (K1 d1 K2 d2 R T), found a camera "
			    "and a projector (%s)", projector[i]);
	if (calib_has(numbers, "R1") && calib_has(numbers, "P1"))
		return fail(path, "expected two cameras (K1 d1 K2 d2 R T), found R1 P1 without "
		    "K1: join it with the file of the camera matrices");
	return fail(path, "expected two cameras, K1 d1 K2 d2 R T or other names that man rectify "
	    "lists; found %zu other entries%s%s", numbers->entries, numbers->entries ?
	    ", the first one " : "", numbers->entries ? numbers->entry[0].name : "");
}

/* Is the entry devices.NAME.kind that of a camera? Then its name, of n letters, begins at *name. */
static bool
is_camera(const struct number_file_entry *entry, const char **name, size_t *n)
{
	static const char before[] = "devices.", behind[] = ".kind";
	size_t all = strlen(entry->name), around = strlen(before) + strlen(behind);

	if (all <= around || strncmp(entry->name, before, strlen(before)) ||
	    strcmp(entry->name + all - strlen(behind), behind) || strcmp(entry->text, "camera"))
		return false;
	*name = entry->name + strlen(before);
	*n = all - around;
	return true;
}

/*
 * A camera's size: its own entry, else that of the first or second device of kind camera, else one
 * for both.
 */
static int
read_size(const char *path, const struct number_file *numbers, size_t camera, double size[2])
{
	static const char *const own[2] = { "camera_size1|image_size1|imageSize1",
		"camera_size2|image_size2|imageSize2" };
	char device[2 * NUMBER_FILE_NAME_SIZE] = "";
	size_t cameras = 0, n;
	const char *name;

	for (size_t i = 0; i < numbers->entries; i++)
		if (is_camera(&numbers->entry[i], &name, &n) && cameras++ == camera)
			snprintf(device, sizeof(device), "devices.%.*s.size", (int)n, name);
	return calib_get_pair(path, numbers, calib_has(numbers, own[camera]) ? own[camera] :
	    calib_has(numbers, device) ? device :
	    "full_size|S|camera_size|image_size|imageSize", "a size, w h", size);
}

static int
read_cameras(const char *path, const struct number_file *numbers, double mm,
    struct stereo *stereo, bool *posed)
{
	const struct pair_names *names = NULL;
	double size[2];

	for (size_t i = 0; !names && i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (calib_has(numbers, pairs[i].K[0]) && calib_has(numbers, pairs[i].K[1]))
			names = &pairs[i];
	if (!names)
		return fail_no_pair(path, numbers);
	if (calib_has(numbers, "crop_x0_y0"))
		return fail(path, "crop_x0_y0: is the crop of one camera, here are two: say "
		    "origin_px for the images of each");
	if (calib_get_intrinsics(path, numbers, names->K[0], names->distortion[0],
	    "the left camera's 3x3 matrix", &stereo->camera[0]) < 0 ||
	    calib_get_intrinsics(path, numbers, names->K[1], names->distortion[1],
	    "the right camera's 3x3 matrix", &stereo->camera[1]) < 0)
		return -1;
	for (size_t i = 0; i < 2; i++) {
		struct pinhole *camera = &stereo->camera[i];

		if (read_size(path, numbers, i, size) < 0)
			return -1;
		camera->w = size[0];
		camera->h = size[1];
		if (!(camera->K[0] > 0 && camera->K[4] > 0))
			return fail(path, "%s: expected positive focal lengths, found %g %g",
			    names->K[i], camera->K[0], camera->K[4]);
	}
	set_identity(stereo->camera[0].R);
	*posed = calib_has(numbers, names->R) || calib_has(numbers, names->T);
	return *posed ? read_pose(path, numbers, names->R, names->T, mm, &stereo->camera[1]) : 0;
}

static int
read_projector(const char *path, const struct number_file *numbers, double mm,
    struct stereo *stereo)
{
	struct pinhole *projector = &stereo->projector;
	double size[2];

	for (size_t i = 0; i < sizeof(projectors) / sizeof(projectors[0]); i++) {
		const struct projector_names *names = &projectors[i];

		if (!calib_has(numbers, names->K) || !calib_has(numbers, names->R))
			continue;
		if (calib_get_intrinsics(path, numbers, names->K, names->distortion,
		    "the projector's 3x3 matrix", projector) < 0 ||
		    read_pose(path, numbers, names->R, names->T, mm, projector) < 0 ||
		    calib_get_pair(path, numbers,
		    "projector_size|projector_px|S_projector|proj_size", "a size, w h", size) < 0)
			return -1;
		projector->w = size[0];
		projector->h = size[1];
		pinhole_complete(projector);
		stereo->has_projector = true;
		return 0;
	}
	return calib_has(numbers, "projector_K") ? fail(path, "projector_K: expected R_cam_to_proj "
	    "and T_cam_to_proj beside it") : 0;
}

/* ---- R1 R2 P1 P2 ---- */

static int
check_perspective(const char *path, const char *name, const double P[12])
{
	if (P[1] != 0 || P[4] != 0 || P[8] != 0 || P[9] != 0 || P[10] != 1 || P[11] != 0 ||
	    !(P[0] > 0))
		return fail(path, "%s: expected f 0 cx, 0 f cy, 0 0 1 and what moves it along a "
		    "row, found %g %g %g %g, %g %g %g %g, %g %g %g %g", name, P[0], P[1], P[2],
		    P[3], P[4], P[5], P[6], P[7], P[8], P[9], P[10], P[11]);
	if (fabs(P[0] - P[5]) > 1e-4 * P[0])
		return fail(path, "%s: expected square pixels, found focal lengths %g %g", name,
		    P[0], P[5]);
	return 0;
}

static int
read_perspectives(const char *path, const struct number_file *numbers, double mm,
    struct stereo *stereo)
{
	static const char *const names[2] = { "P1", "P2" };
	double P[2][12];

	for (size_t i = 0; i < 2; i++) {
		if (calib_get(path, numbers, names[i], "a 3x4 matrix", 12, P[i]) < 0 ||
		    check_perspective(path, names[i], P[i]) < 0)
			return -1;
		stereo->cx_px[i] = P[i][2];
	}
	if (fabs(P[0][0] - P[1][0]) > 1e-4 * P[0][0] || fabs(P[0][6] - P[1][6]) > AGREE_PX)
		return fail(path, "P1 and P2: expected one focal length and one row of the "
		    "principal point, found %g and %g, %g and %g%s", P[0][0], P[1][0], P[0][6],
		    P[1][6], P[1][7] != 0 ?
		    " (cameras one above the other: leave P1 and P2 out)" : "");
	if (P[1][7] != 0)
		return fail(path, "P2: the cameras stand one above the other: leave R1 R2 P1 P2 "
		    "out, and columns become rows");
	if (P[0][3] != 0)
		return fail(path, "P1: expected the left camera at 0, found %g", P[0][3]);
	if (P[1][3] == 0)
		return fail(path, "P2: the baseline is zero: both cameras stand at one place");
	stereo->f_px = P[0][0];
	stereo->cy_px = P[0][6];
	stereo->baseline_mm = -P[1][3] / P[1][0] * mm;
	stereo->w = stereo->camera[0].w;
	stereo->h = stereo->camera[0].h;
	return 0;
}

/* By how many pixels a point of the left camera's frame is off its row, or off the place in the row
 * that its depth gives. */
static double
disagreement(const struct stereo *stereo, const double X[3])
{
	const struct pinhole *right = &stereo->camera[1];
	double seen[3], uv[2][2], z = 0, rows, columns;

	for (size_t i = 0; i < 3; i++) {
		seen[i] = right->T[i];
		for (size_t j = 0; j < 3; j++)
			seen[i] += right->R[3 * i + j] * X[j];
		z += stereo->R[0][6 + i] * X[i];
	}
	if (!stereo_project(stereo, STEREO_LEFT, X, uv[0]) ||
	    !stereo_project(stereo, STEREO_RIGHT, seen, uv[1]))
		return 0;
	rows = fabs(uv[0][1] - uv[1][1]);
	columns = fabs(uv[0][0] - uv[1][0] - (stereo->cx_px[0] - stereo->cx_px[1]) -
	    stereo->f_px * stereo->baseline_mm / z);
	return fmax(rows, columns);
}

/* Over the left picture, at 2, 5 and 1000 baselines. */
static int
check_agreement(const char *path, const struct stereo *stereo)
{
	static const double far[] = { 2, 5, 1000 };
	const struct pinhole *left = &stereo->camera[0];
	double w = left->w > 0 ? left->w : 2 * left->K[2] + 1;
	double h = left->w > 0 ? left->h : 2 * left->K[5] + 1, worst = 0;

	for (size_t i = 0; i < 75; i++) {
		double z = far[i / 25] * fabs(stereo->baseline_mm);
		double u = (double)(i % 5) / 4 * w, v = (double)(i / 5 % 5) / 4 * h;
		const double X[3] = { (u - left->K[2]) / left->K[0] * z,
			(v - left->K[5]) / left->K[4] * z, z };

		worst = fmax(worst, disagreement(stereo, X));
	}
	return worst <= AGREE_PX ? 0 : fail(path, "R T and R1 R2 P1 P2 disagree by %.3g px: one of "
	    "them belongs to another calibration or to images of another size", worst);
}

/* The pose from R1 R2 P1 P2 alone. */
static void
set_pose(struct stereo *stereo)
{
	struct pinhole *right = &stereo->camera[1];
	const double *R1 = stereo->R[0], *R2 = stereo->R[1];

	for (size_t i = 0; i < 3; i++) {
		right->T[i] = -R2[i] * stereo->baseline_mm;
		for (size_t j = 0; j < 3; j++)
			right->R[3 * i + j] = R2[i] * R1[j] + R2[3 + i] * R1[3 + j] +
			    R2[6 + i] * R1[6 + j];
	}
	pinhole_complete(right);
}

static int
read_rectification(const char *path, const struct number_file *numbers, double mm, bool posed,
    struct stereo *stereo)
{
	bool turned = calib_has(numbers, "R1"), placed = calib_has(numbers, "P1");

	if (turned != calib_has(numbers, "R2") || placed != calib_has(numbers, "P2") ||
	    (placed && !turned))
		return fail(path, "R1 R2 P1 P2 belong together, found only%s%s%s%s",
		    turned ? " R1" : "", calib_has(numbers, "R2") ? " R2" : "",
		    placed ? " P1" : "", calib_has(numbers, "P2") ? " P2" : "");
	if (!posed && !placed)
		return fail(path, "expected the right camera's pose, R and T, found neither");
	if (!turned)
		return stereo_rectify(path, stereo);
	if (calib_get_rotation(path, numbers, "R1", stereo->R[0]) < 0 ||
	    calib_get_rotation(path, numbers, "R2", stereo->R[1]) < 0)
		return -1;
	if ((placed ? read_perspectives(path, numbers, mm, stereo) :
	    stereo_place(path, stereo)) < 0)
		return -1;
	if (posed)
		return check_agreement(path, stereo);
	set_pose(stereo);
	return 0;
}

static void
check_rest(const struct number_file *numbers, double mm, struct stereo *stereo)
{
	const struct pinhole *left = &stereo->camera[0], *right = &stereo->camera[1];
	const double T[3] = { right->T[0] / mm, right->T[1] / mm, right->T[2] / mm };

	calib_rest_agrees(numbers, left->K, right->K, right->R, T, stereo->contradiction);
}

/* The place of the camera of that name among a file's, from 0; `cameras`: how many there are. */
static size_t
find_camera(const struct number_file *numbers, const char *wanted, size_t *cameras)
{
	size_t found = SIZE_MAX, n;
	const char *name;

	*cameras = 0;
	for (size_t i = 0; i < numbers->entries; i++)
		if (is_camera(&numbers->entry[i], &name, &n)) {
			if (strlen(wanted) == n && !strncmp(wanted, name, n))
				found = *cameras;
			++*cameras;
		}
	return found;
}

/* Does the file call its first camera right and its second one left? */
static bool
is_named_otherwise(const struct number_file *numbers)
{
	size_t cameras;

	return find_camera(numbers, "right", &cameras) == 0 &&
	    find_camera(numbers, "left", &cameras) == 1;
}

/* Frees numbers. */
static int
take_numbers(const char *path, struct number_file *numbers, struct stereo *stereo)
{
	bool plain = numbers->entries == 1 && !numbers->entry[0].name[0], posed = true;
	double mm = 1;
	char unit[16];
	int status;

	calib_get_unit(numbers, unit);
	stereo->unit_stated = plain || calib_has(numbers, "length_unit|unit") ||
	    (calib_has(numbers, "T_mm") && !calib_has(numbers, "T"));
	status = plain ? read_plain(path, stereo) : find_scale(path, unit, &mm) < 0 ? -1 :
	    read_cameras(path, numbers, mm, stereo, &posed);
	pinhole_complete(&stereo->camera[0]);
	pinhole_complete(&stereo->camera[1]);
	if (status == 0 && !plain && posed)
		check_rest(numbers, mm, stereo);
	if (status == 0)
		status = plain ? stereo_rectify(path, stereo) :
		    read_rectification(path, numbers, mm, posed, stereo);
	if (status == 0 && !plain)
		status = read_projector(path, numbers, mm, stereo);
	stereo->named_otherwise = is_named_otherwise(numbers);
	number_file_free(numbers);
	return status;
}

int
stereo_load(const char *path, struct stereo *stereo)
{
	struct number_file numbers;

	*stereo = (struct stereo){ 0 };
	return number_file_load(path, &numbers) < 0 ? -1 : take_numbers(path, &numbers, stereo);
}

int
stereo_find_side(const char *path, const char *name, enum stereo_side *side)
{
	struct number_file numbers;
	size_t cameras, at;

	if (number_file_load(path, &numbers) < 0)
		return -1;
	at = find_camera(&numbers, name, &cameras);
	number_file_free(&numbers);
	if (at == SIZE_MAX && (!strcmp(name, "left") || !strcmp(name, "right")))
		at = !strcmp(name, "right");
	if (at == SIZE_MAX)
		return fail(path, "has no camera %.40s: its pair is left and right%s", name,
		    cameras ? ", or the first two devices of kind camera by their names" : "");
	if (at > 1)
		return fail(path, "%.40s is no part of the pair, which are its first two cameras",
		    name);
	*side = at == 0 ? STEREO_LEFT : STEREO_RIGHT;
	return 0;
}
