/*
 * Cameras: pinhole and lens distortion (Brown, OpenCV's rational model), rays of pixels, pixels of
 * points, rotations.
 */
#include "optics/camera_model.h"

#include <math.h>
#include <stdio.h>

#include "base/process.h"
#include "base/text.h"

/* -R [X]x Jr(r), Jr = I - a [r]x + b [r]x^2. */
void
rotation_derivative(const double R[9], const double X[3], double D[9])
{
	double r[3] = { R[7] - R[5], R[2] - R[6], R[3] - R[1] };
	double sine = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) / 2;
	double angle = atan2(sine, (R[0] + R[4] + R[8] - 1) / 2);
	double factor = sine > 1e-9 ? angle / (2 * sine) : 0.5;
	double a = angle > 1e-4 ? (1 - cos(angle)) / (angle * angle) : 0.5;
	double b = angle > 1e-3 ? (angle - sin(angle)) / (angle * angle * angle) : 1.0 / 6;
	double Jr[9], RX[9];

	for (size_t i = 0; i < 3; i++)
		r[i] *= factor;
	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 3; j++) {
			double square = r[i] * r[j] - (i == j ? angle * angle : 0);
			size_t k = 3 - i - j;	/* the third one, where i and j differ */
			double cross = i == j ? 0 : (j == (i + 1) % 3 ? -1 : 1) * r[k];

			Jr[3 * i + j] = (i == j) - a * cross + b * square;
		}
	for (size_t i = 0; i < 3; i++)		/* -R [X]x: rows of R times X */
		for (size_t j = 0; j < 3; j++) {
			size_t k = (j + 1) % 3, l = (j + 2) % 3;

			RX[3 * i + j] = -(R[3 * i + k] * X[l] - R[3 * i + l] * X[k]);
		}
	matrix3_product(RX, Jr, D);
}

void
rotation_motions(const double X[3], const double middle[3], double M[3][6])
{
	for (size_t i = 0; i < 3; i++) {
		size_t j = (i + 1) % 3, k = (i + 2) % 3;

		for (size_t m = 0; m < 3; m++)
			M[m][i] = m == i;
		M[i][3 + i] = 0;
		M[j][3 + i] = -(X[k] - middle[k]);
		M[k][3 + i] = X[j] - middle[j];
	}
}

/* ---- where the radial terms fold the picture back ---- */

#define FOLD_STEP 1e-3
#define FOLD_MOST 20		/* 87 degrees from the axis */
#define FOLD_MARGIN 1.05	/* tangential terms move the fold; det < 0 just beyond it */
#define FOLD_DIRECTIONS 64
#define BISECTIONS 60

static bool
radial_rises(const double d[14], double r)
{
	double r2 = r * r, num = lens_num(d, r2), den = lens_den(d, r2);

	return den > 0 && (num + 2 * r2 * lens_num_slope(d, r2)) * den -
	    2 * r2 * num * lens_den_slope(d, r2) > 0;
}

/* Where the radial terms rise no more. */
static double
find_fold(const double d[14])
{
	for (int i = 1; i * FOLD_STEP <= FOLD_MOST; i++) {
		double low = (i - 1) * FOLD_STEP, high = i * FOLD_STEP;

		if (radial_rises(d, high))
			continue;
		for (int k = 0; k < BISECTIONS; k++) {
			double middle = (low + high) / 2;

			*(radial_rises(d, middle) ? &low : &high) = middle;
		}
		return low;
	}
	return INFINITY;
}

bool
pinhole_within_fold(const struct pinhole *device, const double xy[2])
{
	return !(device->fold > 0) || hypot(xy[0], xy[1]) < FOLD_MARGIN * device->fold;
}

/* Does the lens, tangential and prism terms and all, fold back at that place? */
static bool
folds_at(const double d[14], double x, double y)
{
	double at[2], j[4];

	lens_derivatives(d, x, y, at, j);
	return !(j[0] * j[3] - j[1] * j[2] > 0);
}

double
pinhole_fold_square(const struct pinhole *device)
{
	double least = device->fold;

	if (!(least > 0) || !isfinite(least))
		return INFINITY;
	for (size_t i = 0; i < FOLD_DIRECTIONS; i++) {
		double angle = 2 * M_PI * (double)i / FOLD_DIRECTIONS;
		double low = device->fold / FOLD_MARGIN / FOLD_MARGIN, high = least;

		for (int k = 0; k < BISECTIONS && folds_at(device->distortion, cos(angle) * high,
		    sin(angle) * high); k++) {
			double middle = (low + high) / 2;

			if (folds_at(device->distortion, cos(angle) * middle, sin(angle) * middle))
				least = high = middle;
			else
				low = middle;
		}
	}
	return least * least;
}

void
pinhole_picture_size(const struct pinhole *camera, double size[2])
{
	size[0] = camera->w > 0 ? camera->w : 2 * camera->K[2] + 1;
	size[1] = camera->w > 0 ? camera->h : 2 * camera->K[5] + 1;
}

double
length_unit_mm(const char *unit)
{
	static const struct {
		const char *name;
		double mm;
	} units[] = { { "mm", 1 }, { "cm", 10 }, { "m", 1000 }, { "um", 1e-3 } };

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(unit, units[i].name))
			return units[i].mm;
	return 0;
}

/* ---- the device ---- */

void
pinhole_complete(struct pinhole *device)
{
	device->distorted = false;
	for (size_t i = 0; i < 14; i++)
		device->distorted |= device->distortion[i] != 0;
	device->fold = device->distorted ? find_fold(device->distortion) : INFINITY;
	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 4; j++) {
			double sum = 0;

			for (size_t k = 0; k < 3; k++)
				sum += device->K[3 * i + k] *
				    (j < 3 ? device->R[3 * k + j] : device->T[k]);
			device->P[4 * i + j] = sum;
		}
}

bool
pinhole_project(const struct pinhole *device, const double X[3], double uv[2])
{
	const double *K = device->K;
	double x[3], xy[2];

	pinhole_from_world(device, X, x);
	if (!(x[2] > 0))
		return false;
	xy[0] = x[0] / x[2];
	xy[1] = x[1] / x[2];
	if (device->distorted)
		lens_distort(device->distortion, xy[0], xy[1], &xy[0], &xy[1]);
	uv[0] = K[0] * xy[0] + K[1] * xy[1] + K[2];
	uv[1] = K[4] * xy[1] + K[5];
	return isfinite(uv[0]) && isfinite(uv[1]);
}

/* How distorted coordinates change with k1 k2 p1 p2 k3 k4 k5 k6, row-major. */
static void
distort_by_lens(const double d[14], const double xy[2], double out[16])
{
	double x = xy[0], y = xy[1], r2 = x * x + y * y;
	double num = lens_num(d, r2), den = lens_den(d, r2);
	double power[3] = { r2, r2 * r2, r2 * r2 * r2 };
	static const size_t up[3] = { LENS_K1, LENS_K2, LENS_K3 };
	static const size_t down[3] = { LENS_K4, LENS_K5, LENS_K6 };

	for (size_t i = 0; i < 2; i++) {
		for (size_t k = 0; k < 3; k++) {
			out[8 * i + up[k]] = xy[i] * power[k] / den;
			out[8 * i + down[k]] = -xy[i] * num * power[k] / (den * den);
		}
		out[8 * i + LENS_P1 + i] = 2 * x * y;
		out[8 * i + LENS_P2 - i] = r2 + 2 * xy[i] * xy[i];
	}
}

void
pinhole_derivatives(const struct pinhole *device, const double x[3], double by_point[6],
    double by_intrinsics[2 * PINHOLE_INTRINSICS])
{
	const double *K = device->K, xy[2] = { x[0] / x[2], x[1] / x[2] };
	double at[2], j[4], lens[16];

	lens_derivatives(device->distortion, xy[0], xy[1], at, j);
	distort_by_lens(device->distortion, xy, lens);
	for (size_t i = 0; i < 2; i++) {
		double *row = by_intrinsics + PINHOLE_INTRINSICS * i;
		double of[2];		/* by distorted x and y */

		of[0] = i == 0 ? K[0] : 0;
		of[1] = i == 0 ? K[1] : K[4];
		for (size_t k = 0; k < 4; k++)
			row[k] = k == i ? at[i] : k == 2 + i;
		for (size_t k = 0; k < 8; k++)
			row[4 + k] = of[0] * lens[k] + of[1] * lens[8 + k];
		for (size_t k = 0; k < 2; k++)
			by_point[3 * i + k] = (of[0] * j[k] + of[1] * j[2 + k]) / x[2];
		by_point[3 * i + 2] = -by_point[3 * i] * xy[0] - by_point[3 * i + 1] * xy[1];
	}
}

/*
 * Newton's method on the distortion, from xy on. A step that makes the rest larger is halved. Where
 * the lens model folds back (determinant not positive) there is no answer.
 */
static bool
descend(const double d[14], const double aim[2], double xy[2])
{
	double at[2], j[4], rest = INFINITY, step[2] = { 0, 0 };

	for (int i = 0; i < 60; i++) {
		double ex, ey, e, det;

		lens_derivatives(d, xy[0], xy[1], at, j);
		ex = at[0] - aim[0];
		ey = at[1] - aim[1];
		e = hypot(ex, ey);
		det = j[0] * j[3] - j[1] * j[2];
		if (e < 1e-14 || (e <= 1e-13 * (1 + hypot(aim[0], aim[1])) && e >= rest))
			return det > 0;
		if (!(e < rest) || !(det > 0)) {
			if (i == 0)
				return false;
			step[0] /= 2;
			step[1] /= 2;
			xy[0] += step[0];
			xy[1] += step[1];
			continue;
		}
		rest = e;
		step[0] = (j[3] * ex - j[1] * ey) / det;
		step[1] = (j[0] * ey - j[2] * ex) / det;
		xy[0] -= step[0];
		xy[1] -= step[1];
	}
	return rest < 1e-12 * (1 + hypot(aim[0], aim[1]));
}

/* From the aim itself, or where that ends beyond the fold or nowhere, from where the radial terms
 * alone lead, within the fold. */
static bool
undistort(const struct pinhole *device, const double aim[2], double xy[2])
{
	const double *d = device->distortion, wanted = hypot(aim[0], aim[1]);
	double low = 0, high = fmin(device->fold, FOLD_MOST);

	xy[0] = aim[0];
	xy[1] = aim[1];
	if (descend(d, aim, xy) && pinhole_within_fold(device, xy))
		return true;
	if (!(device->fold > 0))
		return false;
	for (int k = 0; k < BISECTIONS; k++) {
		double r = (low + high) / 2;
		double distorted = r * lens_num(d, r * r) / lens_den(d, r * r);

		*(distorted < wanted ? &low : &high) = r;
	}
	for (size_t i = 0; i < 2; i++)
		xy[i] = wanted > 0 ? aim[i] / wanted * low : 0;
	return descend(d, aim, xy) && pinhole_within_fold(device, xy);
}

/*
 * A few of Newton's steps from a nearby place; false where they do not suffice. A step squares the
 * rest, but for a factor that is the lens's curvature: from 1e-8 it needs no look at what is left.
 */
static bool
newton_steps(const double d[14], const double aim[2], double xy[2])
{
	double aims = aim[0] * aim[0] + aim[1] * aim[1], at[2], j[4];

	for (int i = 0; i < 4; i++) {
		double ex, ey, squares, det;

		lens_derivatives(d, xy[0], xy[1], at, j);
		ex = at[0] - aim[0];
		ey = at[1] - aim[1];
		squares = ex * ex + ey * ey;
		det = j[0] * j[3] - j[1] * j[2];
		if (!(det > 0) || !(squares < 1e-6))
			return false;
		xy[0] -= (j[3] * ex - j[1] * ey) / det;
		xy[1] -= (j[0] * ey - j[2] * ex) / det;
		if (squares <= 1e-16 * aims)
			return true;
	}
	return false;
}

bool
pinhole_undistort_near(const struct pinhole *device, const double uv[2], double xy[2])
{
	const double *K = device->K;
	double y = (uv[1] - K[5]) / K[4], x = (uv[0] - K[2] - K[1] * y) / K[0];

	return (newton_steps(device->distortion, (double[2]){ x, y }, xy) &&
	    pinhole_within_fold(device, xy)) || pinhole_undistort(device, uv, xy);
}

bool
pinhole_undistort(const struct pinhole *device, const double uv[2], double xy[2])
{
	const double *K = device->K;
	double y = (uv[1] - K[5]) / K[4], x = (uv[0] - K[2] - K[1] * y) / K[0];

	if (device->distorted)
		return undistort(device, (double[2]){ x, y }, xy);
	xy[0] = x;
	xy[1] = y;
	return isfinite(x) && isfinite(y);
}

void
pinhole_center(const struct pinhole *device, double X[3])
{
	for (size_t i = 0; i < 3; i++)
		X[i] = -(device->R[i] * device->T[0] + device->R[3 + i] * device->T[1] +
		    device->R[6 + i] * device->T[2]);
}

void
pinhole_between(const double Ra[9], const double Ta[3], const double Rb[9], const double Tb[3],
    double R[9], double T[3])
{
	double turn[9] = { 0 }, shift[3];

	for (size_t i = 0; i < 3; i++) {
		shift[i] = Tb[i];
		for (size_t j = 0; j < 3; j++) {
			for (size_t k = 0; k < 3; k++)
				turn[3 * i + j] += Rb[3 * i + k] * Ra[3 * j + k];
			shift[i] -= turn[3 * i + j] * Ta[j];
		}
	}
	memcpy(R, turn, sizeof(turn));
	memcpy(T, shift, sizeof(shift));
}
void
pinhole_invert(const double R[9], const double T[3], double back_R[9], double back_T[3])
{
	for (size_t i = 0; i < 3; i++) {
		back_T[i] = 0;
		for (size_t j = 0; j < 3; j++) {
			back_R[3 * i + j] = R[3 * j + i];
			back_T[i] -= R[3 * j + i] * T[j];
		}
	}
}

/* ---- mrcal's camera models: reading one ---- */

#define SUFFIX ".cameramodel"
#define MAX_MODELS 32
#define FILE_LIMIT ((size_t)64 << 20)	/* mrcal keeps its inputs in them */
#define NAME_SIZE 32
#define MM_PER_M 1000

struct model {
	char name[NAME_SIZE];
	bool projector;
	double size[2], core[4], lens[12];
	size_t lens_n;
	double R[9], T[3];	/* from the models' common frame to the device, mm */
};

struct rig {
	struct model model[MAX_MODELS];
	size_t n;
	struct number_parser out;
	int status;		/* of the entries: -1 after fail() */
};

bool
camera_model_is_named(const char *paths)
{
	size_t n = strlen(paths), suffix = strlen(SUFFIX);

	return n > suffix && !strcmp(paths + n - suffix, SUFFIX);
}

/* v[n] of one of two names. */
static int
get(const char *path, const struct number_file *file, const char *name, const char *other,
    const char *what, size_t n, double *v)
{
	const struct number_file_entry *entry = number_file_find(file, name);

	entry = entry ? entry : number_file_find(file, other);
	if (!entry || entry->n != n)
		return fail(path, "expected %s of %s, found %s%zu numbers", what, name,
		    entry ? "" : "no entry and ", entry ? entry->n : (size_t)0);
	for (size_t i = 0; i < n; i++) {
		v[i] = file->v[entry->first + i];
		if (!isfinite(v[i]))
			return fail(path, "%s: expected numbers, found %g", name, v[i]);
	}
	return 0;
}

static int
get_lens(const char *path, const struct number_file *file, struct model *model)
{
	static const struct {
		const char *name;
		size_t lens;
	} known[] = { { "LENSMODEL_PINHOLE", 0 }, { "LENSMODEL_OPENCV4", 4 },
		{ "LENSMODEL_OPENCV5", 5 }, { "LENSMODEL_OPENCV8", 8 },
		{ "LENSMODEL_OPENCV12", 12 } };
	const struct number_file_entry *entry = number_file_find(file, "lensmodel");
	double v[16];

	if (!entry || entry->n)
		return fail(path, "is no camera model: expected lensmodel, found none among its "
		    "%zu entries", file->entries);
	for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
		if (strcmp(entry->text, known[k].name))
			continue;
		if (get(path, file, "intrinsics", "", "the numbers", 4 + known[k].lens, v) < 0)
			return -1;
		memcpy(model->core, v, sizeof(model->core));
		memcpy(model->lens, v + 4, known[k].lens * sizeof(*v));
		model->lens_n = known[k].lens;
		return v[0] > 0 && v[1] > 0 ? 0 : fail(path, "intrinsics: expected focal lengths, "
		    "found %g %g", v[0], v[1]);
	}
	return fail(path, "lensmodel: expected LENSMODEL_PINHOLE or _OPENCV4, 5, 8 or 12, found %s "
	    "(mrcal-convert-lensmodel makes them of others)", entry->text[0] ? entry->text :
	    "a longer word");
}

/* A rotation vector's matrix. */
static void
rotate(const double r[3], double R[9])
{
	double angle = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]), c = cos(angle);
	double s = angle > 0 ? sin(angle) / angle : 1, half = sin(angle / 2);
	double w = angle > 0 ? 2 * half * half / (angle * angle) : 0.5;

	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 3; j++)
			R[3 * i + j] = (i == j ? c : 0) + w * r[i] * r[j];
	for (size_t i = 0; i < 3; i++) {
		size_t j = (i + 1) % 3, k = (i + 2) % 3;

		R[3 * j + i] += s * r[k];
		R[3 * i + j] -= s * r[k];
	}
}

static int
get_model(const char *path, const struct number_file *file, struct model *model)
{
	const struct number_file_entry *kind = number_file_find(file, "kind");
	const char *name = path_name(path);
	size_t n = strlen(name) - strlen(SUFFIX);
	double rt[6] = { 0 };

	if (n == 0 || n >= sizeof(model->name))
		return fail(path, "names its device by more than %d letters, or by none",
		    NAME_SIZE - 1);
	memcpy(model->name, name, n);
	if (get_lens(path, file, model) < 0 ||
	    get(path, file, "imagersize", "", "w h", 2, model->size) < 0 ||
	    get(path, file, "extrinsics", "rt_cam_ref", "rotation and translation", 6, rt) < 0)
		return -1;
	if (!(model->size[0] >= 1 && model->size[1] >= 1))
		return fail(path, "imagersize: expected w h, found %g %g", model->size[0],
		    model->size[1]);
	if (kind && strcmp(kind->text, "camera") && strcmp(kind->text, "projector"))
		return fail(path, "kind: expected camera or projector, found '%s'", kind->text);
	model->projector = kind ? !strcmp(kind->text, "projector") :
	    strcasestr(model->name, "proj") != NULL;
	rotate(rt, model->R);
	for (size_t i = 0; i < 3; i++)
		model->T[i] = MM_PER_M * rt[3 + i];
	return 0;
}

static int
load_one(struct rig *rig, const char *path)
{
	struct model *model = &rig->model[rig->n];
	struct number_file file;
	int status;

	if (rig->n == MAX_MODELS)
		return fail(path, "more than %d camera models", MAX_MODELS);
	if (!camera_model_is_named(path))
		return fail(path, "is no camera model by its name (" SUFFIX "), as others of the "
		    "list are");
	if (number_file_load_syntax(path, FILE_LIMIT, &file) < 0)
		return -1;
	*model = (struct model){ 0 };
	status = get_model(path, &file, model);
	number_file_free(&file);
	for (size_t i = 0; i < rig->n && status == 0; i++)
		if (!strcmp(rig->model[i].name, model->name))
			status = fail(path, "names %s a second time", rig->model[i].name);
	rig->n += status == 0;
	return status;
}

/* ---- a rig as the entries of a file ---- */

/* An entry: n numbers, or where v is NULL a text. */
static void
put(struct rig *rig, const char *before, const char *name, const double *v, size_t n,
    const char *text)
{
	char whole[2 * NUMBER_FILE_NAME_SIZE];

	snprintf(whole, sizeof(whole), "%s%s", before, name);
	if (rig->status == 0)
		rig->status = v ? number_parser_open(&rig->out, whole) :
		    number_parser_text(&rig->out, whole, text, strlen(text));
	for (size_t i = 0; i < n && rig->status == 0; i++)
		number_parser_add(&rig->out, whole, v[i]);
}

static void
put_lens(struct rig *rig, const char *before, const char *K_name, const char *lens_name,
    const struct model *model)
{
	const double *c = model->core, K[9] = { c[0], 0, c[2], 0, c[1], c[3], 0, 0, 1 };

	put(rig, before, K_name, K, 9, NULL);
	put(rig, before, lens_name, model->lens, model->lens_n ? model->lens_n : 4, NULL);
}

/* From a's frame to b's. */
static void
put_pose(struct rig *rig, const char *R_name, const char *T_name, const struct model *a,
    const struct model *b)
{
	double R[9], T[3];

	pinhole_between(a->R, a->T, b->R, b->T, R, T);
	put(rig, "", R_name, R, 9, NULL);
	put(rig, "", T_name, T, 3, NULL);
}

/* devices.NAME; R and T take its points to the common frame. */
static void
put_device(struct rig *rig, const struct model *model)
{
	char before[NAME_SIZE + 16];
	double R[9], T[3];

	pinhole_invert(model->R, model->T, R, T);
	snprintf(before, sizeof(before), "devices.%s.", model->name);
	put(rig, before, "kind", NULL, 0, model->projector ? "projector" : "camera");
	put(rig, before, "size", model->size, 2, NULL);
	put_lens(rig, before, "K", "dist", model);
	put(rig, before, "R", R, 9, NULL);
	put(rig, before, "T_mm", T, 3, NULL);
}

static void
put_rig(struct rig *rig)
{
	const struct model *camera[2] = { NULL, NULL }, *projector = NULL;

	for (size_t i = rig->n; i-- > 0;)
		if (rig->model[i].projector) {
			projector = &rig->model[i];
		} else {
			camera[1] = camera[0];
			camera[0] = &rig->model[i];
		}
	put(rig, "", "unit", NULL, 0, "mm");
	if (camera[0]) {
		put(rig, "", "camera_size", camera[0]->size, 2, NULL);
		put_lens(rig, "", "camera_K", "camera_dist", camera[0]);
	}
	if (projector) {
		put(rig, "", "projector_size", projector->size, 2, NULL);
		put_lens(rig, "", "projector_K", "projector_dist", projector);
	}
	if (camera[0] && projector)
		put_pose(rig, "R_cam_to_proj", "T_cam_to_proj_mm", camera[0], projector);
	if (camera[1]) {
		put(rig, "", "image_size", camera[0]->size, 2, NULL);
		put_lens(rig, "", "K1", "d1", camera[0]);
		put_lens(rig, "", "K2", "d2", camera[1]);
		put_pose(rig, "R", "T", camera[0], camera[1]);
	}
	for (size_t i = 0; i < rig->n; i++)
		put_device(rig, &rig->model[i]);
}

int
camera_model_load(const char *paths, struct number_file *out)
{
	struct rig *rig = must_alloc(1, sizeof(*rig));
	char *copy = must_strdup(paths), *rest = copy, *path;
	int status = 0;

	memset(out, 0, sizeof(*out));
	while (status == 0 && (path = strsep(&rest, ",")))
		status = load_one(rig, path);
	if (status == 0) {
		rig->out = (struct number_parser){ .path = paths, .start = "", .at = "", .end = "",
			.file = out };
		put_rig(rig);
		status = rig->status;
	}
	if (status < 0)
		number_file_free(out);
	free(copy);
	free(rig);
	return status;
}

/* ---- is a calibration possible for pictures of a given size? Matrix and lens of a device ---- */

#define MAX_TANGENTIAL 0.03	/* p1 and p2 of lenses are below 0.02 */
#define MAX_SKEW 0.05	/* of the focal length; sensors have some 1e-4 */
#define MAX_FOCAL_WIDTHS 8.0	/* widths of the picture in a focal length: some 150 degrees */
#define MIDDLE_SHARE 0.05	/* principal points lie so near it, a share of the picture, */
#define ASIDE_SHARE 0.2	/* and a camera's never so far from it; halved: 0.25 */
#define MAX_SHIFT_HEIGHTS 0.65	/* by which a projector shifts its picture, up or down */

/*
 * A principal point lies near the middle of its picture. In the matrix of a picture of another
 * resolution it lies near a quarter, a third, 3/8, 2/3, 3/4 or all of it; a projector's picture
 * may be shifted up or down. The factor between the two pictures, 1 where they are of one size.
 */
static double
resolution_factor(const struct pinhole *device, double w, double h, enum device_kind kind)
{
	static const double factors[] = { 0.5, 2.0 / 3, 0.75, 4.0 / 3, 1.5, 2 };
	double x = device->K[2] / w, y = device->K[5] / h;

	for (size_t i = 0; i < sizeof(factors) / sizeof(*factors); i++) {
		double off_x = x / factors[i] - 0.5, off_y = y / factors[i] - 0.5;

		if (fabs(off_x) < MIDDLE_SHARE && (fabs(off_y) < MIDDLE_SHARE ||
		    (kind == DEVICE_PROJECTOR && fabs(off_y) < MAX_SHIFT_HEIGHTS)))
			return factors[i];
	}
	return 1;
}

bool
device_check_resolution(const char *object, const struct pinhole *device, enum device_kind kind,
    const char *name, double w, double h)
{
	double u = device->K[2], v = device->K[5], focal = fabs(device->K[0]), factor;
	double off_u = fabs(u / w - 0.5), off_v = fabs(v / h - 0.5);
	/* lens and mirror may shift a projector's picture up or down by its height */
	double beyond = kind == DEVICE_PROJECTOR ? h : 0;
	char what[300];

	if (!(w > 0 && h > 0))
		return true;
	factor = resolution_factor(device, w, h, kind);
	if (focal < w / MAX_FOCAL_WIDTHS) {
		warn(object, "the %s's focal length of %.4g px would see %.0f degrees: are the "
		    "numbers of its matrix pixels?", name, focal, 360 / M_PI * atan(w / 2 / focal));
		return false;
	}
	/* would width and height be right the other way round, and only so? */
	if (fabs(u / h - 0.5) < MIDDLE_SHARE && fabs(v / w - 0.5) < MIDDLE_SHARE &&
	    (off_u > MIDDLE_SHARE || off_v > MIDDLE_SHARE))
		snprintf(what, sizeof(what), "and the %s has %g x %g px: are width and height "
		    "exchanged?", name, w, h);
	else if (factor != 1)
		snprintf(what, sizeof(what), "as a picture of %.4g x %.4g px would, and the %s has "
		    "%g x %g px: is it of another resolution?", w * factor, h * factor, name, w, h);
	else if (kind != DEVICE_CROPPED && (u < 0 || u > w || v < -beyond || v > h + beyond))
		snprintf(what, sizeof(what), "outside of the %s's %g x %g px: is it the matrix of "
		    "this picture, and not of a part?", name, w, h);
	else if (kind == DEVICE_CAMERA && (off_u > ASIDE_SHARE || off_v > ASIDE_SHARE))
		snprintf(what, sizeof(what), "far from the middle of its %g x %g px: are both "
		    "numbers, and all of the matrix, of this picture, and not of a part?", w, h);
	else
		return true;
	warn(object, "the %s's matrix has its principal point at %.4g,%.4g, %s", name, u, v, what);
	return false;
}

/* The list k1 k2 k3 p1 p2 of other programs puts k3 in the place of p1. */
bool
device_check_tangential(const char *path, const struct pinhole *device, const char *name)
{
	const double *p = device->distortion + 2;

	if (fabs(p[0]) < MAX_TANGENTIAL && fabs(p[1]) < MAX_TANGENTIAL)
		return true;
	warn(path, "the %s's lens has p1 = %g and p2 = %g, more than lenses have: is its list in "
	    "OpenCV's order k1 k2 p1 p2 k3?", name, p[0], p[1]);
	return false;
}

bool
device_check_skew(const char *path, const struct pinhole *device, const char *name)
{
	if (fabs(device->K[1]) <= MAX_SKEW * fabs(device->K[0]))
		return true;
	warn(path, "the %s's matrix has a skew of %g with a focal length of %g px, which no sensor "
	    "has: is it in the order fx s cx, 0 fy cy, 0 0 1?", name, device->K[1], device->K[0]);
	return false;
}

/* Does the lens show all corners of its picture, of which 0, 0 is one whatever its size? */
bool
device_check_fold(const char *path, const struct pinhole *device, const char *name)
{
	double last[2] = { fmax(device->w - 1, 0), fmax(device->h - 1, 0) };

	for (size_t k = 0; k < 4; k++) {
		double corner[2] = { k % 2 ? last[0] : 0, k / 2 ? last[1] : 0 }, xy[2];

		if (pinhole_undistort(device, corner, xy))
			continue;
		warn(path, "the %s's lens folds back before the corner %g, %g of its picture: what "
		    "is beyond is lost. Did the calibration see its corners?", name, corner[0],
		    corner[1]);
		return false;
	}
	return true;
}
