#include "plausible.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "image/coarse_grid.h"
#include "optics/device_check.h"

#define PIXELS 4096		/* looked at, about */
#define LEAST 100		/* phases that a warning needs */
#define OUTSIDE 0.05		/* right captures: 0 to 0.02, in the dark and at the edges */
#define LOST 0.1		/* right captures: 0 */
#define MARGIN_PX 2.0		/* noise at the projector's edge */
#define OFF 0.2			/* of the points: right captures 0 */
#define OFF_MARGIN 0.05		/* of the projector's size, for what its lens and the pose leave */
#define MIRRORED 0.8		/* of the pixels: right captures 0 to 0.1, at steep slopes */
#define ESTIMATED 0.2		/* the same, of a size that is not known */
#define TURNED 70.0		/* degrees: right captures to 60 */
#define FEWER 8			/* of those pixels: points that make the surface as a whole */
#define APART 3			/* pixels, between which the phase rises by more than its noise */
#define STEEP 5.0		/* times the rise of far points: an edge, or a wrong fringe order */
#define SLOPE 0.05		/* of the epipolar line: with less the other axis measures */

/* Is the frame larger than the camera, or smaller without a word about where it lies? */
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

/* Does the frame count in the fringes, and on the projector, that the calibration names? */
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

/* The direction in which depth moves the middle of the frame through the projector's picture. */
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
		double s = plausible_baseline(calib) * (k ? 6 : 3), X[3];

		for (size_t i = 0; i < 3; i++)
			X[i] = center[i] + s * (rays->R[3 * i] * xy[0] +
			    rays->R[3 * i + 1] * xy[1] + rays->R[3 * i + 2]);
		if (!pinhole_project(&calib->projector, X, at[k]))
			return 0;
	}
	if (fabs(at[1][along_y] - at[0][along_y]) >=
	    SLOPE * fabs(at[1][!along_y] - at[0][!along_y]))
		return 0;
	return fail(NULL, "depth does not move a point across the projector's %s: with this "
	    "calibration only a phase that varies along %c measures (--axis)",
	    along_y ? "rows" : "columns", along_y ? 'x' : 'y');
}

/*
 * From a pixel to the next the coded coordinate of a far point rises by this; near points move
 * as well, but their order stays. Where columns of the camera go more across the coded axis than
 * along, rows of pixels show nothing.
 */
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

/* The projector's size: the calibration's, else the frame's, else that of which its principal point
 * is the middle. */
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

int
plausible_plan(struct plausible *plausible, const struct calib *calib,
    const struct triangulation *rays, const struct frame_head *in)
{
	if (check_size(plausible, &calib->camera, rays, in) < 0 || check_axis(calib, rays, in) < 0)
		return -1;
	check_projector(plausible, calib, rays, in);
	set_size(plausible, &calib->projector, rays);
	plausible->rise_px = rise_per_pixel(rays, in);
	plausible->step = coarse_grid_step(in->w, in->h, PIXELS);
	plausible->rows = coarse_grid_count(in->h, plausible->step);
	plausible->columns = (coarse_grid_count(in->w, plausible->step) + FEWER - 1) / FEWER;
	plausible_free(plausible);
	plausible->row = calloc(plausible->rows, sizeof(*plausible->row));
	plausible->point = calloc(plausible->rows * plausible->columns, sizeof(*plausible->point));
	if (!plausible->row || !plausible->point)
		return fail_memory();
	for (size_t i = 0; i < plausible->rows * plausible->columns; i++)
		plausible->point[i].x = NAN;
	return 0;
}

void
plausible_free(struct plausible *plausible)
{
	free(plausible->row);
	free(plausible->point);
	plausible->row = NULL;
	plausible->point = NULL;
}

int
plausible_frame_memory(struct plausible *plausible, struct run *run)
{
	size_t rows = plausible->rows, points = rows * plausible->columns;

	return run_frame_memory(run, &plausible->row, rows * sizeof(*plausible->row)) < 0 ? -1 :
	    run_frame_memory(run, &plausible->point, points * sizeof(*plausible->point));
}

/* Is the point behind the camera or the projector? Without the projector's lens, which moves it by
 * some pixels. */
static bool
is_behind(const struct triangulation *rays, double code, size_t column, size_t row)
{
	double x = rays->x0 + rays->x_per_column * (double)column + rays->x_per_row * (double)row;
	double y = rays->y0 + rays->y_per_row * (double)row, b_code, b_w, s;

	if (rays->lens) {
		const int32_t *lens = rays->lens + row * rays->lens_stride + column;

		x += rays->lens_unit * lens[0];
		y += rays->lens_unit * lens[rays->h * rays->lens_stride];
	}
	b_code = rays->b_code[0] * x + rays->b_code[1] * y + rays->b_code[2];
	b_w = rays->b_w[0] * x + rays->b_w[1] * y + rays->b_w[2];
	s = (rays->a_code - code * rays->a_w) / (code * b_w - b_code);
	return s <= 0 || rays->a_w + s * b_w <= 0;
}

/* Does the projector see the point where its picture is, across the coded axis? */
static bool
is_off(const struct plausible *plausible, bool along_y, const float *const xyz[3], size_t x)
{
	double point[3] = { (double)xyz[0][x], (double)xyz[1][x], (double)xyz[2][x] }, uv[2];
	double margin = (plausible->estimated ? ESTIMATED : OFF_MARGIN) * plausible->other_px;

	return !pinhole_project(&plausible->calib->projector, point, uv) ||
	    uv[!along_y] < -0.5 - margin || uv[!along_y] > plausible->other_px - 0.5 + margin;
}

static void
count_pixel(const struct plausible *plausible, const struct triangulation *rays,
    const float *phase, const float *const xyz[3], size_t x, size_t y,
    struct plausible_count *count)
{
	double code = rays->px_per_rad * (double)phase[x] + rays->code0_px, rise;
	double margin = plausible->estimated ? ESTIMATED * plausible->size_px : MARGIN_PX;

	count->phases++;
	count->outside += plausible->size_px > 0 &&
	    (code < -0.5 - MARGIN_PX || code > plausible->size_px - 0.5 + margin);
	if (isnan(xyz[2][x])) {
		count->lost++;
		count->behind += is_behind(rays, code, x, y);
	} else if (plausible->other_px > 0 && (x + y) / plausible->step % 16 == 0) {
		count->points++;
		count->off += is_off(plausible, rays->along_y, xyz, x);
	}
	if (plausible->rise_px == 0 || x + APART >= rays->w || isnan(phase[x + APART]))
		return;
	rise = rays->px_per_rad * ((double)phase[x + APART] - (double)phase[x]) /
	    (APART * plausible->rise_px);
	if (fabs(rise) < STEEP) {
		count->rising += rise > 0;
		count->falling += rise < 0;
	}
}

/* Bands may share rows: both store the same. */
static void
keep_point(const struct plausible *plausible, const float *const xyz[3], size_t x, size_t y)
{
	double world[3] = { (double)xyz[0][x], (double)xyz[1][x], (double)xyz[2][x] };
	struct inclination_point point = inclination_point(&plausible->calib->camera, world);
	struct inclination_point *to = &plausible->point[y / plausible->step * plausible->columns +
	    x / plausible->step / FEWER];

	__atomic_store(&to->x, &point.x, __ATOMIC_RELAXED);
	__atomic_store(&to->y, &point.y, __ATOMIC_RELAXED);
	__atomic_store(&to->inverse, &point.inverse, __ATOMIC_RELAXED);
}

void
plausible_row(const struct plausible *plausible, const struct triangulation *rays,
    const float *phase, const float *const xyz[3], size_t y)
{
	struct plausible_count count = { 0 };
	uint32_t *from = (uint32_t *)&count, *to;

	if (plausible->off || y % plausible->step)
		return;
	for (size_t x = 0; x < rays->w; x += plausible->step) {
		if ((x + y) / plausible->step % FEWER == 0)
			keep_point(plausible, xyz, x, y);
		if (!isnan(phase[x]))
			count_pixel(plausible, rays, phase, xyz, x, y, &count);
	}
	to = (uint32_t *)&plausible->row[y / plausible->step];
	for (size_t i = 0; i < sizeof(count) / sizeof(*from); i++)
		__atomic_store_n(&to[i], from[i], __ATOMIC_RELAXED);
}

/* The sums of all rows. */
static void
add_rows(const struct plausible *plausible, double sum[PLAUSIBLE_COUNTS])
{
	for (size_t i = 0; i < plausible->rows; i++)
		for (size_t k = 0; k < PLAUSIBLE_COUNTS; k++)
			sum[k] += ((const uint32_t *)&plausible->row[i])[k];
}

/* Is the surface seen, or lit, at a grazing angle? Then hardly a fringe would have been there. */
static bool
is_turned_away(const struct plausible *plausible)
{
	double camera_deg, projector_deg;

	if (!inclination_find(plausible->point, plausible->rows * plausible->columns,
	    plausible->calib, &camera_deg, &projector_deg) ||
	    (camera_deg < TURNED && projector_deg < TURNED))
		return false;
	warn("x y z", "the surface as a whole is turned away by %.0f degrees from the camera and "
	    "by %.0f from the projector: are --period and --origin right, and the matrices, R and "
	    "T of --calib?", camera_deg, projector_deg);
	return true;
}

/* Is the rig so small that T was hardly meant in mm, which nothing states? */
static bool
is_small(const struct plausible *plausible)
{
	const struct calib *calib = plausible->calib;
	double apart = plausible_baseline(calib), nearest = INFINITY, farthest = 0;
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

void
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
	if (phases < LEAST)
		return;
	plausible->off = true;
	if (falling > MIRRORED * (rising + falling) && falling > LEAST)
		warn("absphase", "falls from pixel to pixel (%.0f %%) where this calibration has "
		    "the projector's %s rise: is phasewrap --sign right, or an image mirrored?",
		    100 * falling / (rising + falling), lines);
	else if (outside > OUTSIDE * phases)
		warn("absphase", "%.0f %% of the pixels lie outside the projector's %s%.4g %s: are "
		    "--period, --centered, and phasewrap --phase-origin right?",
		    100 * outside / phases, some, plausible->size_px, lines);
	else if (behind > LOST * phases)
		warn("x y z", "%.0f %% of the pixels with a phase have their point behind the "
		    "camera or the projector: are --origin, --period, --axis and --calib right?",
		    100 * behind / phases);
	else if (!plausible->limited && lost > LOST * phases && lost < phases)
		warn("x y z", "%.0f %% of the pixels with a phase have no point in front of camera "
		    "and projector: are --origin, --period, --axis and --calib right?",
		    100 * lost / phases);
	else if (points > LEAST / 4 && off > OFF * points)
		warn("x y z", "%.0f %% of the points lie where the projector's %s%.4g %s do not "
		    "reach: are --origin, --period, --axis and --calib right?", 100 * off / points,
		    some, plausible->other_px, across);
	else
		plausible->off = is_small(plausible) || is_turned_away(plausible);
}
