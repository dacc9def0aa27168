/*
 * Plans for phase2depth how a camera's pixels meet a projector's columns (or rows): the projector
 * with its lens, the table that undoes the camera's lens, and what the phase counts (methods §8).
 */
#include "phase2depth.h"

#include <float.h>

#include "checks/checks.h"
#include "optics/camera_model.h"
#include "phase2depth.px.h"

/* ---- the camera's rays ---- */

#define SHIFT_POINTS 9		/* of the frame, a side, whose shifts choose the table's unit */
#define SHIFT_MORE 1.2		/* times larger the shifts between them may be */
#define SHIFT_LEAST 1e-6	/* keeps the unit above 0 */
/* A lens that moves a ray by some 2^9 focal lengths and more counts as giving no ray: at this
 * exponent the unit is 2^-21 of a focal length, and a larger one would be too coarse for all other
 * pixels. */
#define SHIFT_EXPONENT_MOST 10

/* The largest shift of a grid over the frame, its corners included. */
static double
largest_shift(const struct triangulation *t, const struct pinhole *camera)
{
	const double last = SHIFT_POINTS - 1;
	double most = 0;

	for (size_t i = 0; i < SHIFT_POINTS * SHIFT_POINTS; i++) {
		double column = (double)(t->w - 1) * (double)(i % SHIFT_POINTS) / last, xy[2];
		double row = (double)(t->h - 1) * (double)(i / SHIFT_POINTS) / last;
		double y = t->y0 + t->y_per_row * row;
		double x = t->x0 + t->x_per_row * row + t->x_per_column * column;
		double uv[2] = { t->origin_px[0] + (column + 0.5) * t->bin[0] - 0.5,
			t->origin_px[1] + (row + 0.5) * t->bin[1] - 0.5 };

		if (pinhole_undistort(camera, uv, xy))
			most = fmax(most, fmax(fabs(xy[0] - x), fabs(xy[1] - y)));
	}
	return most;
}

/* Fills the table `lens`. Its unit is the least that holds a little more than the grid's largest
 * shift. Shifts between the grid's points, next to a fold, may be larger: then it is filled
 * again. */
static void
fill_rays(struct run *run, struct triangulation *t, const struct pinhole *camera)
{
	struct rays_job job = { t, camera, 0, false };
	int exponent;

	frexp(fmax(SHIFT_MORE * largest_shift(t, camera), SHIFT_LEAST), &exponent);
	if (exponent > SHIFT_EXPONENT_MOST)
		exponent = SHIFT_EXPONENT_MOST;
	do {
		t->lens_unit = ldexp(1, exponent - 31);
		job.per_unit = 1 / t->lens_unit;
		job.beyond = false;
		run_for(run, t->h, phase2depth_rows()->fill_rays, &job);
		exponent += 2;
	} while (job.beyond && exponent <= SHIFT_EXPONENT_MOST);
}

void
triangulation_free(struct triangulation *t)
{
	free(t->lens);
	t->lens = NULL;
	t->w = t->h = 0;
}

static void
set_camera(struct triangulation *t, const struct pinhole *camera)
{
	const double *K = camera->K;
	double u0 = t->origin_px[0] + (t->bin[0] - 1) / 2,
	       v0 = t->origin_px[1] + (t->bin[1] - 1) / 2;

	t->y_per_row = t->bin[1] / K[4];
	t->y0 = (v0 - K[5]) / K[4];
	t->x_per_column = t->bin[0] / K[0];
	t->x_per_row = -K[1] * t->y_per_row / K[0];
	t->x0 = (u0 - K[2] - K[1] * t->y0) / K[0];
}

/* The camera's rays; kept while size and place of the frame stay. */
static int
set_rays(struct run *run, struct triangulation *t, const struct pinhole *camera,
    const struct frame_head *in, const double origin_px[2], const double bin[2])
{
	size_t n;

	if (t->w == in->w && t->h == in->h &&
	    !memcmp(t->origin_px, origin_px, sizeof(t->origin_px)) &&
	    !memcmp(t->bin, bin, sizeof(t->bin)))
		return 0;
	triangulation_free(t);
	memcpy(t->origin_px, origin_px, sizeof(t->origin_px));
	memcpy(t->bin, bin, sizeof(t->bin));
	set_camera(t, camera);
	t->lens_unit = 1;
	if (camera->distorted) {
		t->lens_stride = frame_stride(in->w, SAMPLE_FLOAT) / sizeof(*t->lens);
		if (size_multiply(t->lens_stride, in->h, &n) < 0)
			return -1;
		t->lens = must_aligned(n, 2 * sizeof(*t->lens));
	}
	t->w = in->w;
	t->h = in->h;
	if (t->lens)
		fill_rays(run, t, camera);
	return 0;
}

/* ---- the projector ---- */

#define BEND_POINTS 33		/* of the projector's picture, a side */

/* The projector's a + s b, normalised. */
struct approach {
	double a[3], b[3][3];
};

/* The approach and the map to the world, from the two poses. */
static void
set_poses(struct triangulation *t, const struct calib *calib, bool along_y, struct approach *n)
{
	const struct pinhole *camera = &calib->camera, *projector = &calib->projector;
	const size_t row[3] = { along_y ? 1 : 0, along_y ? 0 : 1, 2 };
	double center[3];

	pinhole_center(camera, center);
	for (size_t i = 0; i < 3; i++) {
		t->T[i] = center[i] + 0.0;	/* -0 is 0 */
		for (size_t j = 0; j < 3; j++)
			t->R[3 * i + j] = camera->R[3 * j + i];
	}
	for (size_t i = 0; i < 3; i++) {
		const double *R = projector->R + 3 * row[i];

		n->a[i] = projector->T[row[i]] + R[0] * center[0] + R[1] * center[1] +
		    R[2] * center[2];
		for (size_t j = 0; j < 3; j++)
			n->b[i][j] = R[0] * camera->R[3 * j] + R[1] * camera->R[3 * j + 1] +
			    R[2] * camera->R[3 * j + 2];
	}
}

static void
set_projector(struct triangulation *t, const struct pinhole *projector, bool along_y,
    const struct approach *n)
{
	const double *K = projector->K, *d = projector->distortion;
	const double focal_px = along_y ? K[4] : K[0], skew_px = along_y ? 0 : K[1];
	const double center_px = along_y ? K[5] : K[2];
	/* OpenCV's places of k1 k2 k3 k4 k5 k6 p1 p2 s1 s2 s3 s4; the same with x and y
	 * exchanged */
	static const size_t order[2][12] = { { 0, 1, 4, 5, 6, 7, 2, 3, 8, 9, 10, 11 },
		{ 0, 1, 4, 5, 6, 7, 3, 2, 10, 11, 8, 9 } };
	double *terms = t->exact_terms;

	t->a_code = focal_px * n->a[0] + skew_px * n->a[1] + center_px * n->a[2];
	t->a_w = n->a[2];
	for (size_t j = 0; j < 3; j++) {
		t->b_code[j] =
		    focal_px * n->b[0][j] + skew_px * n->b[1][j] + center_px * n->b[2][j];
		t->b_w[j] = n->b[2][j];
		for (size_t i = 0; i < 3; i++) {	/* a x b */
			size_t i1 = (i + 1) % 3, i2 = (i + 2) % 3;

			terms[15 + 3 * i + j] = n->a[i1] * n->b[i2][j] - n->a[i2] * n->b[i1][j];
		}
	}
	for (size_t i = 0; i < 12; i++)
		terms[i] = d[order[along_y][i]];
	terms[12] = focal_px;
	terms[13] = skew_px;
	terms[14] = center_px;
	terms[25] = pinhole_fold_square(projector);
	for (size_t i = 0; i < 15; i++)
		t->lens_terms[i] = (float)terms[i];
	t->distorted = projector->distorted;
	t->plain = skew_px == 0;
	for (size_t i = 5; i < 12; i++)
		t->plain &= d[i] == 0;
}

/* The second derivative of the coded coordinate at the point uv of the projector's picture, along
 * the camera's ray that meets it, in the unit of phase2depth_next()'s `bend`. Less than 0 where
 * there is no such ray. */
static float
bend_at(const struct triangulation *t, const struct pinhole *projector, const struct approach *n,
    const double uv[2])
{
	const float by = 1e-3f;
	struct phase2depth_lens lens;
	struct phase2depth_exact_lens exact;
	struct phase2depth_ray line;
	struct phase2depth_change before, after;
	double xy[2], ray[3], at[3];

	if (!pinhole_undistort(projector, uv, xy))
		return -1;
	at[0] = xy[t->along_y];
	at[1] = xy[!t->along_y];
	at[2] = 1;
	for (size_t j = 0; j < 3; j++)		/* of far points, b is a rotation */
		ray[j] = n->b[0][j] * at[0] + n->b[1][j] * at[1] + n->b[2][j] * at[2];
	if (!(ray[2] > 0))
		return -1;
	memcpy(&lens, t->lens_terms, sizeof(lens));
	memcpy(&exact, t->exact_terms, sizeof(exact));
	line = phase2depth_rounded(phase2depth_ray_of(exact, ray[0] / ray[2], ray[1] / ray[2]));
	before = phase2depth_shift(lens, (float)at[0] - by, line.slope, line.offset, t->plain);
	after = phase2depth_shift(lens, (float)at[0] + by, line.slope, line.offset, t->plain);
	return fabsf((after.derivative - before.derivative) / (2 * by) *
	    phase2depth_per_x(lens, line.slope, t->plain)) / (2 * PHASE2DEPTH_MISS_PX);
}

/* Tries a grid over the projector's picture, once for each axis. Twice the largest value allows for
 * points between and around the grid's. */
static void
set_bend(struct triangulation *t, const struct pinhole *projector, const struct approach *n)
{
	double w = projector->w > 0 ? projector->w : 2 * projector->K[2];
	double h = projector->h > 0 ? projector->h : 2 * projector->K[5];
	const double last = BEND_POINTS - 1;
	float *bend = &t->bend_along[t->along_y], most = -1;

	for (size_t i = 0; i < BEND_POINTS * BEND_POINTS && t->distorted && *bend == 0; i++) {
		float v = bend_at(t, projector, n, (double[2]){
		    w * (double)(i % BEND_POINTS) / last, h * (double)(i / BEND_POINTS) / last });

		most = v > most ? v : most;
	}
	if (*bend == 0)
		*bend = most >= 0 ? 2 * most + FLT_MIN : FLT_MAX;
	t->exact_terms[24] = *bend;
}

/* ---- the phase and the frame ---- */

static int
fail_period(const struct calib *calib)
{
	return calib->period_px > 0 ? fail(NULL, "the fringe period is not known: say --period PX "
	    "(the calibration names fringe_period_projector_px %g)", calib->period_px) :
	    fail(NULL, "the fringe period is not known: say --period PX, the pixels of the "
	    "projector from a fringe to the next");
}

/* How many pixels a radian is, and the pixel where the phase is 0. */
static int
set_phase(const struct run *run, struct triangulation *t, const struct calib *calib,
    const struct triangulation_options *options, const struct frame_head *in, bool along_y)
{
	double period_px, known = along_y ? calib->projector.h : calib->projector.w;
	struct numbers size;

	if (run_number(run, options->period_px, in, "period_px", NAN, &period_px) < 0)
		return -1;
	if (isnan(period_px))
		return fail_period(calib);
	if (!(period_px > 0 && isfinite(period_px)))
		return fail(NULL, "key period_px must be positive, not %g", period_px);
	t->px_per_rad = period_px / (2 * M_PI);
	t->code0_px = 0;
	if (run_numbers(run, &options->projector, in, "projector_px", &size) < 0)
		return -1;
	for (size_t k = 0; k < 2; k++)
		t->projector_px[k] = size.n == 2 ? size.v[k] : 0;
	numbers_free(&size);
	if (!options->centered)
		return 0;
	if (t->projector_px[along_y] > 0)
		known = t->projector_px[along_y];
	if (!(known > 0))
		return fail(NULL, "--centered needs the projector's size: say --projector W,H");
	t->code0_px = known / 2;
	return 0;
}

/* Where the frame lies on the sensor, by options, keys, or the calibration's crop. */
static int
place(const struct run *run, struct triangulation *t, const struct calib *calib,
    const struct triangulation_options *options, const struct frame_head *in,
    double origin_px[2], double bin[2])
{
	const struct numbers *given = &options->bin;
	bool keyed = meta_get(&in->meta, "bin");

	if (sensor_crop_origin(run, &options->origin, in, calib->origin_px, origin_px, bin) < 0)
		return -1;
	t->placed = options->origin.n || meta_get(&in->meta, "origin_px") ||
	    calib->origin_px[0] != 0 || calib->origin_px[1] != 0;
	t->binned = keyed || given->n;
	if (given->n == 0)
		return 0;
	if (keyed && (bin[0] != given->v[0] || bin[1] != given->v[given->n - 1]))
		return fail("--bin", "says %g, and the frame itself says bin %g: give no --bin",
		    given->v[0], bin[0]);
	bin[0] = given->v[0];
	bin[1] = given->v[given->n - 1];
	return 0;
}

/* Fails where the frame does not lie on the calibration's camera. Of a camera without a size the
 * line tells where the principal point is none of such a frame; *reported then. */
static int
check_size(const struct triangulation *t, const char *path, const struct pinhole *camera,
    const struct frame_head *in, bool *reported)
{
	double right = t->origin_px[0] + (double)in->w * t->bin[0];
	double bottom = t->origin_px[1] + (double)in->h * t->bin[1];

	if (!(camera->w > 0 && camera->h > 0)) {
		*reported |= !t->placed && !*reported && !device_check_resolution(path, camera,
		    DEVICE_CAMERA, "camera", right, bottom);
		return 0;
	}
	if (right <= camera->w + 0.5 && bottom <= camera->h + 0.5 && t->origin_px[0] >= -0.5 &&
	    t->origin_px[1] >= -0.5)
		return 0;
	return fail(NULL, "the frame, %zu x %zu px%s from %g,%g on, does not lie on the "
	    "calibration's camera of %g x %g px: are --origin%s and --calib right?", in->w, in->h,
	    t->bin[0] == 1 ? "" : " that are binned,", t->origin_px[0], t->origin_px[1], camera->w,
	    camera->h, t->bin[0] == 1 ? "" : ", --bin");
}

#define EPIPOLAR_SLOPE 0.05	/* at less the other axis measures */

/* Fails where depth does not move the middle of the frame along the coded axis of the projector's
 * picture. */
static int
check_axis(const struct triangulation *t, const struct calib *calib, const struct frame_head *in)
{
	double uv[2] = { t->origin_px[0] + (double)in->w * t->bin[0] / 2,
		t->origin_px[1] + (double)in->h * t->bin[1] / 2 };
	double xy[2], at[2][2];
	bool along_y = t->along_y;

	if (!pinhole_undistort(&calib->camera, uv, xy))
		return 0;
	for (size_t k = 0; k < 2; k++) {
		double s = check_baseline(calib) * (k ? 6 : 3), X[3];

		for (size_t i = 0; i < 3; i++)
			X[i] = t->T[i] + s * (t->R[3 * i] * xy[0] + t->R[3 * i + 1] * xy[1] +
			    t->R[3 * i + 2]);
		if (!pinhole_project(&calib->projector, X, at[k]))
			return 0;
	}
	if (fabs(at[1][along_y] - at[0][along_y]) >=
	    EPIPOLAR_SLOPE * fabs(at[1][!along_y] - at[0][!along_y]))
		return 0;
	return fail(NULL, "depth does not move a point across the projector's %s: with this "
	    "calibration only a phase that varies along %c measures (--axis)",
	    along_y ? "rows" : "columns", along_y ? 'x' : 'y');
}

/* Can the calibration of this path measure frames of this head? *reported: a line told of a fault
 * in the file. -1 after fail(). */
int
triangulation_check_frame(const struct triangulation *t, const char *path,
    const struct calib *calib, const struct frame_head *in, bool *reported)
{
	return check_size(t, path, &calib->camera, in, reported) < 0 ? -1 :
	    check_axis(t, calib, in);
}

/*
 * Sets all for frames of this head, and the keys origin_px (if it was an option) and length_unit of
 * out. The first call takes a zeroed struct. -1 after fail().
 */
int
triangulation_plan(struct run *run, struct triangulation *t, const struct calib *calib,
    const struct triangulation_options *options, const struct frame_head *in,
    struct frame_head *out)
{
	const char *axis = meta_get(&in->meta, "axis");
	bool along_y = options->axis >= 0 ? options->axis == 1 : axis && !strcmp(axis, "y");
	double origin_px[2], bin[2];
	struct approach approach;

	if (meta_get(&in->meta, "rect_side"))
		return fail(NULL, "the frame is rectified (rect_side %.20s), which no calibration "
		    "of the camera itself describes", meta_get(&in->meta, "rect_side"));
	if (options->axis < 0 && axis && strcmp(axis, "x") && strcmp(axis, "y"))
		return fail(NULL, "key axis must be x or y, not '%.40s': say --axis", axis);
	if (set_phase(run, t, calib, options, in, along_y) < 0 ||
	    place(run, t, calib, options, in, origin_px, bin) < 0)
		return -1;
	t->along_y = along_y;
	set_poses(t, calib, along_y, &approach);
	set_projector(t, &calib->projector, along_y, &approach);
	set_bend(t, &calib->projector, &approach);
	if (set_rays(run, t, &calib->camera, in, origin_px, bin) < 0)
		return -1;
	if (options->origin.n)
		meta_set_numbers(&out->meta, "origin_px", origin_px, 2);
	if (options->bin.n)
		meta_set_numbers(&out->meta, "bin", bin, 2);
	if (meta_set(&out->meta, "length_unit", calib->unit) < 0)
		return -1;
	meta_set_numbers(&out->meta, "seen_from_mm", t->T, 3);
	meta_set(&out->meta, "z_axis", "away");
	return 0;
}
