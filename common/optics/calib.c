/*
 * Reads the calibration of camera and projector (JSON, YAML or XML of several programs), checks it,
 * and fits it to cropped and binned frames.
 */
#include "optics/calib.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "base/linear.h"
#include "base/process.h"

/* An option that says something else than the frame would move it without a word. */
static int
check_agreement(const struct numbers *option, const struct frame_head *head)
{
	struct numbers own;
	bool differs;

	if (option->n != 2 || meta_numbers(&head->meta, "origin_px", &own) < 0)
		return option->n != 2 ? 0 : -1;
	differs = own.n == 2 && (own.v[0] != option->v[0] || own.v[1] != option->v[1]);
	if (differs)
		fail("--origin", "says %g,%g, and the frame itself says origin_px %g %g: give no "
		    "--origin; or, if the key counts within a crop that lies there, the sum %g,%g "
		    "and take the key away (framecat --delete origin_px)", option->v[0],
		    option->v[1], own.v[0], own.v[1], option->v[0] + own.v[0],
		    option->v[1] + own.v[1]);
	numbers_free(&own);
	return differs ? -1 : 0;
}

int
sensor_crop_origin(const struct run *run, const struct numbers *option,
    const struct frame_head *head, const double otherwise[2], double origin_px[2], double bin[2])
{
	struct numbers origin, size;
	int status = 0;

	if (check_agreement(option, head) < 0 ||
	    run_numbers(run, option, head, "origin_px", &origin) < 0)
		return -1;
	if (origin.n != 0 && origin.n != 2)
		status = fail(NULL, "key origin_px must be two numbers, not %zu", origin.n);
	else
		memcpy(origin_px, origin.n ? origin.v : otherwise, 2 * sizeof(*origin_px));
	numbers_free(&origin);
	if (status < 0 || meta_numbers(&head->meta, "bin", &size) < 0)
		return -1;
	bin[0] = size.n > 0 ? size.v[0] : 1;
	bin[1] = size.n > 1 ? size.v[1] : bin[0];
	if (size.n > 2 || !(bin[0] > 0 && bin[1] > 0 && isfinite(bin[0] + bin[1])))
		status = fail(NULL, "key bin must be one or two positive numbers");
	numbers_free(&size);
	return status;
}

#define OFF_CENTRE_SHARE 0.2		/* of a side: that of another resolution, or of a crop */
#define TURNED 0.08		/* of both sides, and nearly nothing with the sides exchanged */

/* *known: there is a size. */
static int
find_size(const struct frame_head *head, bool is_picture, double size[2], bool *known)
{
	struct numbers list;

	*known = is_picture;
	size[0] = (double)head->w;
	size[1] = (double)head->h;
	if (is_picture)
		return 0;
	if (meta_numbers(&head->meta, "image_size_px", &list) < 0)
		return -1;
	*known = list.n == 2;
	for (size_t i = 0; i < 2 && *known; i++)
		size[i] = list.v[i];
	numbers_free(&list);
	return 0;
}

/* Is the principal point in the picture's middle, more or less, and not that of a turned one? */
static bool
is_centred(const struct pinhole *camera, const double size[2])
{
	double off[2], turned[2];

	for (int i = 0; i < 2; i++) {
		double at = i ? camera->K[5] : camera->K[2];

		off[i] = fabs(at - (size[i] - 1) / 2) / size[i];
		turned[i] = fabs(at - (size[!i] - 1) / 2) / size[i];
	}
	if (off[0] > TURNED && off[1] > TURNED && turned[0] < TURNED / 2 && turned[1] < TURNED / 2)
		return false;
	return off[0] < OFF_CENTRE_SHARE && off[1] < OFF_CENTRE_SHARE;
}

int
sensor_fit_check(const struct pinhole *camera, const struct frame_head *head, bool is_picture,
    const struct sensor_fit *fit, bool *warned)
{
	double size[2], whole[2], right, bottom;
	bool known;

	if (find_size(head, is_picture, size, &known) < 0)
		return -1;
	if (!known)
		return 0;
	for (int i = 0; i < 2; i++)
		whole[i] = size[i] * fit->bin[i];
	right = fit->origin_px[0] + whole[0];
	bottom = fit->origin_px[1] + whole[1];
	if (camera->w > 0 && camera->h > 0 && (fit->origin_px[0] < -0.5 ||
	    fit->origin_px[1] < -0.5 || right > camera->w + 0.5 || bottom > camera->h + 0.5))
		return fail(NULL, "the picture, %gx%g px from %g,%g on, does not lie on the "
		    "calibration's camera of %gx%g px: is it the calibration of this one, at "
		    "this resolution?", size[0], size[1], fit->origin_px[0], fit->origin_px[1],
		    camera->w, camera->h);
	if (*warned)
		return 0;
	*warned = true;
	if (!fit->placed && camera->w > 0 && camera->h > 0 && (right < camera->w - fit->bin[0] ||
	    bottom < camera->h - fit->bin[1]))
		warn(NULL, "the picture, %gx%g px, is smaller than the calibration's camera of "
		    "%gx%g px: if it is cut out say where, by --origin", size[0], size[1],
		    camera->w, camera->h);
	else if (!(camera->w > 0) && fit->origin_px[0] == 0 && fit->origin_px[1] == 0 &&
	    !is_centred(camera, whole))
		warn(NULL, "the calibration's principal point, %.6g,%.6g, is far from the middle "
		    "of the picture of %gx%g px: is it the calibration of this camera, at this "
		    "resolution, and not turned?", camera->K[2], camera->K[5], size[0], size[1]);
	else
		*warned = false;
	return 0;
}

size_t
calib_volume_points(const struct pinhole *camera, const double uvz[3][2],
    double X[CALIB_VOLUME_POINTS][3])
{
	const size_t across = CALIB_VOLUME_ACROSS, deep = CALIB_VOLUME_DEEP;
	size_t n = 0;

	for (size_t i = 0; i < CALIB_VOLUME_POINTS; i++) {
		const double part[3] = { (double)(i % across) / (double)(across - 1),
			(double)(i / across % across) / (double)(across - 1),
			(double)(i / (across * across)) / (double)(deep - 1) };
		double at[3], xy[2];

		for (size_t k = 0; k < 3; k++)
			at[k] = uvz[k][0] + part[k] * (uvz[k][1] - uvz[k][0]);
		if (!pinhole_undistort(camera, at, xy))
			continue;
		X[n][0] = at[2] * xy[0];
		X[n][1] = at[2] * xy[1];
		X[n++][2] = at[2];
	}
	return n;
}

/* ---- what a file says once more of the pose of its devices ---- */

#define LENGTH_SHARE 0.01	/* by which T may differ: rounded files agree within 1e-3 */
#define TURN_RAD 0.02		/* of rotations and directions, about */
#define E_OF_POINTS_RAD 0.1	/* the same of an E that was found from points */
#define ESSENTIAL 0.01		/* of its length cubed, in the equation of essential matrices */
#define F_RAD 0.05		/* and of F: found from 100 points with noise of 0.3 px 0.02 */

struct rest {
	const struct number_file *numbers;
	const double *R, *T;
	double length;		/* of T */
	double E[9];		/* [T]x R, of length 1 */
	char *text;		/* CALIB_REST_TEXT */
};

/* The n numbers of an entry; NULL where there are not so many, or some are none. */
static const double *
find_entry(const struct rest *rest, const char *name, size_t n)
{
	const struct number_file_entry *entry = number_file_find(rest->numbers, name);
	const double *v = entry && entry->n == n ? rest->numbers->v + entry->first : NULL;

	for (size_t i = 0; v && i < n; i++)
		if (!isfinite(v[i]))
			return NULL;
	return v;
}

static double
norm(const double *v, size_t n)
{
	return sqrt(vector_dot(v, v, n));
}

/* The largest difference of elements of two matrices, a brought to length 1 and to b's sign. */
static double
apart(const double a[9], const double b[9])
{
	double length = norm(a, 9), most[2] = { 0, 0 };

	for (size_t i = 0; i < 9; i++) {
		most[0] = fmax(most[0], fabs(a[i] / length - b[i]));
		most[1] = fmax(most[1], fabs(a[i] / length + b[i]));
	}
	return fmin(most[0], most[1]);
}

static bool
other_pose(const struct rest *rest, const char *name)
{
	snprintf(rest->text, CALIB_REST_TEXT, "R and T are not the pose that %s of the same file "
	    "belong%s to: are they the other way round, or of another calibration?", name,
	    name[1] ? "" : "s");
	return false;
}

static bool
check_length(const struct rest *rest, const char *name, double length)
{
	if (!(length > 0) || fabs(length / rest->length - 1) <= LENGTH_SHARE)
		return true;
	snprintf(rest->text, CALIB_REST_TEXT, "T is %.6g long, and by %s of the same file %.6g: is "
	    "it in another unit, or of another calibration?", rest->length, name, length);
	return false;
}

/* 2 E E' E = trace(E E') E holds of essential matrices, and no other ones. */
static bool
is_essential(const double E[9])
{
	double turned[9], square[9], cube[9], length = norm(E, 9), trace;

	matrix3_transpose(E, turned);
	matrix3_product(E, turned, square);
	trace = square[0] + square[4] + square[8];
	matrix3_product(square, E, cube);
	for (size_t i = 0; i < 9; i++)
		if (!(fabs(2 * cube[i] - trace * E[i]) < ESSENTIAL * length * length * length))
			return false;
	return length > 0;
}

/* cv2.stereoCalibrate() makes E of T itself; found from points its length and sign say nothing. */
static bool
check_essential(const struct rest *rest)
{
	const double *E = find_entry(rest, "E", 9);
	double length = E ? norm(E, 9) / sqrt(2) : 0, along = 0;
	bool of_points = fabs(length - 1) < 1e-3 || (E && (fabs(norm(E, 9) - 1) < 1e-3 ||
	    E[8] == 1));

	if (!E || !is_essential(E))
		return true;
	for (size_t i = 0; i < 9; i++)
		along += E[i] * rest->E[i];
	if (apart(E, rest->E) > (of_points ? E_OF_POINTS_RAD : TURN_RAD) ||
	    (!of_points && along < 0))
		return other_pose(rest, "E");
	return of_points || check_length(rest, "E", length);
}

/* x2' F x1 = 0 in pixels, so that K2' F K1 is E. */
static bool
check_fundamental(const struct rest *rest, const double K1[9], const double K2[9])
{
	const double *F = find_entry(rest, "F", 9);
	double by_K1[9], turned[9], E[9];

	if (!F || !(norm(F, 9) > 0))
		return true;
	matrix3_product(F, K1, by_K1);
	matrix3_transpose(K2, turned);
	matrix3_product(turned, by_K1, E);
	if (apart(E, rest->E) <= F_RAD)
		return true;
	if (is_essential(E))
		return other_pose(rest, "F");
	snprintf(rest->text, CALIB_REST_TEXT, "the matrices of both devices are not those that F "
	    "of the same file belongs to: are they exchanged, of pictures of another size, or of "
	    "another calibration?");
	return false;
}

/* Rectified: f 0 cx 0, 0 f cy 0, 0 0 1 0, and the second one's with f T beside it. */
static bool
is_rectified(const double P1[12], const double P2[12])
{
	const double *P[2] = { P1, P2 };

	for (size_t i = 0; i < 2; i++)
		if (P[i][1] != 0 || P[i][4] != 0 || P[i][8] != 0 || P[i][9] != 0 ||
		    P[i][10] != 1 || P[i][11] != 0 || !(P[i][0] > 0) ||
		    fabs(P[i][0] / P1[0] - 1) > 1e-4 || fabs(P[i][5] / P1[0] - 1) > 1e-4)
			return false;
	return P1[3] == 0 && P1[7] == 0 && (P2[3] != 0) != (P2[7] != 0);
}

/* R2 R R1' is no turn, and R2 T lies along the row or column that P2 says. */
static bool
check_rectification(const struct rest *rest)
{
	static const char all[] = "R1 R2 P1 P2";
	const double *R1 = find_entry(rest, "R1", 9), *R2 = find_entry(rest, "R2", 9);
	const double *P1 = find_entry(rest, "P1", 12), *P2 = find_entry(rest, "P2", 12);
	double second[9], along[3], length;

	if (!R1 || !R2 || !P1 || !P2 || !is_rectified(P1, P2))
		return true;
	matrix3_product(R2, rest->R, second);
	for (size_t i = 0; i < 9; i++)
		if (fabs(second[i] - R1[i]) > TURN_RAD)
			return other_pose(rest, all);
	length = norm((double[2]){ P2[3], P2[7] }, 2) / P2[0];
	matrix3_apply(R2, rest->T, along);
	if (fabs(along[0] / rest->length - P2[3] / P2[0] / length) > TURN_RAD ||
	    fabs(along[1] / rest->length - P2[7] / P2[0] / length) > TURN_RAD)
		return other_pose(rest, all);
	return check_length(rest, all, length);
}

/* 1 0 0 -cx, 0 1 0 -cy, 0 0 0 f, 0 0 -1/T and another one. */
static bool
check_disparity(const struct rest *rest)
{
	const double *Q = find_entry(rest, "Q", 16);

	if (!Q || Q[0] != 1 || Q[5] != 1 || Q[10] != 0 || Q[14] == 0)
		return true;
	return check_length(rest, "Q", fabs(1 / Q[14]));
}

bool
calib_rest_agrees(const struct number_file *numbers, const double K1[9], const double K2[9],
    const double R[9], const double T[3], char text[CALIB_REST_TEXT])
{
	const double cross[9] = { 0, -T[2], T[1], T[2], 0, -T[0], -T[1], T[0], 0 };
	struct rest rest = { numbers, R, T, norm(T, 3), { 0 }, text };
	double length;

	text[0] = '\0';
	if (!(rest.length > 0))
		return true;
	matrix3_product(cross, R, rest.E);
	length = norm(rest.E, 9);
	for (size_t i = 0; i < 9; i++)
		rest.E[i] /= length;
	return check_essential(&rest) && check_rectification(&rest) && check_disparity(&rest) &&
	    check_fundamental(&rest, K1, K2);
}

/* ---- calibration files: the names of their entries, and which of several devices is meant ---- */

/* The names that one family of calibration programs uses; | separates alternatives. */
struct dialect {
	const char *camera_K, *camera_distortion, *projector_K, *projector_distortion;
	const char *R, *T;		/* camera to projector */
};

static const struct dialect dialects[] = {
	{ "M1", "D1", "M4", "D4", "Rlp", "Tlp|Tlp_mm" },
	{ "camera_K", "camera_dist", "projector_K", "projector_dist", "R_cam_to_proj",
	    "T_cam_to_proj|T_cam_to_proj_mm" },
	{ "K1|M1", "D1|d1", "K2|M2", "D2|d2", "R", "T|T_mm" },
	{ "cameraMatrix1", "distCoeffs1", "cameraMatrix2", "distCoeffs2", "R", "T|T_mm" },
	{ "cameraMatrix", "distCoeffs", "projectorMatrix", "projectorDistCoeffs|projDistCoeffs",
	    "R", "T|T_mm" },
	{ "camera_matrix", "camera_distortion|distortion_coefficients", "projector_matrix",
	    "projector_distortion", "R", "T|T_mm" },
	{ "cam_K", "cam_kc|cam_dist", "proj_K", "proj_kc|proj_dist", "R", "T|T_mm" },
};

#define DIALECTS (sizeof(dialects) / sizeof(dialects[0]))

/* The entry of the first of the names that the file has; *names moves on behind it. */
static const struct number_file_entry *
find_next(const struct number_file *numbers, const char **names)
{
	const struct number_file_entry *entry = NULL;

	while (!entry && **names) {
		size_t n = strcspn(*names, "|");
		char name[NUMBER_FILE_NAME_SIZE];

		snprintf(name, sizeof(name), "%.*s", (int)n, *names);
		entry = number_file_find(numbers, name);
		*names += n + ((*names)[n] == '|');
	}
	return entry;
}

static const struct number_file_entry *
find(const struct number_file *numbers, const char *names)
{
	return *names ? find_next(numbers, &names) : number_file_find(numbers, names);
}

bool
calib_has(const struct number_file *numbers, const char *names)
{
	return find(numbers, names);
}

/* No entry of these names: lists them all, and what they are. */
static int
fail_absent(const char *path, const struct number_file *numbers, const char *names,
    const char *what)
{
	char text[128];
	size_t n = 0;

	for (; *names && n + 5 < sizeof(text); names++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, *names == '|' ? " or " : "%c",
		    *names);
	return fail(path, "expected %s called %s, found none among its %zu entries (man "
	    "phase2depth lists the names that go together)", what, text, numbers->entries);
}

int
calib_get(const char *path, const struct number_file *numbers, const char *names, const char *what,
    size_t expected, double *out)
{
	const struct number_file_entry *entry = find(numbers, names), *other;

	if (!entry)
		return fail_absent(path, numbers, names, what);
	if (entry->n != expected && !*names)
		return fail(path, "expected %s, found %zu", what, entry->n);
	if (entry->n != expected)
		return fail(path, "%s: expected %s, found %zu number%s%s", entry->name, what,
		    entry->n, entry->n == 1 ? "" : "s", expected == 9 && entry->n == 3 ?
		    " (of a rotation vector? Write its matrix, as cv2.Rodrigues gives it)" : "");
	for (size_t i = 0; i < expected; i++) {
		out[i] = numbers->v[entry->first + i];
		if (!isfinite(out[i]))
			return fail(path, "%s: expected numbers, value %zu is none", entry->name,
			    i + 1);
	}
	while ((other = find_next(numbers, &names)))
		for (size_t i = 0; i < expected; i++)
			if (other->n != expected || numbers->v[other->first + i] != out[i])
				return fail(path, "%s and %s are two names of %s, and their values "
				    "differ", entry->name, other->name, what);
	return number_file_check_size(path, numbers, entry);
}

int
calib_get_pair(const char *path, const struct number_file *numbers, const char *names,
    const char *what, double out[2])
{
	const struct number_file_entry *entry = find(numbers, names);

	out[0] = out[1] = 0;
	/* the first name that the file has counts: others may be of a part of the image */
	if (!entry)
		return 0;
	if (calib_get(path, numbers, entry->name, what, 2, out) < 0)
		return -1;
	return out[0] >= 0 && out[1] >= 0 ? 0 : fail(path, "%s: expected %s, found %g %g",
	    entry->name, what, out[0], out[1]);
}

static bool
is_lens_count(size_t n)
{
	return n == 4 || n == 5 || n == 8 || n == 12 || n == 14;
}

/* dist, kc, coef, or D and a digit or _. */
static bool
sounds_like_lens(const char *name)
{
	return strcasestr(name, "dist") || strcasestr(name, "kc") || strcasestr(name, "coef") ||
	    (toupper((unsigned char)*name) == 'D' && name[1] && strchr("_0123456789", name[1]));
}

/* Warns of a list that may be the lens of a device that has none. */
static void
check_misspelt(const char *path, const struct number_file *numbers, const char *names)
{
	for (size_t i = 0; i < numbers->entries; i++) {
		const struct number_file_entry *entry = &numbers->entry[i];
		const char *name = entry->name;
		bool known = false;

		/* not within a structure, such as fringecal's devices */
		if (!is_lens_count(entry->n) || !sounds_like_lens(name) ||
		    (strchr(name, '.') && strcmp(strchr(name, '.'), ".data")))
			continue;
		for (size_t k = 0; k < DIALECTS; k++)
			known |= find(numbers, dialects[k].camera_distortion) == entry ||
			    find(numbers, dialects[k].projector_distortion) == entry;
		if (!known) {
			warn(path, "%s, %zu numbers, is not read: a lens is called %s", name,
			    entry->n, names);
			return;
		}
	}
}

int
calib_get_intrinsics(const char *path, const struct number_file *numbers, const char *K,
    const char *distortion, const char *what, struct pinhole *device)
{
	const struct number_file_entry *entry = find(numbers, distortion);
	const double *k = device->K;
	size_t n = entry ? entry->n : 0;

	if (calib_get(path, numbers, K, what, 9, device->K) < 0)
		return -1;
	if (k[1] == 0 && k[2] == 0 && k[5] == 0 && k[6] != 0 && k[8] == 1)
		return fail(path, "%s: is transposed: expected fx s cx, 0 fy cy, 0 0 1", K);
	if (!(fabs(k[0]) > 0 && fabs(k[4]) > 0) || k[3] != 0 || k[6] != 0 || k[7] != 0 || k[8] != 1)
		return fail(path, "%s: expected fx s cx, 0 fy cy, 0 0 1, found %g %g %g, %g %g %g, "
		    "%g %g %g", K, k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7], k[8]);
	if (!entry) {
		check_misspelt(path, numbers, distortion);
		return 0;
	}
	if (n != 0 && !is_lens_count(n))
		return fail(path, "%s: expected 4, 5, 8, 12 or 14 coefficients, found %zu",
		    entry->name, n);
	if (n == 0 && entry->is_text)
		return fail(path, "%s: expected lens distortion, found '%s'", entry->name,
		    entry->text);
	if (n == 0)
		return number_file_check_size(path, numbers, entry);
	if (calib_get(path, numbers, distortion, "lens distortion", n, device->distortion) < 0)
		return -1;
	if (device->distortion[12] != 0 || device->distortion[13] != 0)
		return fail(path, "%s: expected an untilted sensor, found tilts %g and %g",
		    entry->name, device->distortion[12], device->distortion[13]);
	return 0;
}

/* Rows that are not unit vectors at right angles are no rotation; files round to a few digits. */
static bool
is_rotation(const double R[9])
{
	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 3; j++)
			if (!(fabs(vector3_dot(R + 3 * i, R + 3 * j) - (i == j)) < 1e-2))
				return false;
	return matrix3_determinant(R) > 0;
}

int
calib_get_rotation(const char *path, const struct number_file *numbers, const char *names,
    double R[9])
{
	if (calib_get(path, numbers, names, "a 3x3 rotation", 9, R) < 0)
		return -1;
	return is_rotation(R) ? 0 : fail(path, "%s: expected a rotation, found rows that are not "
	    "unit vectors at right angles, or a mirror (determinant %g)",
	    find(numbers, names)->name, matrix3_determinant(R));
}

/* The unit of lengths; NULL where the file names none. */
static const char *
find_unit(const struct number_file *numbers)
{
	const struct number_file_entry *entry = find(numbers, "length_unit|unit");

	return entry && entry->text[0] ? entry->text : NULL;
}

void
calib_get_unit(const struct number_file *numbers, char unit[16])
{
	const char *text = find_unit(numbers);

	snprintf(unit, 16, "%.15s", text ? text : "mm");
}

int
calib_get_frame(const char *path, const struct number_file *numbers, struct pinhole *camera,
    double origin_px[2])
{
	double size[2];

	if (calib_get_pair(path, numbers, "crop_x0_y0", "a crop's x0 y0", origin_px) < 0 ||
	    calib_get_pair(path, numbers, calib_has(numbers, "crop_x0_y0") ? "full_size|S" :
	    "full_size|S|camera_size|image_size|imageSize", "a size, w h", size) < 0)
		return -1;
	camera->K[2] += origin_px[0];
	camera->K[5] += origin_px[1];
	camera->w = size[0];
	camera->h = size[1];
	return 0;
}

static const struct dialect *
best_dialect(const struct number_file *numbers)
{
	const struct dialect *best = NULL;
	int most = 0;

	for (const struct dialect *d = dialects; d < dialects + DIALECTS; d++) {
		int matrices = calib_has(numbers, d->camera_K) + calib_has(numbers,
		    d->projector_K);
		int score = matrices + calib_has(numbers, d->R) + calib_has(numbers, d->T);

		if (score > most && matrices) {
			most = score;
			best = d;
		}
	}
	return best;
}

/* Image sizes, the crop that the camera matrix is meant for, the fringe period, the unit of
 * lengths. */
static int
get_frame(const char *path, const struct number_file *numbers, struct calib *calib)
{
	static const char period[] = "fringe_period_projector_px";
	double size[2];

	if (calib_get_frame(path, numbers, &calib->camera, calib->origin_px) < 0 ||
	    calib_get_pair(path, numbers, "projector_size|projector_px|S_projector|proj_size",
	    "a size, w h", size) < 0)
		return -1;
	calib->projector.w = size[0];
	calib->projector.h = size[1];
	if (calib_has(numbers, period)) {
		if (calib_get(path, numbers, period, "a period in pixels", 1,
		    &calib->period_px) < 0)
			return -1;
		if (!(calib->period_px > 0))
			return fail(path, "%s: expected a period in pixels, found %g", period,
			    calib->period_px);
	}
	calib->unit_stated = find_unit(numbers);
	calib_get_unit(numbers, calib->unit);
	return 0;
}

/* Rectifying rotations are those of a stereo pair, unless an entry's name speaks of a projector. */
static bool
is_stereo_pair(const struct number_file *numbers)
{
	for (size_t i = 0; i < numbers->entries; i++)
		if (strcasestr(numbers->entry[i].name, "proj"))
			return false;
	return calib_has(numbers, "R1") && calib_has(numbers, "R2") && calib_has(numbers, "R");
}

/* ---- devices ---- */

size_t
calib_device_name(const struct number_file_entry *entry, const char **name)
{
	static const char before[] = "devices.", after[] = ".kind";
	size_t n = strlen(entry->name), around = strlen(before) + strlen(after);

	*name = entry->name + strlen(before);
	return n > around && !strncmp(entry->name, before, strlen(before)) &&
	    !strcmp(entry->name + n - strlen(after), after) ? n - around : 0;
}

const struct number_file_entry *
calib_device_entry(const struct number_file *numbers, const char *name, const char *kind)
{
	for (size_t i = 0; i < numbers->entries; i++) {
		const struct number_file_entry *entry = &numbers->entry[i];
		const char *own;
		size_t n = calib_device_name(entry, &own);

		if (n && (!kind || !strcmp(entry->text, kind)) &&
		    (!name || (strlen(name) == n && !strncmp(own, name, n))))
			return entry;
	}
	return NULL;
}

const char *
calib_camera(const struct number_file *numbers, size_t i, size_t *n)
{
	for (size_t k = 0; k < numbers->entries; k++) {
		const char *name;

		*n = calib_device_name(&numbers->entry[k], &name);
		if (*n && !strcmp(numbers->entry[k].text, "camera") && i-- == 0)
			return name;
	}
	return NULL;
}

int
calib_read_device(const char *path, const struct number_file *numbers,
    const struct number_file_entry *entry, struct pinhole *device)
{
	static const char *const of[] = { "K", "dist", "R", "size" };
	char name[4][2 * NUMBER_FILE_NAME_SIZE], T_name[4 * NUMBER_FILE_NAME_SIZE];
	int n = (int)strlen(entry->name) - 5;
	double R[9], T[3], size[2];

	for (size_t k = 0; k < 4; k++)
		snprintf(name[k], sizeof(name[k]), "%.*s.%s", n, entry->name, of[k]);
	snprintf(T_name, sizeof(T_name), "%.*s.T_mm|%.*s.T", n, entry->name, n, entry->name);
	if (calib_get_intrinsics(path, numbers, name[0], name[1], "a 3x3 camera matrix",
	    device) < 0 || calib_get(path, numbers, name[2], "a 3x3 rotation", 9, R) < 0 ||
	    calib_get(path, numbers, T_name, "a translation of 3 numbers", 3, T) < 0 ||
	    calib_get_pair(path, numbers, name[3], "a size, w h", size) < 0)
		return -1;
	if (!is_rotation(R))
		return fail(path, "%s: expected a rotation", name[2]);
	device->w = size[0];
	device->h = size[1];
	pinhole_invert(R, T, device->R, device->T);
	return 0;
}

/* Lists the devices that there are. */
static int
fail_device(const char *path, const struct number_file *numbers, const char *name)
{
	char text[256] = "";
	size_t n = 0;

	for (size_t i = 0; i < numbers->entries && n + 70 < sizeof(text); i++) {
		const char *own;
		size_t length = calib_device_name(&numbers->entry[i], &own);

		if (length)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%.*s", n ? ", " : "",
			    (int)length, own);
	}
	return fail(path, "has no device %s; its devices: %s", name, n ? text :
	    "none (fringecal writes them)");
}

int
calib_get_device(const char *path, const struct number_file *numbers, const char *name,
    struct pinhole *device)
{
	const struct number_file_entry *entry = calib_device_entry(numbers, name, "camera");

	if (entry)
		return calib_read_device(path, numbers, entry, device);
	if (name && calib_device_entry(numbers, name, NULL))
		return fail(path, "%s is a projector", name);
	return fail_device(path, numbers, name ? name : "of kind camera");
}

static int
get_devices(const char *path, const struct number_file *numbers, const char *camera,
    const char *frame, struct calib *calib)
{
	const struct number_file_entry *entry[3] = { calib_device_entry(numbers, camera, "camera"),
		calib_device_entry(numbers, NULL, "projector"),
		calib_device_entry(numbers, frame, NULL) };
	struct pinhole world = { 0 }, *device[3] = { &calib->camera, &calib->projector, &world };

	if (!entry[0])
		return calib_get_device(path, numbers, camera, &world);
	if (!entry[1] || !entry[2])
		return fail_device(path, numbers, entry[1] ? frame : "of kind projector");
	if (get_frame(path, numbers, calib) < 0)
		return -1;
	for (size_t i = 0; i < (frame ? 3 : 2); i++)
		if (calib_read_device(path, numbers, entry[i], device[i]) < 0)
			return -1;
	for (size_t i = 0; i < 2; i++) {
		if (frame)
			pinhole_between(world.R, world.T, device[i]->R, device[i]->T,
			    device[i]->R, device[i]->T);
		pinhole_complete(device[i]);
	}
	calib->unit_stated = true;		/* fringecal's are mm */
	return 0;
}

static int
get_dialect(const char *path, const struct number_file *numbers, struct calib *calib)
{
	const struct dialect *d = best_dialect(numbers);
	struct pinhole *camera = &calib->camera, *projector = &calib->projector;

	if (!d)
		return fail(path, "expected matrices camera_K, projector_K, R_cam_to_proj and "
		    "T_cam_to_proj, under these or other names that man phase2depth lists, or 24 "
		    "numbers; found %zu other entries%s%s", numbers->entries,
		    numbers->entries ? ", the first one " : "",
		    numbers->entries ? numbers->entry[0].name : "");
	if (calib_get_intrinsics(path, numbers, d->camera_K, d->camera_distortion,
	    "the camera's 3x3 matrix", camera) < 0 ||
	    calib_get_intrinsics(path, numbers, d->projector_K, d->projector_distortion,
	    "the projector's 3x3 matrix", projector) < 0 ||
	    calib_get(path, numbers, d->R, "a 3x3 rotation", 9, projector->R) < 0 ||
	    calib_get(path, numbers, d->T, "a translation of 3 numbers", 3, projector->T) < 0)
		return -1;
	if (!is_rotation(projector->R)) {
		double determinant = matrix3_determinant(projector->R);

		return fail(path, "%s: expected a rotation, found %s (determinant %g)", d->R,
		    determinant < 0 ? "one that also mirrors" : "rows that are not unit vectors "
		    "at right angles", determinant);
	}
	for (size_t i = 0; i < 3; i++)
		camera->R[4 * i] = 1;		/* the camera is the world's origin */
	if (get_frame(path, numbers, calib) < 0)
		return -1;
	calib->unit_stated |= strstr(find(numbers, d->T)->name, "_mm") != NULL;
	calib_rest_agrees(numbers, camera->K, projector->K, projector->R, projector->T,
	    calib->contradiction);
	calib->two_cameras = is_stereo_pair(numbers) ||
	    (calib_device_entry(numbers, NULL, "camera") &&
	    !calib_device_entry(numbers, NULL, "projector"));
	pinhole_complete(camera);
	pinhole_complete(projector);
	return 0;
}

/*
 * P = s K [R|T], K upper triangular with positive diagonal, R a rotation: rows from the last to the
 * first by Gram and Schmidt. s is divided out so that K's last element is 1 and depth is positive.
 */
static int
decompose(const char *path, const char *device_name, const double given[12], struct pinhole *device)
{
	double P[12], M[9], *R = device->R, *K = device->K, scale;

	for (size_t i = 0; i < 9; i++)
		M[i] = given[4 * (i / 3) + i % 3];
	scale = copysign(vector3_length(M + 6), matrix3_determinant(M));
	if (!isfinite(scale) || scale == 0)
		return fail(path, "%s: expected a perspective matrix, found a third row %g %g %g "
		    "%g", device_name, given[8], given[9], given[10], given[11]);
	for (size_t i = 0; i < 12; i++)
		P[i] = given[i] / scale;
	for (size_t i = 3; i-- > 0;) {
		double v[3] = { P[4 * i], P[4 * i + 1], P[4 * i + 2] };

		for (size_t j = i + 1; j < 3; j++) {
			double *along = &K[3 * i + j];

			*along = vector3_dot(v, R + 3 * j);
			for (size_t k = 0; k < 3; k++)
				v[k] -= *along * R[3 * j + k];
		}
		K[4 * i] = vector3_length(v);
		if (!(K[4 * i] > 1e-9))
			return fail(path, "%s: expected a perspective matrix, found one whose left "
			    "3x3 is singular", device_name);
		for (size_t k = 0; k < 3; k++)
			R[3 * i + k] = v[k] / K[4 * i];
	}
	K[8] = 1;
	device->T[2] = P[11];
	device->T[1] = (P[7] - K[5] * P[11]) / K[4];
	device->T[0] = (P[3] - K[2] * P[11] - K[1] * device->T[1]) / K[0];
	memcpy(device->P, P, sizeof(P));
	return 0;
}

static int
get_plain(const char *path, const struct number_file *numbers, struct calib *calib)
{
	double P[24];

	if (calib_get(path, numbers, "", "24 numbers (camera 3x4, then projector 3x4)", 24,
	    P) < 0 || decompose(path, "camera", P, &calib->camera) < 0 ||
	    decompose(path, "projector", P + 12, &calib->projector) < 0)
		return -1;
	strcpy(calib->unit, "mm");
	calib->unit_stated = true;
	return 0;
}

/* Frees numbers. */
static int
take_numbers(const char *path, struct number_file *numbers, const char *camera,
    const char *frame, struct calib *calib)
{
	int status;

	memset(calib, 0, sizeof(*calib));
	if (camera || frame)
		status = get_devices(path, numbers, camera, frame, calib);
	else if (numbers->entries == 1 && !numbers->entry[0].name[0] && numbers->entry[0].n)
		status = get_plain(path, numbers, calib);
	else
		status = get_dialect(path, numbers, calib);
	number_file_free(numbers);
	return status;
}

int
calib_load_device(const char *path, const char *camera, const char *frame, struct calib *calib)
{
	struct number_file numbers;

	return number_file_load(path, &numbers) < 0 ? -1 : take_numbers(path, &numbers, camera,
	    frame, calib);
}

struct calib_camera *
calib_load_others(const char *path, const char *camera, const char *frame, size_t *n)
{
	struct calib_camera *list = NULL, *other;
	struct number_file numbers;
	const char *name;
	size_t length;

	*n = 0;
	if (number_file_load(path, &numbers) < 0)
		return fail_clear(), NULL;
	for (size_t i = 0; (name = calib_camera(&numbers, i, &length)); i++) {
		if (camera ? strlen(camera) == length && !strncmp(camera, name, length) : i == 0)
			continue;
		list = must_resize(list, *n + 1, sizeof(*list));
		other = &list[*n];
		snprintf(other->name, sizeof(other->name), "%.*s", (int)length, name);
		if (calib_load_device(path, other->name, frame, &other->calib) == 0)
			(*n)++;
		else
			fail_clear();
	}
	number_file_free(&numbers);
	return list;
}

int
calib_load(const char *path, struct calib *calib)
{
	return calib_load_device(path, NULL, NULL, calib);
}

int
calib_parse(const char *path, const char *text, size_t n, struct calib *calib)
{
	struct number_file numbers;

	return number_file_parse(path, text, n, &numbers) < 0 ? -1 :
	    take_numbers(path, &numbers, NULL, NULL, calib);
}
