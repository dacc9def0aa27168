/*
 * Stereo rectification: the poses of two rectified views, and the keys and files that describe
 * them.
 */
#include "optics/stereo.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/linear.h"

/* ---- the geometry of a rectified pair ---- */

/* The rotation of the quaternion w + x i + y j + z k, of any length. */
static void
from_quaternion(const double q[4], double R[9])
{
	double n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], s = 2 / n;
	double w = q[0], x = q[1], y = q[2], z = q[3];

	R[0] = 1 - s * (y * y + z * z);
	R[1] = s * (x * y - w * z);
	R[2] = s * (x * z + w * y);
	R[3] = s * (x * y + w * z);
	R[4] = 1 - s * (x * x + z * z);
	R[5] = s * (y * z - w * x);
	R[6] = s * (x * z - w * y);
	R[7] = s * (y * z + w * x);
	R[8] = 1 - s * (x * x + y * y);
}

/* Half of a rotation; false where it is a half turn, whose half may go either way. */
static bool
half_rotation(const double R[9], double half[9])
{
	double trace = R[0] + R[4] + R[8], w = sqrt(fmax(1 + trace, 0)) / 2;
	double q[4] = { w + 1, 0, 0, 0 };

	if (!(w > 1e-3))
		return false;
	q[1] = (R[7] - R[5]) / (4 * w);
	q[2] = (R[2] - R[6]) / (4 * w);
	q[3] = (R[3] - R[1]) / (4 * w);
	from_quaternion(q, half);
	return true;
}

void
stereo_ray(const struct stereo *stereo, enum stereo_side side, double u, double v, double ray[3])
{
	const double x[3] = { (u - stereo->cx_px[side]) / stereo->f_px,
		(v - stereo->cy_px) / stereo->f_px, 1 };

	matrix3_apply_transposed(stereo->R[side], x, ray);
}

bool
stereo_project(const struct stereo *stereo, enum stereo_side side, const double ray[3],
    double uv[2])
{
	double x[3];

	matrix3_apply(stereo->R[side], ray, x);
	uv[0] = stereo->f_px * x[0] / x[2] + stereo->cx_px[side];
	uv[1] = stereo->f_px * x[1] / x[2] + stereo->cy_px;
	return x[2] > 0 && isfinite(uv[0]) && isfinite(uv[1]);
}

/* Both cameras' axes and the common x axis. *turned: the baseline runs along the pictures' columns,
 * which become rows. */
static int
set_rotations(const char *path, struct stereo *stereo, bool *turned)
{
	const double *R = stereo->camera[1].R, *T = stereo->camera[1].T;
	double half[9], back[9], turn[9], t[3], e[3], length, sign;

	if (!half_rotation(R, half))
		return fail(path, "R: the cameras look into opposite directions");
	matrix3_transpose(half, back);
	matrix3_apply(back, T, t);		/* in the frame midway between both */
	length = vector3_length(t);
	if (!(length > 0))
		return fail(path, "T: the baseline is zero: both cameras stand at one place");
	if (!(hypot(t[0], t[1]) > fabs(t[2])))
		return fail(path, "T: the baseline runs along the cameras' axes (%g %g %g mm "
		    "midway between them): such a pair cannot be rectified", t[0], t[1], t[2]);
	*turned = fabs(t[1]) > fabs(t[0]);
	sign = t[*turned] < 0 ? -1 : 1;		/* t leads from the right camera to the left */
	for (size_t i = 0; i < 3; i++)
		e[i] = sign * t[i] / length;
	/* the least rotation that takes e to the x axis: 1 + e.x, e x x */
	from_quaternion((double[4]){ 1 + e[0], 0, e[2], -e[1] }, turn);
	matrix3_product(turn, half, stereo->R[STEREO_LEFT]);
	matrix3_product(turn, back, stereo->R[STEREO_RIGHT]);
	stereo->baseline_mm = -sign * length;
	return 0;
}

/* Where the middle of a side's picture appears, x/z and y/z of the rectified camera: the mean of
 * its corners, as OpenCV takes it. */
static int
find_middle(const char *path, const struct stereo *stereo, enum stereo_side side,
    double middle[2])
{
	const struct pinhole *camera = &stereo->camera[side];
	double size[2];

	pinhole_picture_size(camera, size);
	middle[0] = middle[1] = 0;
	if (!(size[0] >= 1 && size[1] >= 1))
		return fail(path, "names no image_size, and the %s camera's principal point %g %g "
		    "lies outside of its image: say image_size", side == STEREO_LEFT ? "left" :
		    "right", camera->K[2], camera->K[5]);
	for (size_t i = 0; i < 4; i++) {
		const double uv[2] = { i & 1 ? size[0] - 1 : 0, i & 2 ? size[1] - 1 : 0 };
		double ray[3] = { 0, 0, 1 }, x[3];

		if (!pinhole_undistort(camera, uv, ray)) {	/* beyond the fold: without lens */
			ray[1] = (uv[1] - camera->K[5]) / camera->K[4];
			ray[0] = (uv[0] - camera->K[2] - camera->K[1] * ray[1]) / camera->K[0];
		}
		matrix3_apply(stereo->R[side], ray, x);
		if (!(x[2] > 1e-3))
			return fail(path, "R T: the rectified %s camera would look away from its "
			    "picture", side == STEREO_LEFT ? "left" : "right");
		middle[0] += x[0] / x[2] / 4;
		middle[1] += x[1] / x[2] / 4;
	}
	return 0;
}

/* The focal length and the principal points, where rotations are known. */
static int
place_pictures(const char *path, struct stereo *stereo, bool turned)
{
	const struct pinhole *left = &stereo->camera[0], *right = &stereo->camera[1];
	double middle[2][2], size[2];

	pinhole_picture_size(left, size);
	if (find_middle(path, stereo, STEREO_LEFT, middle[0]) < 0 ||
	    find_middle(path, stereo, STEREO_RIGHT, middle[1]) < 0)
		return -1;
	stereo->f_px = (left->K[0] + left->K[4] + right->K[0] + right->K[4]) / 4;
	for (size_t i = 0; i < 2; i++)
		stereo->cx_px[i] = (size[turned] - 1) / 2 - stereo->f_px * middle[i][0];
	stereo->cy_px = (size[!turned] - 1) / 2 -
	    stereo->f_px * (middle[0][1] + middle[1][1]) / 2;
	stereo->w = turned ? left->h : left->w;
	stereo->h = turned ? left->w : left->h;
	return 0;
}

/*
 * Computes R, f_px, cx_px, cy_px and baseline_mm from the cameras, w and h from their size: the
 * rotation between the cameras is shared out half and half, then both turn by the least angle that
 * takes the x axis to the baseline. f_px is the mean of the four focal lengths; each side's picture
 * is centred in its frame as far as equal rows allow. -1 after fail(path, ...).
 */
static int
stereo_rectify(const char *path, struct stereo *stereo)
{
	bool turned;

	return set_rotations(path, stereo, &turned) < 0 ? -1 :
	    place_pictures(path, stereo, turned);
}

/* The same where R is known, from the file. */
static int
stereo_place(const char *path, struct stereo *stereo)
{
	const double *T = stereo->camera[1].T;
	double t[3], length = vector3_length(T);

	matrix3_apply(stereo->R[STEREO_RIGHT], T, t);
	stereo->baseline_mm = t[0] > 0 ? -length : length;
	return place_pictures(path, stereo, fabs(stereo->R[0][1]) > fabs(stereo->R[0][0]));
}

/* ---- what a rectified frame says of itself ---- */

void
stereo_describe(const struct stereo *stereo, enum stereo_side side, double bin, struct meta *meta)
{
	/* the centre of the first of the larger pixels lies at (bin - 1)/2 of the smaller ones */
	double cx_px = (stereo->cx_px[side] + 0.5) / bin - 0.5;
	double cy_px = (stereo->cy_px + 0.5) / bin - 0.5;

	meta_set_number(meta, "rect_f_px", stereo->f_px / bin);
	meta_set_number(meta, "rect_cx_px", cx_px);
	meta_set_number(meta, "rect_cy_px", cy_px);
	meta_set_number(meta, "rect_baseline_mm", stereo->baseline_mm);
	meta_set(meta, "rect_side", side == STEREO_LEFT ? "left" : "right");
	meta_set_numbers(meta, "rect_rotation", stereo->R[side], 9);
}

static int
get_rotation(const struct meta *meta, double R[9])
{
	struct numbers list;

	if (meta_numbers(meta, "rect_rotation", &list) < 0)
		return -1;
	for (size_t i = 0; i < 9 && list.n == 9; i++)
		R[i] = list.v[i];
	if (list.n != 9)
		fail(NULL, "key rect_rotation must be 9 numbers, not %zu", list.n);
	numbers_free(&list);
	return fail_message() ? -1 : 0;
}

/* Where the frame was cropped or binned since it was rectified. */
static int
apply_crop(const struct run *run, const struct frame_head *head, struct stereo_view *view)
{
	const double zero[2] = { 0 };
	double origin_px[2], bin[2];

	if (sensor_crop_origin(run, &(struct numbers){ 0 }, head, zero, origin_px, bin) < 0)
		return -1;
	if (bin[0] != bin[1])
		return fail(NULL, "bin is %g %g: the pixels of a rectified frame must stay square",
		    bin[0], bin[1]);
	view->f_px /= bin[0];
	view->cx_px = (view->cx_px - origin_px[0] + 0.5) / bin[0] - 0.5;
	view->cy_px = (view->cy_px - origin_px[1] + 0.5) / bin[0] - 0.5;
	return 0;
}

int
stereo_view(const struct run *run, const struct frame_head *head, struct stereo_view *view,
    bool *found)
{
	static const char *const keys[] = { "rect_f_px", "rect_cx_px", "rect_cy_px",
		"rect_baseline_mm", "rect_side", "rect_rotation" };
	double *const value[] = { &view->f_px, &view->cx_px, &view->cy_px, &view->baseline_mm };
	const char *missing = NULL, *side;

	*found = false;
	for (size_t i = 0; i < 6; i++) {
		bool there = meta_get(&head->meta, keys[i]);

		*found |= there;
		if (!there && !missing)
			missing = keys[i];
	}
	if (!*found)
		return 0;
	if (missing)
		return fail(NULL, "the frame has other keys of a rectified one, but no %s",
		    missing);
	for (size_t i = 0; i < 4; i++)
		if (meta_number(&head->meta, keys[i], NAN, value[i]) < 0)
			return -1;
	if (!(view->f_px > 0 && isfinite(view->f_px + view->cx_px + view->cy_px)))
		return fail(NULL, "key rect_f_px must be positive, not %g", view->f_px);
	if (view->baseline_mm == 0 || !isfinite(view->baseline_mm))
		return fail(NULL, "key rect_baseline_mm must not be %g", view->baseline_mm);
	side = meta_get(&head->meta, "rect_side");
	if (!side || (strcmp(side, "left") && strcmp(side, "right")))
		return fail(NULL, "key rect_side must be left or right, not '%.40s'",
		    side ? side : "");
	view->side = strcmp(side, "left") ? STEREO_RIGHT : STEREO_LEFT;
	return get_rotation(&head->meta, view->R) < 0 ? -1 : apply_crop(run, head, view);
}

/* ---- rectified pairs out of calibration files ---- */

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
	size_t n;
	const char *name = calib_camera(numbers, camera, &n);

	if (name)
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
	double seen[3], uv[2][2], z = vector3_dot(stereo->R[0] + 6, X), rows, columns;

	pinhole_from_world(&stereo->camera[1], X, seen);
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
	double size[2], worst = 0;

	pinhole_picture_size(left, size);
	for (size_t i = 0; i < 75; i++) {
		double z = far[i / 25] * fabs(stereo->baseline_mm);
		double u = (double)(i % 5) / 4 * size[0], v = (double)(i / 5 % 5) / 4 * size[1];
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

/* The place of the camera of that name among a file's, from 0; SIZE_MAX: there is none. */
static size_t
find_camera(const struct number_file *numbers, const char *wanted)
{
	const char *name;
	size_t n;

	for (size_t i = 0; (name = calib_camera(numbers, i, &n)); i++)
		if (strlen(wanted) == n && !strncmp(wanted, name, n))
			return i;
	return SIZE_MAX;
}

/* Frees numbers. */
static int
take_numbers(const char *path, struct number_file *numbers, struct stereo *stereo)
{
	bool plain = numbers->entries == 1 && !numbers->entry[0].name[0], posed = true;
	double mm;
	char unit[16];
	int status;

	calib_get_unit(numbers, unit);
	mm = !strcmp(unit, "in") ? 25.4 : length_unit_mm(unit);
	stereo->unit_stated = plain || calib_has(numbers, "length_unit|unit") ||
	    (calib_has(numbers, "T_mm") && !calib_has(numbers, "T"));
	status = plain ? read_plain(path, stereo) : mm > 0 ?
	    read_cameras(path, numbers, mm, stereo, &posed) :
	    fail(path, "length_unit: expected mm, cm, m, um or in, found %s", unit);
	pinhole_complete(&stereo->camera[0]);
	pinhole_complete(&stereo->camera[1]);
	if (status == 0 && !plain && posed) {
		const struct pinhole *right = &stereo->camera[1];
		const double T[3] = { right->T[0] / mm, right->T[1] / mm, right->T[2] / mm };

		calib_rest_agrees(numbers, stereo->camera[0].K, right->K, right->R, T,
		    stereo->contradiction);
	}
	if (status == 0)
		status = plain ? stereo_rectify(path, stereo) :
		    read_rectification(path, numbers, mm, posed, stereo);
	if (status == 0 && !plain)
		status = read_projector(path, numbers, mm, stereo);
	stereo->named_otherwise = find_camera(numbers, "right") == 0 &&
	    find_camera(numbers, "left") == 1;
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
	size_t at, n;
	bool cameras;

	if (number_file_load(path, &numbers) < 0)
		return -1;
	at = find_camera(&numbers, name);
	cameras = calib_camera(&numbers, 0, &n);
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
