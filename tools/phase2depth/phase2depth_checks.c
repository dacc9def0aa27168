/*
 * The checks of phase2depth: can the calibration, the frame and the result be right together? What
 * they look at is kept by the rows (phase2depth_rows.c) on coarse grids, row by row, so that no
 * warning depends on threads or bands. phase2depth_after() judges it after each frame.
 */
#include "phase2depth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "image/statistics.h"
#include "optics/device_check.h"
#include "run/check.h"

/*
 * ---- inclination ----
 *
 * How far is a surface, as a whole, turned away from the camera and from the projector? A plane in
 * space has 1/z = a + b x/z + c y/z, in the camera's frame. The plane with the least sum of
 * absolute differences from sampled points is found by weighted least squares.
 */

#define INCLINATION_POINTS_LEAST 100
#define INCLINATION_ROUNDS 12	/* of least squares, each with weights from the previous one */
#define INCLINATION_CLOSE 1e-3	/* of the mean 1/z: points nearer to the plane weigh no more */

static double
determinant(const double m[6], const double v[3], int column)
{
	double a[9] = { m[0], m[1], m[2], m[1], m[3], m[4], m[2], m[4], m[5] };

	for (int i = 0; i < 3 && column >= 0; i++)
		a[3 * i + column] = v[i];
	return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) +
	    a[2] * (a[3] * a[7] - a[4] * a[6]);
}

/* Weighted least squares for 1/z = plane . (x, y, 1), x and y less their means. */
static bool
fit_plane(const struct inclination_point *point, size_t n, const double mean[2], double close,
    bool weighted, double plane[3])
{
	double m[6] = { 0 }, v[3] = { 0 }, whole;

	for (size_t i = 0; i < n; i++) {
		double x = (double)point[i].x - mean[0], y = (double)point[i].y - mean[1];
		double inverse = (double)point[i].inverse;
		double rest = fabs(plane[0] * x + plane[1] * y + plane[2] - inverse);
		double weight = weighted ? 1 / fmax(rest, close) : 1;

		m[0] += weight * x * x;
		m[1] += weight * x * y;
		m[2] += weight * x;
		m[3] += weight * y * y;
		m[4] += weight * y;
		m[5] += weight;
		v[0] += weight * x * inverse;
		v[1] += weight * y * inverse;
		v[2] += weight * inverse;
	}
	whole = determinant(m, v, -1);
	if (!(whole > 1e-9 * m[0] * m[3] * m[5]))
		return false;
	for (int k = 0; k < 3; k++)
		plane[k] = determinant(m, v, k) / whole;
	return true;
}

static double
angle_deg(const double a[3], const double b[3])
{
	double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
	double squares = (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]) *
	    (b[0] * b[0] + b[1] * b[1] + b[2] * b[2]);

	return acos(fmax(-1, fmin(1, dot / sqrt(squares)))) * 180 / M_PI;
}

/* Degrees between the plane's normal and the mean ray of each device: at 0 the plane faces it,
 * above 90 turns its back to it. False where n points are too few. point[] is reordered. */
static bool
inclination_find(struct inclination_point *point, size_t n, const struct calib *calib,
    double *camera_deg, double *projector_deg)
{
	double mean[2] = { 0, 0 }, inverse = 0, plane[3] = { 0, 0, 0 };
	double ray[3], light[3], normal[3], world[3];
	const struct pinhole *camera = &calib->camera;
	size_t there = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(point[i].x))
			point[there++] = point[i];
	if (there < INCLINATION_POINTS_LEAST)
		return false;
	for (size_t i = 0; i < there; i++) {
		mean[0] += (double)point[i].x / (double)there;
		mean[1] += (double)point[i].y / (double)there;
		inverse += fabs((double)point[i].inverse) / (double)there;
	}
	for (int i = 0; i <= INCLINATION_ROUNDS; i++)
		if (!fit_plane(point, there, mean, INCLINATION_CLOSE * inverse, i > 0, plane))
			return false;
	if (!(plane[2] > 0))
		return false;		/* 1/z where the mean ray meets the plane */
	normal[0] = plane[0];
	normal[1] = plane[1];
	normal[2] = plane[2] - plane[0] * mean[0] - plane[1] * mean[1];
	ray[0] = mean[0];
	ray[1] = mean[1];
	ray[2] = 1;
	*camera_deg = angle_deg(normal, ray);
	/* the projector in the camera's frame */
	pinhole_center(&calib->projector, world);
	for (int i = 0; i < 3; i++)
		light[i] = ray[i] / plane[2] - (camera->R[3 * i] * world[0] +
		    camera->R[3 * i + 1] * world[1] + camera->R[3 * i + 2] * world[2] +
		    camera->T[i]);
	*projector_deg = angle_deg(normal, light);
	return true;
}

/* ---- the calibration by itself ---- */

/* The distance of camera and projector, in the calibration's unit. */
static double
baseline(const struct calib *calib)
{
	double camera[3], projector[3], square = 0;

	pinhole_center(&calib->camera, camera);
	pinhole_center(&calib->projector, projector);
	for (size_t i = 0; i < 3; i++)
		square += (camera[i] - projector[i]) * (camera[i] - projector[i]);
	return sqrt(square);
}

/* Refuses the calibration of two cameras. */
static int
check_kind(const char *path, const struct calib *calib)
{
	return !calib->two_cameras ? 0 : fail(path, "is of two cameras (R1 and R2 stand there, and "
	    "nothing names a projector): wanted are camera_K, projector_K, R_cam_to_proj and "
	    "T_cam_to_proj, or others of man phase2depth; --as-projector takes the second camera "
	    "for a projector");
}

/* Millimetres of the calibration's unit of lengths; 0: it is unknown. */
static double
unit_mm(const char *unit)
{
	static const struct {
		const char *name;
		double mm;
	} units[] = { { "um", 1e-3 }, { "mm", 1 }, { "cm", 10 }, { "m", 1000 } };

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(unit, units[i].name))
			return units[i].mm;
	return 0;
}

/* Refuses two devices in one place. *plausible: false after a warning. */
static int
check_baseline(const char *path, const struct calib *calib, bool *plausible)
{
	double apart_mm = baseline(calib) * unit_mm(calib->unit);

	*plausible = true;
	if (baseline(calib) == 0)
		return fail(path, "camera and projector are in one place, T is 0: nothing can be "
		    "measured from there");
	if (unit_mm(calib->unit) == 0 ||
	    (apart_mm >= BASELINE_LEAST_MM && apart_mm <= BASELINE_MOST_MM))
		return 0;
	*plausible = false;
	if (strcmp(calib->unit, "mm"))
		warn(path, "camera and projector are %.3g %s apart: is T in %s?",
		    baseline(calib), calib->unit, calib->unit);
	else if (apart_mm < BASELINE_LEAST_MM)
		warn(path, "camera and projector are %.3g mm apart: is T in metres? Then say "
		    "length_unit: m there", apart_mm);
	else
		warn(path, "camera and projector are %.3g m apart: is T in micrometres? Then say "
		    "length_unit: um there", apart_mm / 1000);
	return 0;
}

int
phase2depth_load_checks(struct phase2depth *priv, const char *path, bool as_projector)
{
	struct plausible *plausible = &priv->plausible;
	const struct calib *calib = &priv->calib;
	bool sound;

	if ((!as_projector && check_kind(path, calib) < 0) ||
	    check_baseline(path, calib, &sound) < 0)
		return -1;
	plausible->path = path;
	plausible->calib = calib;
	plausible->off = !sound;
	if (!sound)
		return 0;
	if (calib->contradiction[0])
		warn(path, "%s", calib->contradiction);
	if (calib->contradiction[0] || !device_check_tangential(path, &calib->camera, "camera") ||
	    !device_check_tangential(path, &calib->projector, "projector") ||
	    !device_check_skew(path, &calib->camera, "camera") ||
	    !device_check_skew(path, &calib->projector, "projector"))
		plausible->off = true;
	else
		plausible->off = !device_check_resolution(path, &calib->camera,
		    DEVICE_CAMERA, "camera", calib->camera.w, calib->camera.h) ||
		    (!as_projector && !device_check_resolution(path, &calib->projector,
		    DEVICE_PROJECTOR, "projector", calib->projector.w, calib->projector.h));
	if (!plausible->off)
		plausible->off = !device_check_fold(path, &calib->camera, "camera") ||
		    !device_check_fold(path, &calib->projector, "projector");
	return 0;
}

/*
 * ---- coordinates ----
 *
 * Do calibration and frame fit each other (sizes, directions, units)? Afterwards: how many phases
 * lie outside the projector or fall where they should rise, how many pixels with a phase have no
 * coordinates or lie behind a device, and how many points could the projector not have lit?
 */

#define PLAUSIBLE_COUNTS (sizeof(struct plausible_count) / sizeof(uint32_t))

#define PLAUSIBLE_PIXELS 4096	/* sampled, about */
#define PLAUSIBLE_LEAST 100	/* phases that a warning needs */
#define OUTSIDE_SHARE 0.05	/* right captures: 0 to 0.02, in the dark and at the edges */
#define LOST_SHARE 0.1		/* right captures: 0 */
#define OFF_SHARE 0.2		/* of the points; right captures: 0 */
#define MIRRORED_SHARE 0.8	/* of the pixels; right captures: 0 to 0.1, at steep slopes */
#define TURNED_DEG 70.0		/* right captures: up to 60 */
#define EPIPOLAR_SLOPE 0.05	/* at less the other axis measures */

/* Is the frame larger than the camera, or smaller and nothing states where it lies? */
static int
check_size(struct plausible *plausible, const struct pinhole *camera,
    const struct triangulation *rays, const struct frame_head *in)
{
	double right = rays->origin_px[0] + (double)in->w * rays->bin[0];
	double bottom = rays->origin_px[1] + (double)in->h * rays->bin[1], factor;

	if (!(camera->w > 0 && camera->h > 0)) {
		if (!rays->placed && !plausible->asked)
			plausible->asked = plausible->off = !device_check_resolution(
			    plausible->path, camera, DEVICE_CAMERA, "camera", right, bottom);
		return 0;
	}
	if (right > camera->w + 0.5 || bottom > camera->h + 0.5 || rays->origin_px[0] < -0.5 ||
	    rays->origin_px[1] < -0.5)
		return fail(NULL, "the frame, %zu x %zu px%s from %g,%g on, does not lie on the "
		    "calibration's camera of %g x %g px: are --origin%s and --calib right?", in->w,
		    in->h, rays->bin[0] == 1 ? "" : " that are binned,", rays->origin_px[0],
		    rays->origin_px[1], camera->w, camera->h, rays->bin[0] == 1 ? "" : ", --bin");
	if (rays->placed || plausible->asked ||
	    (right > camera->w - rays->bin[0] && bottom > camera->h - rays->bin[1]))
		return 0;
	plausible->asked = plausible->off = true;
	factor = camera->w / (right - rays->origin_px[0]);
	if (!rays->binned && factor > 1.5 && fabs(factor - round(factor)) < 0.02 &&
	    fabs(factor - camera->h / (bottom - rays->origin_px[1])) < 0.02)
		warn(NULL, "the frame is %.3g times smaller than the calibration's camera of %g x "
		    "%g px: if its pixels are larger say --bin %g, if it is cut out --origin",
		    factor, camera->w, camera->h, round(factor) * rays->bin[0]);
	else
		warn(NULL, "the frame, %zu x %zu px, is smaller than the calibration's camera of "
		    "%g x %g px: if it is cut out say where, by --origin", in->w, in->h,
		    camera->w, camera->h);
	return 0;
}

/* Are fringes and projector of the frame those that the calibration names? */
static void
check_projector(struct plausible *plausible, const struct calib *calib,
    const struct triangulation *rays, const struct frame_head *in)
{
	double period_px = rays->px_per_rad * 2 * M_PI;
	const double *size = rays->projector_px;

	plausible->off |= rays->warned;
	if (plausible->asked || rays->warned)
		return;
	plausible->asked = true;
	if (calib->period_px > 0 && fabs(period_px / calib->period_px - 1) > 1e-4)
		warn(meta_get(&in->meta, "period_px") ? "absphase" : "--period", "counts in "
		    "fringes of %.6g px, but %s names fringe_period_projector_px %g: is --period "
		    "right, here and in phasewrap? Where the fringes are others than that, take "
		    "the entry away",
		    period_px, plausible->path, calib->period_px);
	else if (size[0] > 0 && calib->projector.w > 0 && calib->projector.h > 0 &&
	    (size[0] != calib->projector.w || size[1] != calib->projector.h))
		warn("absphase", "is of a projector of %g x %g px (projector_px), and that of %s "
		    "has %g x %g px: is it the calibration of this one, at this resolution?",
		    size[0], size[1], plausible->path, calib->projector.w, calib->projector.h);
	else
		plausible->asked = false;
	plausible->off |= plausible->asked;
}

/* Refuses a calibration where depth does not move the middle of the frame along the coded axis of
 * the projector's picture. */
static int
check_axis(const struct calib *calib, const struct triangulation *rays, const struct frame_head *in)
{
	double uv[2] = { rays->origin_px[0] + (double)in->w * rays->bin[0] / 2,
		rays->origin_px[1] + (double)in->h * rays->bin[1] / 2 };
	double xy[2], center[3], at[2][2];
	bool along_y = rays->along_y;

	pinhole_center(&calib->camera, center);
	if (!pinhole_undistort(&calib->camera, uv, xy))
		return 0;
	for (size_t k = 0; k < 2; k++) {
		double s = baseline(calib) * (k ? 6 : 3), X[3];

		for (size_t i = 0; i < 3; i++)
			X[i] = center[i] + s * (rays->R[3 * i] * xy[0] +
			    rays->R[3 * i + 1] * xy[1] + rays->R[3 * i + 2]);
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

/* By how much the coded coordinate of far points rises from a pixel to the next. Near points move,
 * but keep their order. 0 where the camera's rows run across the coded axis rather than along
 * it. */
static double
rise_per_pixel(const struct triangulation *rays, const struct frame_head *in)
{
	double x = rays->x0 + rays->x_per_column * (double)in->w / 2;
	double y = rays->y0 + rays->y_per_row * (double)in->h / 2;
	const double *code = rays->b_code, *w = rays->b_w;
	double far_code = code[0] * x + code[1] * y + code[2], far_w = w[0] * x + w[1] * y + w[2];
	double along_x = (code[0] * far_w - far_code * w[0]) / (far_w * far_w);
	double along_y = (code[1] * far_w - far_code * w[1]) / (far_w * far_w);

	if (!(far_w > 0) || !(fabs(along_x) > 2 * fabs(along_y)))
		return 0;
	return along_x * rays->x_per_column;
}

/* The projector's size: the calibration's, else the frame's, else twice its principal point. */
static void
set_size(struct plausible *plausible, const struct pinhole *projector,
    const struct triangulation *rays)
{
	double size[2] = { projector->w, projector->h };

	for (size_t k = 0; k < 2 && !(projector->w > 0 && projector->h > 0); k++)
		size[k] = rays->projector_px[k];
	plausible->estimated = !(size[0] > 0 && size[1] > 0);
	for (size_t k = 0; k < 2 && plausible->estimated; k++)
		size[k] = fmax(0, 2 * projector->K[k ? 5 : 2]);
	plausible->size_px = size[rays->along_y];
	plausible->other_px = size[!rays->along_y];
}

static int
plausible_plan(struct run *run, struct plausible *plausible, const struct calib *calib,
    const struct triangulation *rays, const struct frame_head *in)
{
	size_t points;

	if (check_size(plausible, &calib->camera, rays, in) < 0 || check_axis(calib, rays, in) < 0)
		return -1;
	check_projector(plausible, calib, rays, in);
	set_size(plausible, &calib->projector, rays);
	plausible->rise_px = rise_per_pixel(rays, in);
	plausible->step = coarse_grid_step(in->w, in->h, PLAUSIBLE_PIXELS);
	plausible->rows = coarse_grid_count(in->h, plausible->step);
	plausible->columns = (coarse_grid_count(in->w, plausible->step) + PLAUSIBLE_FEWER - 1) /
	    PLAUSIBLE_FEWER;
	points = plausible->rows * plausible->columns;
	free(plausible->row);
	free(plausible->point);
	plausible->row = calloc(plausible->rows, sizeof(*plausible->row));
	plausible->point = calloc(points, sizeof(*plausible->point));
	if (!plausible->row || !plausible->point)
		return fail_memory();
	for (size_t i = 0; i < points; i++)
		plausible->point[i].x = NAN;
	return run_frame_memory(run, &plausible->row,
	    plausible->rows * sizeof(*plausible->row)) < 0 ? -1 :
	    run_frame_memory(run, &plausible->point, points * sizeof(*plausible->point));
}

/* The sums of all rows. */
static void
add_rows(const struct plausible *plausible, double sum[PLAUSIBLE_COUNTS])
{
	for (size_t i = 0; i < plausible->rows; i++)
		for (size_t k = 0; k < PLAUSIBLE_COUNTS; k++)
			sum[k] += ((const uint32_t *)&plausible->row[i])[k];
}

/* Is the surface seen, or lit, at so grazing an angle that hardly a fringe would be visible? */
static bool
is_turned_away(const struct plausible *plausible)
{
	double camera_deg, projector_deg;

	if (!inclination_find(plausible->point, plausible->rows * plausible->columns,
	    plausible->calib, &camera_deg, &projector_deg) ||
	    (camera_deg < TURNED_DEG && projector_deg < TURNED_DEG))
		return false;
	warn("x y z", "the surface as a whole is turned away by %.0f degrees from the camera and "
	    "by %.0f from the projector: are --period and --origin right, and the matrices, R and "
	    "T of --calib?", camera_deg, projector_deg);
	return true;
}

/* Is the rig so small that T, of which no unit is stated, is hardly in mm? */
static bool
is_small(const struct plausible *plausible)
{
	const struct calib *calib = plausible->calib;
	double apart = baseline(calib), nearest = INFINITY, farthest = 0;
	size_t n = 0, near = 0;

	if (calib->unit_stated || strcmp(calib->unit, "mm") || apart >= SMALL_RIG_MM)
		return false;
	for (size_t i = 0; i < plausible->rows * plausible->columns; i++) {
		double distance = 1 / (double)plausible->point[i].inverse;

		if (isnan(plausible->point[i].x))
			continue;
		n++;
		near += distance < SMALL_RANGE_MM;
		nearest = fmin(nearest, distance);
		farthest = fmax(farthest, distance);
	}
	if (near <= n / 2)
		return false;
	warn(plausible->path, "camera and projector are %.3g apart and the points %.3g to %.3g "
	    "away, taken for mm as nothing says the unit of T: is it cm, or squares of a board? "
	    "length_unit says what it is, mm too", apart, nearest, farthest);
	return true;
}

/* Warns, once in a run. */
static void
plausible_warn(struct plausible *plausible, bool along_y)
{
	double sum[PLAUSIBLE_COUNTS] = { 0 };
	double phases, outside, lost, behind, rising, falling, points, off;
	const char *lines = along_y ? "rows" : "columns", *across = along_y ? "columns" : "rows";
	const char *some = plausible->estimated ? "some " : "";

	if (plausible->off)
		return;
	add_rows(plausible, sum);
	phases = sum[0], outside = sum[1], lost = sum[2], behind = sum[3];
	rising = sum[4], falling = sum[5], points = sum[6], off = sum[7];
	if (phases < PLAUSIBLE_LEAST)
		return;
	plausible->off = true;
	if (falling > MIRRORED_SHARE * (rising + falling) && falling > PLAUSIBLE_LEAST)
		warn("absphase", "falls from pixel to pixel (%.0f %%) where this calibration has "
		    "the projector's %s rise: is phasewrap --sign right, or an image mirrored?",
		    100 * falling / (rising + falling), lines);
	else if (outside > OUTSIDE_SHARE * phases)
		warn("absphase", "%.0f %% of the pixels lie outside the projector's %s%.4g %s: are "
		    "--period, --centered, and phasewrap --phase-origin right?",
		    100 * outside / phases, some, plausible->size_px, lines);
	else if (behind > LOST_SHARE * phases)
		warn("x y z", "%.0f %% of the pixels with a phase have their point behind the "
		    "camera or the projector: are --origin, --period, --axis and --calib right?",
		    100 * behind / phases);
	else if (!plausible->limited && lost > LOST_SHARE * phases && lost < phases)
		warn("x y z", "%.0f %% of the pixels with a phase have no point in front of camera "
		    "and projector: are --origin, --period, --axis and --calib right?",
		    100 * lost / phases);
	else if (points > PLAUSIBLE_LEAST / 4 && off > OFF_SHARE * points)
		warn("x y z", "%.0f %% of the points lie where the projector's %s%.4g %s do not "
		    "reach: are --origin, --period, --axis and --calib right?", 100 * off / points,
		    some, plausible->other_px, across);
	else
		plausible->off = is_small(plausible) || is_turned_away(plausible);
}

/*
 * ---- steps of the phase ----
 *
 * Has an absolute phase steps, as of integers in a picture, or zeros for holes? Neighbours of a
 * measured phase hardly ever have the same number.
 */

#define STEPS_PIXELS 2048	/* kept, about */
#define STEPS_LEAST 100		/* phases that a warning needs, */
#define STEPS_DISTINCT 4	/* and different ones */
#define EQUAL_SHARE 0.1		/* of the neighbours; measured phases: 0, after a median some */
#define ZERO_SHARE 0.02		/* right captures: 0 */
#define ZERO_NEAR 1.0f		/* rad from 0 */
#define ZERO_TIMES 3		/* times as many are exactly 0 */
#define STEP_ROUNDING 1e-6	/* of the largest phase: two numbers so near are the same */
#define STEP_COARSE 100		/* times that: a step */
#define STEP_OFF 0.02		/* of a step: the largest difference from whole steps */

static int
phase_steps_plan(struct run *run, struct phase_steps *steps, const struct frame_head *head)
{
	size_t pixels, bytes;

	steps->grid = coarse_grid(head->w, head->h, STEPS_PIXELS);
	pixels = coarse_grid_pixels(&steps->grid);
	bytes = pixels * sizeof(*steps->value);
	free(steps->value);
	free(steps->next);
	steps->value = malloc(bytes);
	steps->next = malloc(bytes);
	if (!steps->value || !steps->next)
		return fail_memory();
	for (size_t i = 0; i < pixels; i++)
		steps->value[i] = steps->next[i] = NAN;
	return run_frame_memory(run, &steps->value, bytes) < 0 ? -1 :
	    run_frame_memory(run, &steps->next, bytes);
}

static int
by_value(const void *a, const void *b)
{
	float left = *(const float *)a, right = *(const float *)b;

	return (left > right) - (left < right);
}

/* The step that all gaps between sorted phases are whole multiples of; 0: there is none. */
static double
find_step(const float *value, size_t n)
{
	double same = STEP_ROUNDING * fmax(fabs((double)value[0]), fabs((double)value[n - 1]));
	double least = INFINITY, step = 0;
	size_t gaps = 0;

	for (size_t i = 1; i < n; i++) {
		double gap = (double)value[i] - (double)value[i - 1];

		if (gap > same)
			least = fmin(least, gap);
	}
	if (!(least < INFINITY) || least < STEP_COARSE * same)
		return 0;
	for (size_t i = 1; i < n; i++) {	/* the mean of the gaps of one step */
		double gap = (double)value[i] - (double)value[i - 1];

		if (gap > same && gap < 1.5 * least)
			step = (step * (double)gaps + gap) / (double)(gaps + 1), gaps++;
	}
	for (size_t i = 1; i < n; i++) {
		double gap = (double)value[i] - (double)value[i - 1];

		if (fabs(gap / step - round(gap / step)) > STEP_OFF + 2 * same / step)
			return 0;
	}
	return gaps >= STEPS_DISTINCT ? step : 0;
}

/* Are there more zeros than phases near zero, as where zeros mark holes? */
static bool
zeros_apart(const float *value, size_t n, size_t zeros)
{
	size_t near = 0;

	for (size_t i = 0; i < n; i++)
		near += value[i] != 0 && fabsf(value[i]) < ZERO_NEAR;
	return zeros > ZERO_TIMES * near;
}

/* Moves the valid phases to the front. */
static void
gather(const struct phase_steps *steps)
{
	size_t n = 0;

	for (size_t i = 0; i < coarse_grid_pixels(&steps->grid); i++)
		if (isfinite(steps->value[i]))
			steps->value[n++] = steps->value[i];
}

/* Warns, once in a run. True after a warning. */
static bool
phase_steps_warn(struct phase_steps *steps)
{
	struct phase_steps_counts c;
	size_t distinct = 1;
	double step;
	bool equal, zeros;

	if (steps->off)
		return false;
	c = phase2depth_rows()->count_steps(steps);
	equal = c.equal > EQUAL_SHARE * c.pairs && c.pairs > STEPS_LEAST;
	zeros = (double)c.zeros > ZERO_SHARE * (double)c.n;
	if (c.n < STEPS_LEAST || c.zeros == c.n || !(c.whole == c.n || equal || zeros))
		return false;		/* nearly every frame: the phases need no sorting */
	gather(steps);
	qsort(steps->value, c.n, sizeof(*steps->value), by_value);
	for (size_t i = 1; i < c.n; i++)
		distinct += steps->value[i] > steps->value[i - 1];
	step = equal ? find_step(steps->value, c.n) : 0;
	steps->off = true;
	if (c.whole == c.n && distinct >= STEPS_DISTINCT)
		warn("the phase", "holds whole numbers only, as pictures do: wanted is the phase "
		    "in radians as unwrap2f writes it, stored as float (.nrrd, .tif)");
	else if (step > 0)
		warn("the phase", "has steps of %.3g rad, as of a picture of few bits, and depth "
		    "gets steps with it: store phases as float (.nrrd, .tif)", step);
	else if (zeros && zeros_apart(steps->value, c.n, c.zeros))
		warn("the phase", "is exactly 0 at %.0f %% of the pixels that have one: if that "
		    "marks holes, framecat --invalid 0 makes them NaN", 100.0 * (double)c.zeros /
		    (double)c.n);
	else
		steps->off = false;
	return steps->off;
}

/*
 * ---- the reference plane ----
 *
 * Does the phase rise in the direction of its reference's, and can c be in mm? The phase of a
 * surface rises as that of the plane does; its slopes turn that direction by less than 70 degrees
 * where both camera and projector see them. c times the rise from a pixel to the next, over the
 * distance of the pixels, is the ratio of the camera's distance and the baseline.
 */

#define RISE_PIXELS 1024	/* kept, about */
#define RISES_LEAST 100		/* pairs in each direction: fewer tell nothing */
#define RISE_APART_DEG 80.0	/* between the directions in which both rise */
#define RISE_FRINGES 1.0	/* of each across the picture, at least */
#define RATIO_LEAST 0.02	/* of distance and baseline: 0.3 to 30 in right rigs, */
#define RATIO_MOST 500.0	/* and a thousand times less or more in another unit */

static int
reference_check_plan(struct run *run, struct reference_check *check,
    const struct depthfit *fit, const struct frame_head *head)
{
	bool one = fit->degree == 1 && fit->c_map[0] == NO_CHANNEL;
	size_t bytes;

	free(check->kept);
	check->kept = NULL;
	check->off |= fit->wrapped;
	if (check->off)
		return run_frame_memory(run, &check->kept, 0);
	check->plane[0] = fit->ref == NO_CHANNEL ? fit->plane[1] : NAN;
	check->plane[1] = fit->ref == NO_CHANNEL ? fit->plane[2] : NAN;
	check->spacing_mm = strcmp(head->unit, "mm") ? NAN : head->spacing[0];
	check->c = one ? fabs(fit->c[0]) : NAN;
	check->grid = coarse_grid(head->w, head->h, RISE_PIXELS);
	bytes = coarse_grid_pixels(&check->grid) * sizeof(*check->kept);
	check->kept = malloc(bytes);
	return check->kept ? run_frame_memory(run, &check->kept, bytes) : fail_memory();
}

/* The median rise from pixel to pixel of the phase, or (which: 1) the reference, along x or y; NaN
 * where few pairs have both phases. */
static double
find_rise(const struct reference_check *check, size_t which, bool along_y, double *rises)
{
	size_t apart = along_y ? check->grid.columns : 1, n = 0;

	for (size_t i = 0; i + apart < coarse_grid_pixels(&check->grid); i++) {
		double rise = (double)check->kept[i + apart][which] -
		    (double)check->kept[i][which];

		if (isfinite(rise) && (along_y || (i + 1) % check->grid.columns))
			rises[n++] = rise / (double)check->grid.step;
	}
	return n < RISES_LEAST ? NAN : statistics_ranked(rises, n, n / 2);
}

/* The number of fringes across the picture; NaN where a rise is. */
static double
fringes(const struct reference_check *check, const double rise[2])
{
	const struct coarse_grid *grid = &check->grid;

	return (fabs(rise[0]) * (double)grid->columns + fabs(rise[1]) * (double)grid->rows) *
	    (double)grid->step / (2 * M_PI);
}

static void
judge_rise(struct reference_check *check, double *rises)
{
	double phase[2], ref[2], apart_deg, ratio;

	for (size_t k = 0; k < 2; k++) {
		phase[k] = find_rise(check, 0, k, rises);
		ref[k] = isnan(check->plane[k]) ? find_rise(check, 1, k, rises) :
		    check->plane[k];
	}
	if (!(fringes(check, phase) > RISE_FRINGES) || !(fringes(check, ref) > RISE_FRINGES))
		return;
	apart_deg = 180 / M_PI * fabs(atan2(phase[0] * ref[1] - phase[1] * ref[0],
	    phase[0] * ref[0] + phase[1] * ref[1]));
	ratio = check->c * hypot(ref[0], ref[1]) / check->spacing_mm;
	if (apart_deg > RISE_APART_DEG)
		warn("absphase", "rises in another direction than the reference does, %.0f degrees "
		    "beside it: are both of the same axis, sign and camera?", apart_deg);
	else if (ratio < RATIO_LEAST || ratio > RATIO_MOST)
		warn("--c", "%g mm for a radian, of which the reference has %.3g in a mm, would "
		    "need a camera %.2g times as far away as it is from the projector: is it in "
		    "mm?", check->c, hypot(ref[0], ref[1]) / check->spacing_mm, ratio);
	else
		return;
	check->off = true;
}

/* Warns after the first frame, which is enough. */
static void
reference_check_warn(struct reference_check *check)
{
	double *rises;

	if (check->off)
		return;
	rises = malloc(coarse_grid_pixels(&check->grid) * sizeof(*rises));
	if (rises)
		judge_rise(check, rises);
	free(rises);
	check->off = true;
}

/* ---- all of them ---- */

/* After triangulation_plan(), or depthfit_plan(); fits: c is to be found. -1 after fail(), where
 * sizes or axes contradict the calibration. */
int
phase2depth_plan_checks(struct run *run, const struct frame_head *in, bool fits)
{
	struct phase2depth *priv = run->priv;

	if (priv->calibrated && plausible_plan(run, &priv->plausible, &priv->calib, &priv->rays,
	    in) < 0)
		return -1;
	if (phase_steps_plan(run, &priv->steps, in) < 0)
		return -1;
	return priv->calibrated || fits ? 0 : reference_check_plan(run, &priv->reference,
	    &priv->above, in);
}

/* struct body's `after`. */
void
phase2depth_after(struct run *run)
{
	struct phase2depth *priv = run->priv;

	if (phase_steps_warn(&priv->steps))
		priv->plausible.off = priv->reference.off = true;
	if (priv->calibrated)
		plausible_warn(&priv->plausible, priv->rays.along_y);
	else
		reference_check_warn(&priv->reference);
	if (priv->plausible.off)	/* its line is enough */
		run_explain_check(run, "epipolar");
}

void
phase2depth_free_checks(struct phase2depth *priv)
{
	free(priv->plausible.row);
	free(priv->plausible.point);
	free(priv->steps.value);
	free(priv->steps.next);
	free(priv->reference.kept);
}
