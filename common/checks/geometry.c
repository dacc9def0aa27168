/*
 * Checks of where points lie.
 *
 * `calibration`: is the frame one of this calibration? `coordinates`: do phases lie on the
 * projector, and points in front of both devices? `turned`: is the surface seen at an angle at
 * which hardly a fringe would be visible? `epipolar`: does the phase of the other axis agree?
 * `reference-plane`: does the phase rise as that of the plane does? `same-phase`, `textures` and
 * `behind-cameras`: do the matches of two cameras show one scene, in front of them?
 */
#define _GNU_SOURCE
#include "checks/checks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/linear.h"
#include "image/statistics.h"
#include "optics/calib.h"
#include "optics/device_check.h"

bool
check_has_points(const struct check_facts *facts, const struct check_heads *heads)
{
	return facts->calibration && heads->out->c >= 3;
}

void
check_point_channels(const struct check_facts *facts, const struct check_heads *heads, bool *in,
    bool *out)
{
	(void)facts;
	(void)heads;
	(void)in;
	out[0] = out[1] = out[2] = true;
}

double
check_baseline(const struct calib *calib)
{
	double camera[3], projector[3];

	pinhole_center(&calib->camera, camera);
	pinhole_center(&calib->projector, projector);
	return hypot(hypot(camera[0] - projector[0], camera[1] - projector[1]),
	    camera[2] - projector[2]);
}

/* A point of the world in a device's own frame. */
static void
to_device(const struct pinhole *device, const double X[3], double x[3])
{
	for (size_t i = 0; i < 3; i++)
		x[i] = vector3_dot(device->R + 3 * i, X) + device->T[i];
}

/* A point of the world, at a distance along the axis of the camera; xy: its ray there. */
static void
to_world(const struct pinhole *camera, const double xy[2], double distance, double X[3])
{
	double x[3] = { distance * xy[0] - camera->T[0], distance * xy[1] - camera->T[1],
		distance - camera->T[2] };

	for (size_t i = 0; i < 3; i++)
		X[i] = camera->R[i] * x[0] + camera->R[3 + i] * x[1] + camera->R[6 + i] * x[2];
}

/* The camera's ray of a pixel of the frame; false beyond the fold of its lens. */
static bool
ray_of(const struct check_facts *facts, double column, double row, double xy[2])
{
	double uv[2] = { facts->origin_px[0] + (column + 0.5) * facts->bin[0] - 0.5,
		facts->origin_px[1] + (row + 0.5) * facts->bin[1] - 0.5 };

	return pinhole_undistort(&facts->calibration->camera, uv, xy);
}

static void
point_at(const struct check_sample *sample, size_t i, size_t x, double X[3])
{
	for (size_t k = 0; k < 3; k++)
		X[k] = (double)frame_floats(&sample->out.frame, k, i)[x];
}

size_t
check_rays(const struct check_facts *facts, const struct check_sample *sample,
    struct check_ray ray[CHECK_RAYS])
{
	struct check_grid grid = check_grid(&sample->out, CHECK_RAYS / 2);
	size_t n = 0;

	for (size_t i = 0; i < grid.rows; i++)
		for (size_t x = check_grid_shift(&grid, i);
		    x < sample->out.frame.head.w && n < CHECK_RAYS; x += grid.step) {
			double X[3], own[3];

			point_at(sample, i, x, X);
			to_device(&facts->calibration->camera, X, own);
			if (isfinite(own[0] + own[1] + own[2]))
				ray[n++] = (struct check_ray){ own[0] / own[2], own[1] / own[2],
					1 / own[2] };
		}
	return n;
}

/* ---- calibration and frame ---- */

#define SAME_PERIOD 1e-4	/* relative */

/* Is the frame smaller than the calibration's camera, and nothing states where it lies? */
static bool
fire_smaller(const struct check_facts *facts, size_t w, size_t h, struct check_line *line)
{
	const struct pinhole *camera = &facts->calibration->camera;
	double seen[2] = { (double)w * facts->bin[0], (double)h * facts->bin[1] };
	double factor = camera->w / seen[0];

	if (!(camera->w > 0 && camera->h > 0) || facts->origin_stated ||
	    (facts->origin_px[0] + seen[0] > camera->w - facts->bin[0] &&
	    facts->origin_px[1] + seen[1] > camera->h - facts->bin[1]))
		return false;
	if (!facts->bin_stated && factor > 1.5 && fabs(factor - round(factor)) < 0.02 &&
	    fabs(factor - camera->h / seen[1]) < 0.02)
		return check_fire(line, NULL, "the frame is %.3g times smaller than the "
		    "calibration's camera of %g x %g px: if its pixels are larger say --bin %g, if "
		    "it is cut out --origin", factor, camera->w, camera->h,
		    round(factor) * facts->bin[0]);
	return check_fire(line, NULL, "the frame, %zu x %zu px, is smaller than the calibration's "
	    "camera of %g x %g px: if it is cut out say where, by --origin", w, h, camera->w,
	    camera->h);
}

static bool
calibration_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	const struct calib *calib = facts->calibration;
	const struct frame_head *head = &sample->in.frame.head;
	const double *size = facts->projector_px;

	if (fire_smaller(facts, head->w, sample->in.height, line))
		return true;
	if (calib->period_px > 0 && fabs(facts->period_px / calib->period_px - 1) > SAME_PERIOD)
		return check_fire(line, meta_get(&head->meta, "period_px") ? "absphase" :
		    "--period", "counts in fringes of %.6g px, but %s names "
		    "fringe_period_projector_px %g: is --period right, here and in phasewrap? "
		    "Where the fringes are others than that, take the entry away", facts->period_px,
		    facts->calibration_path, calib->period_px);
	if (size[0] > 0 && calib->projector.w > 0 && calib->projector.h > 0 &&
	    (size[0] != calib->projector.w || size[1] != calib->projector.h))
		return check_fire(line, "absphase", "is of a projector of %g x %g px "
		    "(projector_px), and that of %s has %g x %g px: is it the calibration of this "
		    "one, at this resolution?", size[0], size[1], facts->calibration_path,
		    calib->projector.w, calib->projector.h);
	return false;
}

static const char *const calibration_explains[] = { "coordinates", "turned", "epipolar", NULL };

const struct check check_calibration = {
	.name = "calibration", .rank = 1, .looks = CHECK_OUTPUT | CHECK_FIRST,
	.explains = calibration_explains, .applies = check_has_points,
	.channels = check_point_channels, .judge = calibration_judge
};

/*
 * ---- coordinates ----
 *
 * How many phases lie outside the projector or fall where they should rise, how many pixels with a
 * phase have no coordinates or lie behind a device, and how many points could the projector not
 * have lit?
 */

#define COORDINATE_PIXELS 4096	/* of the grid, about */
#define MIN_PHASES 100		/* that a warning needs */
#define MIN_POINTS 25
#define POINTS_APART 16		/* of the points one in so many is projected */
#define OUTSIDE_SHARE 0.05	/* right captures: 0 to 0.02, in the dark and at the edges */
#define LOST_SHARE 0.1		/* right captures: 0 */
#define UNLIT_SHARE 0.2		/* of the points; right captures: 0 */
#define MIRRORED_SHARE 0.8	/* of the pixels; right captures: 0 to 0.1, at steep slopes */
#define EDGE_MARGIN_PX 2.0	/* noise at the projector's edge */
#define UNLIT_MARGIN 0.05	/* of the projector's size: errors of its lens and the pose */
#define ESTIMATED_MARGIN 0.2	/* the same of a size that is not known */
#define RISE_APART_PX 3		/* between which the phase rises by more than its noise */
#define RISE_MOST 5.0		/* times that of far points; more is an edge or a wrong order */
#define FAR_BASELINES 1e6	/* the distance of a far point */

struct coordinates {
	const struct check_facts *facts;
	/* The projector's size, along the coded axis and across; estimated: twice its principal
	 * point. */
	double size_px, other_px;
	bool estimated;
	/* The coded coordinate of far points, from a pixel of a row to the next, in the middle of
	 * the frame; 0: rows do not show whether the phase is mirrored. */
	double rise_px;
	double phases, outside, lost, behind;
	double rising, falling;	/* along the camera's row, as expected and against it */
	double points, unlit;	/* projected ones, and those outside the projector's picture */
	unsigned passed;	/* points since the last one that was projected */
};

/* The coded coordinate of a far point on the ray of a pixel; NaN: none. */
static double
far_code(const struct check_facts *facts, double column, double row)
{
	const struct calib *calib = facts->calibration;
	double xy[2], X[3], uv[2];

	if (!ray_of(facts, column, row, xy))
		return NAN;
	to_world(&calib->camera, xy, FAR_BASELINES * check_baseline(calib), X);
	return pinhole_project(&calib->projector, X, uv) ? uv[facts->along_y] : NAN;
}

/* Of far points about a pixel: near ones move, but keep their order. 0 where the camera's rows run
 * across the coded axis rather than along it. */
static double
rise_per_pixel(const struct check_facts *facts, double x, double y)
{
	double middle = far_code(facts, x, y), along_x = far_code(facts, x + 1, y) - middle;
	double along_y = far_code(facts, x, y + 1) - middle;

	return fabs(along_x) / facts->bin[0] > 2 * fabs(along_y) / facts->bin[1] ? along_x : 0;
}

/* The projector's size: the calibration's, else the frame's, else twice its principal point. */
static void
find_size(struct coordinates *to)
{
	const struct check_facts *facts = to->facts;
	const struct pinhole *projector = &facts->calibration->projector;
	bool known = projector->w > 0 && projector->h > 0;
	double size[2] = { known ? projector->w : facts->projector_px[0],
		known ? projector->h : facts->projector_px[1] };

	to->estimated = !(size[0] > 0 && size[1] > 0);
	for (size_t k = 0; k < 2 && to->estimated; k++)
		size[k] = fmax(0, 2 * projector->K[k ? 5 : 2]);
	to->size_px = size[facts->along_y];
	to->other_px = size[!facts->along_y];
}

/* Does the coded coordinate lie behind the camera or the projector on the ray of a pixel? The
 * projector's lens, which moves it by some pixels, is left out. */
static bool
is_behind(const struct check_facts *facts, double code, size_t column, size_t row)
{
	const struct pinhole *camera = &facts->calibration->camera;
	const struct pinhole *projector = &facts->calibration->projector;
	const double *K = projector->K;
	double xy[2], near[3], far[3], at[2][3], code_a, code_b, b_w, s;
	double focal_px = K[facts->along_y ? 4 : 0], skew_px = facts->along_y ? 0 : K[1];
	double center_px = K[facts->along_y ? 5 : 2];

	if (!ray_of(facts, (double)column, (double)row, xy))
		return false;
	to_world(camera, xy, 0, near);
	to_world(camera, xy, 1, far);
	to_device(projector, near, at[0]);
	to_device(projector, far, at[1]);
	for (size_t k = 0; k < 3; k++)		/* on the ray: at[0] + s at[1] */
		at[1][k] -= at[0][k];
	code_a = focal_px * at[0][facts->along_y] + skew_px * at[0][1] + center_px * at[0][2];
	code_b = focal_px * at[1][facts->along_y] + skew_px * at[1][1] + center_px * at[1][2];
	b_w = at[1][2];
	s = (code_a - code * at[0][2]) / (code * b_w - code_b);
	return s <= 0 || at[0][2] + s * b_w <= 0;
}

/* Does the point lie outside the projector's picture, across the coded axis? */
static bool
is_unlit(const struct coordinates *c, const double X[3])
{
	double margin = c->other_px * (c->estimated ? ESTIMATED_MARGIN : UNLIT_MARGIN), uv[2];

	return !pinhole_project(&c->facts->calibration->projector, X, uv) ||
	    uv[!c->facts->along_y] < -0.5 - margin ||
	    uv[!c->facts->along_y] > c->other_px - 0.5 + margin;
}

/* Counts pixel x of sampled row i, whose phases these are. */
static void
count_pixel(struct coordinates *c, const struct check_sample *sample, const float *phase, size_t i,
    size_t x)
{
	double px_per_rad = c->facts->period_px / (2 * M_PI), X[3], rise;
	double code = px_per_rad * (double)phase[x] + c->facts->zero_px;
	double margin = c->estimated ? ESTIMATED_MARGIN * c->size_px : EDGE_MARGIN_PX;

	if (isnan(phase[x]))
		return;
	c->phases++;
	c->outside += c->size_px > 0 &&
	    (code < -0.5 - EDGE_MARGIN_PX || code > c->size_px - 0.5 + margin);
	point_at(sample, i, x, X);
	if (isnan(X[2])) {
		c->lost++;
		c->behind += is_behind(c->facts, code, x, sample->out.y[i]);
	} else if (c->other_px > 0 && ++c->passed == POINTS_APART) {
		c->passed = 0;
		c->points++;
		c->unlit += is_unlit(c, X);
	}
	if (c->rise_px == 0 || x + RISE_APART_PX >= sample->out.frame.head.w ||
	    isnan(phase[x + RISE_APART_PX]))
		return;
	rise = px_per_rad * ((double)phase[x + RISE_APART_PX] - (double)phase[x]) /
	    (RISE_APART_PX * c->rise_px);
	c->rising += rise > 0 && rise < RISE_MOST;
	c->falling += rise < 0 && rise > -RISE_MOST;
}

static bool
fire_coordinates(const struct coordinates *c, struct check_line *line)
{
	const char *lines = c->facts->along_y ? "rows" : "columns";
	const char *some = c->estimated ? "some " : "";

	if (c->falling > MIRRORED_SHARE * (c->rising + c->falling) && c->falling > MIN_PHASES)
		return check_fire(line, "absphase", "falls from pixel to pixel (%.0f %%) where "
		    "this calibration has the projector's %s rise: is phasewrap --sign right, or "
		    "an image mirrored?", 100 * c->falling / (c->rising + c->falling), lines);
	if (c->outside > OUTSIDE_SHARE * c->phases)
		return check_fire(line, "absphase", "%.0f %% of the pixels lie outside the "
		    "projector's %s%.4g %s: are --period, --centered, and phasewrap --phase-origin "
		    "right?", 100 * c->outside / c->phases, some, c->size_px, lines);
	if (c->behind > LOST_SHARE * c->phases)
		return check_fire(line, "x y z", "%.0f %% of the pixels with a phase have their "
		    "point behind the camera or the projector: are --origin, --period, --axis and "
		    "--calib right?", 100 * c->behind / c->phases);
	if (!c->facts->depth_limited && c->lost > LOST_SHARE * c->phases && c->lost < c->phases)
		return check_fire(line, "x y z", "%.0f %% of the pixels with a phase have no point "
		    "in front of camera and projector: are --origin, --period, --axis and --calib "
		    "right?", 100 * c->lost / c->phases);
	return c->points > MIN_POINTS && c->unlit > UNLIT_SHARE * c->points &&
	    check_fire(line, "x y z", "%.0f %% of the points lie where the projector's %s%.4g %s "
	    "do not reach: are --origin, --period, --axis and --calib right?",
	    100 * c->unlit / c->points, some, c->other_px, c->facts->along_y ? "columns" : "rows");
}

static bool
coordinates_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	struct coordinates c = { .facts = facts,
		.rise_px = rise_per_pixel(facts, (double)sample->in.frame.head.w / 2,
		    (double)sample->in.height / 2) };
	struct check_grid grid = check_grid(&sample->out, COORDINATE_PIXELS);
	size_t phase = head_channel(&sample->in.frame.head, "absphase");

	find_size(&c);
	for (size_t i = 0; i < grid.rows; i++)
		for (size_t x = check_grid_shift(&grid, i); x < sample->out.frame.head.w;
		    x += grid.step)
			count_pixel(&c, sample, frame_floats(&sample->in.frame, phase, i), i, x);
	line->undecided = c.phases < MIN_PHASES;
	return !line->undecided && fire_coordinates(&c, line);
}

static bool
has_phase(const struct check_facts *facts, const struct check_heads *heads)
{
	return check_has_points(facts, heads) && head_channel(heads->in, "absphase") < heads->own;
}

static void
coordinates_channels(const struct check_facts *facts, const struct check_heads *heads, bool *in,
    bool *out)
{
	check_point_channels(facts, heads, in, out);
	in[head_channel(heads->in, "absphase")] = true;
}

static const char *const coordinates_explain[] = { "turned", "epipolar", NULL };

const struct check check_coordinates = {
	.name = "coordinates", .rank = 1, .looks = CHECK_INPUT | CHECK_OUTPUT | CHECK_FIRST,
	.explains = coordinates_explain, .applies = has_phase, .channels = coordinates_channels,
	.judge = coordinates_judge
};

/*
 * ---- inclination ----
 *
 * How far is a surface, as a whole, turned away from the camera and from the projector? A plane in
 * space has 1/z = a + b x/z + c y/z, in the camera's frame. The plane with the least sum of
 * absolute differences from sampled points is found by weighted least squares.
 */

#define MIN_INCLINED_POINTS 100
#define INCLINATION_ROUNDS 12	/* of least squares, each with weights from the previous one */
#define INCLINATION_CLOSE 1e-3	/* of the mean 1/z: points nearer to the plane weigh no more */
#define TURNED_DEG 70.0		/* right captures: up to 60 */

/* Weighted least squares for 1/z = plane . (x, y, 1), x and y less their means. */
static bool
fit_plane(const struct check_ray *ray, size_t n, const double mean[2], double close, bool weighted,
    double plane[3])
{
	double m[9] = { 0 }, v[3] = { 0 };

	for (size_t i = 0; i < n; i++) {
		double at[3] = { ray[i].x - mean[0], ray[i].y - mean[1], 1 };
		double rest = fabs(vector3_dot(plane, at) - ray[i].inverse);
		double weight = weighted ? 1 / fmax(rest, close) : 1;

		for (size_t k = 0; k < 3; k++) {
			double share = weight * at[k];

			for (size_t l = 0; l <= k; l++)
				m[3 * k + l] += share * at[l];
			v[k] += share * ray[i].inverse;
		}
	}
	if (!symmetric_factor(3, m, 1e-9))
		return false;
	symmetric_solve(3, m, v, 1);
	memcpy(plane, v, sizeof(v));
	return true;
}

static double
angle_deg(const double a[3], const double b[3])
{
	double cosine = vector3_dot(a, b) / sqrt(vector3_dot(a, a) * vector3_dot(b, b));

	return acos(fmax(-1, fmin(1, cosine))) * 180 / M_PI;
}

/* Degrees between the plane's normal and the mean ray of each device: at 0 the plane faces it,
 * above 90 turns its back to it. False where no plane is found. */
static bool
find_inclination(const struct check_ray *ray, size_t n, const struct calib *calib,
    double *camera_deg, double *projector_deg)
{
	double mean[2] = { 0, 0 }, inverse = 0, plane[3] = { 0, 0, 0 };
	double light[3], normal[3], world[3], projector[3];

	for (size_t i = 0; i < n; i++) {
		mean[0] += ray[i].x / (double)n;
		mean[1] += ray[i].y / (double)n;
		inverse += fabs(ray[i].inverse) / (double)n;
	}
	for (int i = 0; i <= INCLINATION_ROUNDS; i++)
		if (!fit_plane(ray, n, mean, INCLINATION_CLOSE * inverse, i > 0, plane))
			return false;
	if (!(plane[2] > 0))
		return false;		/* 1/z where the mean ray meets the plane */
	memcpy(normal, plane, sizeof(normal));
	normal[2] -= plane[0] * mean[0] + plane[1] * mean[1];
	*camera_deg = angle_deg(normal, (double[3]){ mean[0], mean[1], 1 });
	pinhole_center(&calib->projector, world);
	to_device(&calib->camera, world, projector);
	for (size_t i = 0; i < 3; i++)
		light[i] = (i < 2 ? mean[i] : 1) / plane[2] - projector[i];
	*projector_deg = angle_deg(normal, light);
	return true;
}

static bool
turned_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	struct check_ray ray[CHECK_RAYS];
	size_t n = check_rays(facts, sample, ray);
	double camera_deg, projector_deg;

	line->undecided = n < MIN_INCLINED_POINTS;
	if (line->undecided ||
	    !find_inclination(ray, n, facts->calibration, &camera_deg, &projector_deg) ||
	    (camera_deg < TURNED_DEG && projector_deg < TURNED_DEG))
		return false;
	return check_fire(line, "x y z", "the surface as a whole is turned away by %.0f degrees "
	    "from the camera and by %.0f from the projector: are --period and --origin right, and "
	    "the matrices, R and T of --calib?", camera_deg, projector_deg);
}

static const char *const turned_explains[] = { "epipolar", NULL };

const struct check check_turned = {
	.name = "turned", .rank = 1, .looks = CHECK_OUTPUT | CHECK_FIRST,
	.explains = turned_explains, .applies = check_has_points,
	.channels = check_point_channels, .judge = turned_judge
};

/*
 * ---- epipolar lines ----
 *
 * Does the phase of the other axis (phase2depth --across) put points on the projector where the
 * calibration does? A phase of one axis has a point for every pixel, whatever is wrong; with both,
 * a pixel's place on the projector must lie on its epipolar line.
 */

#define EPIPOLAR_PIXELS 4096	/* of the grid, about */
#define MIN_EPIPOLAR_PAIRS 200	/* of neighbours, from which on they tell something */
#define DISTANCE_PX 2.0		/* half of the pixels: in right rigs 0.05 to 0.5; or */
#define CAMERA_PX 1.0		/* as large as so many pixels of the camera are there */
#define NOISE_TIMES 3.0		/* that of neighbours: phases without light are noise alone */
#define FARTHER 1.001		/* along the camera's ray, for the direction of the line */
#define STRAY_SHARE 0.05	/* of the pixels: wrong orders, which the rms leaves out */

/* What is known for all pixels. */
struct epipolar {
	const struct check_facts *facts;
	double center[3];		/* of the camera, in the world */
	double px_per_rad;		/* place on the projector by the other phase */
};

/*
 * The point has the projector's coordinate that its own phase gives, so that the place by both
 * phases lies beside the point's picture along the other axis alone. The epipolar line is where the
 * points of the pixel's ray are seen; the distance is that of the place from it.
 */
static float
distance_px(const struct epipolar *check, const float *const xyz[3], const float *phase, size_t x)
{
	bool along_y = check->facts->along_y;
	double point[3], farther[3], uv[2], on[2], other;

	for (size_t k = 0; k < 3; k++) {
		point[k] = (double)xyz[k][x];
		farther[k] = check->center[k] + FARTHER * (point[k] - check->center[k]);
	}
	if (!isfinite(point[0] + point[1] + point[2]) || !isfinite(phase[x]) ||
	    !pinhole_project(&check->facts->calibration->projector, point, uv) ||
	    !pinhole_project(&check->facts->calibration->projector, farther, on))
		return NAN;
	other = check->px_per_rad * (double)phase[x] + check->facts->across_zero_px;
	return (float)((other - uv[!along_y]) * fabs(on[along_y] - uv[along_y]) /
	    hypot(on[0] - uv[0], on[1] - uv[1]));
}

/* The root mean square of the distances, whose sizes these are, without strays. Their order
 * changes. */
static double
find_rms(double *size, size_t n)
{
	size_t strays = (size_t)(STRAY_SHARE * (double)n), taken = 0;
	double limit = statistics_ranked(size, n, n - 1 - strays), sum = 0;

	for (size_t i = 0; i < n; i++) {
		if (size[i] > limit)
			continue;
		sum += size[i] * size[i];
		taken++;
	}
	return sqrt(sum / (double)taken);
}

/* Distances of the pixels of a grid, and of their right neighbours, in projector pixels; NaN:
 * none. */
static void
measure(const struct epipolar *check, const struct check_sample *sample,
    const struct check_rows *across, const struct check_grid *grid, float (*distance)[2])
{
	size_t last = sample->out.frame.head.w - 1;

	for (size_t i = 0; i < grid->rows; i++) {
		const float *const xyz[3] = { frame_floats(&sample->out.frame, 0, i),
			frame_floats(&sample->out.frame, 1, i),
			frame_floats(&sample->out.frame, 2, i) };
		const float *phase = frame_floats(&across->frame,
		    check_phase_channel(check->facts, &across->frame.head), i);

		for (size_t column = 0; column < grid->columns; column++, distance++) {
			size_t x = column * grid->step + check_grid_shift(grid, i);

			x = x < last ? x : last;
			(*distance)[0] = distance_px(check, xyz, phase, x);
			(*distance)[1] = distance_px(check, xyz, phase, x < last ? x + 1 : last);
		}
	}
}

/* value: room for as many numbers as there are pixels. */
static bool
judge(const struct check_facts *facts, float (*distance)[2], size_t pixels, double *value,
    struct check_line *line)
{
	double limit_px = fmax(DISTANCE_PX, CAMERA_PX *
	    fabs(facts->calibration->projector.K[0] / facts->calibration->camera.K[0]));
	double half, rms, middle, noise;
	size_t n = 0, pairs = 0;

	for (size_t i = 0; i < pixels; i++) {
		double change = (double)distance[i][1] - (double)distance[i][0];

		if (!isnan(change))
			value[pairs++] = fabs(change);
	}
	line->undecided = pairs < MIN_EPIPOLAR_PAIRS;
	if (line->undecided)
		return false;
	noise = statistics_ranked(value, pairs, pairs / 2) / M_SQRT2;
	for (size_t i = 0; i < pixels; i++)
		if (!isnan(distance[i][0]))
			value[n++] = (double)distance[i][0];
	middle = statistics_ranked(value, n, n / 2);
	for (size_t i = 0; i < n; i++)
		value[i] = fabs(value[i]);
	half = statistics_ranked(value, n, n / 2);
	rms = find_rms(value, n);
	if (half > limit_px && half > NOISE_TIMES * noise)
		return check_fire(line, "--across", "puts the pixels %.3g px (rms) off their "
		    "epipolar lines on the projector (median %.3g px, noise between neighbours "
		    "%.3g px): do calibration and capture belong together (--calib, "
		    "--origin, --period), and both phases (phasewrap --sign, --phase-origin)?", rms,
		    middle, noise);
	if (line->notes)
		note("--across", "puts the pixels %.3g px (rms) off their epipolar lines on the "
		    "projector (median %.3g px, noise between neighbours %.3g px)", rms, middle,
		    noise);
	return false;
}

static bool
epipolar_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	const struct check_rows *across = check_second(sample, "across");
	struct check_grid grid = check_grid(&sample->out, EPIPOLAR_PIXELS);
	size_t pixels = grid.columns * grid.rows;
	struct epipolar check = { .facts = facts };
	float (*distance)[2] = malloc(pixels * sizeof(*distance));
	double *value = malloc(pixels * sizeof(*value)), period_px;
	bool fires = false;

	if (distance && value &&
	    meta_number(&across->frame.head.meta, "period_px", NAN, &period_px) == 0) {
		check.px_per_rad = period_px / (2 * M_PI);
		pinhole_center(&facts->calibration->camera, check.center);
		measure(&check, sample, across, &grid, distance);
		fires = judge(facts, distance, pixels, value, line);
	}
	free(distance);
	free(value);
	return fires;
}

/* The other phase, and points in the first three channels. */
static bool
epipolar_applies(const struct check_facts *facts, const struct check_heads *heads)
{
	bool across = false;

	for (size_t c = heads->own; c < heads->in->c; c++)
		across |= !strncmp(heads->in->channel[c], "across.", strlen("across."));
	return facts->calibration && across;
}

const struct check check_epipolar = {
	.name = "epipolar", .rank = 1, .looks = CHECK_OUTPUT | CHECK_SECOND | CHECK_FIRST,
	.applies = epipolar_applies, .channels = check_point_channels, .judge = epipolar_judge
};

/*
 * ---- the reference plane ----
 *
 * Does the phase rise in the direction of its reference's, and can c be in mm? The phase of a
 * surface rises as that of the plane does; its slopes turn that direction by less than 70 degrees
 * where both camera and projector see them. c times the rise from a pixel to the next, over the
 * distance of the pixels, is the ratio of the camera's distance and the baseline.
 */

#define RISE_PIXELS 1024	/* of the grid, about */
#define MIN_RISES 100		/* pairs in each direction: fewer tell nothing */
#define MAX_APART_DEG 80.0	/* between the directions in which both rise */
#define MIN_FRINGES 1.0		/* of each across the picture */
#define MIN_RATIO 0.02		/* of distance and baseline: 0.3 to 30 in right rigs, */
#define MAX_RATIO 500.0		/* and a thousand times less or more in another unit */

/* The median rise from pixel to pixel along x or y; NaN where few pairs have both phases. rises:
 * room for as many numbers as the grid has pixels. */
static double
find_rise(const struct check_rows *rows, size_t channel, bool along_y, double *rises)
{
	struct check_grid grid = check_grid(rows, RISE_PIXELS);
	size_t w = rows->frame.head.w, n = 0;

	for (size_t i = 0; i + along_y < grid.rows; i++) {
		const float *v = frame_floats(&rows->frame, channel, i);
		const float *next = along_y ? frame_floats(&rows->frame, channel, i + 1) :
		    v + grid.step;
		double apart = along_y ? (double)(rows->y[i + 1] - rows->y[i]) : (double)grid.step;

		for (size_t x = 0; x + (along_y ? 0 : grid.step) < w; x += grid.step) {
			double rise = (double)next[x] - (double)v[x];

			if (isfinite(rise))
				rises[n++] = rise / apart;
		}
	}
	return n < MIN_RISES ? NAN : statistics_ranked(rises, n, n / 2);
}

static bool
judge_rise(const struct check_facts *facts, const struct check_rows *rows, const double phase[2],
    const double plane[2], struct check_line *line)
{
	const struct frame_head *head = &rows->frame.head;
	double w = (double)head->w, h = (double)rows->height;
	double spacing_mm = strcmp(head->unit, "mm") ? NAN : head->spacing[0], apart_deg, ratio;
	double per_mm = hypot(plane[0], plane[1]) / spacing_mm;
	double fringes = 2 * M_PI * MIN_FRINGES;

	if (!(fabs(phase[0]) * w + fabs(phase[1]) * h > fringes) ||
	    !(fabs(plane[0]) * w + fabs(plane[1]) * h > fringes))
		return false;
	apart_deg = 180 / M_PI * fabs(atan2(phase[0] * plane[1] - phase[1] * plane[0],
	    phase[0] * plane[0] + phase[1] * plane[1]));
	ratio = fabs(facts->mm_per_rad) * per_mm;
	if (apart_deg > MAX_APART_DEG)
		return check_fire(line, "absphase", "rises in another direction than the reference "
		    "does, %.0f degrees beside it: are both of the same axis, sign and camera?",
		    apart_deg);
	return (ratio < MIN_RATIO || ratio > MAX_RATIO) && check_fire(line, "--c", "%g mm for a "
	    "radian, of which the reference has %.3g in a mm, would need a camera %.2g times as "
	    "far away as it is from the projector: is it in mm?", fabs(facts->mm_per_rad), per_mm,
	    ratio);
}

static bool
reference_plane_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	const struct check_rows *rows = &sample->in, *ref = check_second(sample, "ref");
	size_t ref_channel = ref ? check_phase_channel(facts, &ref->frame.head) : NO_CHANNEL;
	struct check_grid grid = check_grid(rows, RISE_PIXELS);
	double *rises = malloc(grid.columns * grid.rows * sizeof(*rises)), phase[2], plane[2];

	for (size_t k = 0; k < 2; k++) {
		phase[k] = rises ? find_rise(rows, check_phase_channel(facts, &rows->frame.head), k,
		    rises) : NAN;
		plane[k] = facts->plane_rad_per_px[k];
		if (isnan(plane[k]) && ref_channel != NO_CHANNEL && rises)
			plane[k] = find_rise(ref, ref_channel, k, rises);
	}
	free(rises);
	line->undecided = isnan(phase[0] + phase[1] + plane[0] + plane[1]);
	return judge_rise(facts, rows, phase, plane, line);
}

static bool
reference_plane_applies(const struct check_facts *facts, const struct check_heads *heads)
{
	return facts->above_plane && check_phase_channel(facts, heads->in) < heads->own;
}

static void
reference_plane_channels(const struct check_facts *facts, const struct check_heads *heads,
    bool *in, bool *out)
{
	(void)out;
	in[check_phase_channel(facts, heads->in)] = true;
}

const struct check check_reference_plane = {
	.name = "reference-plane", .rank = 1, .looks = CHECK_INPUT | CHECK_SECOND | CHECK_FIRST,
	.applies = reference_plane_applies, .channels = reference_plane_channels,
	.judge = reference_plane_judge
};

/*
 * ---- two cameras ----
 *
 * Phases of vertical fringes match in any row, so a pair that is not rectified, or rectified as the
 * wrong side or by the wrong calibration, gives as many points as a correct one. The textures show
 * the error. A shift to either side shows that the two phases are not counted from the same place.
 */

#define MIN_ALIKE_PLACES 12	/* real pairs have 100 and more */
#define MIN_PAIR_POINTS 200
#define BEHIND_SHARE 0.1	/* of the points; correct pairs have 0 */

static bool
is_pair(const struct check_facts *facts, const struct check_heads *heads)
{
	(void)heads;
	return facts->pair;
}

static bool
same_phase_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	(void)sample;
	return facts->pair->same && check_fire(line, facts->pair->path, "has the same phase as the "
	    "input in each pixel: is it the other camera's?");
}

const struct check check_same_phase = {
	.name = "same-phase", .rank = 1, .applies = is_pair, .judge = same_phase_judge
};

static bool
is_elsewhere(const struct alike_places *places)
{
	return places->shifted >= MIN_ALIKE_PLACES && 2 * places->level < places->shifted;
}

/* Where rows are wrong, fewer places look alike at any shift along the rows, and vice versa: if
 * both directions seem wrong, the one with more places is. */
static bool
textures_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	const struct alike_places *rows = &facts->pair->rows, *columns = &facts->pair->columns;

	(void)sample;
	if (is_elsewhere(columns) && columns->shifted > rows->shifted)
		return check_fire(line, facts->pair->path, "the textures of points that match look "
		    "alike in other columns (at %zu of %zu places): are the phases of one "
		    "measurement, and decoded alike (--phase-origin, --period, marker)?",
		    columns->shifted - columns->level, columns->shifted);
	return is_elsewhere(rows) && check_fire(line, facts->pair->path, "the textures of points "
	    "that match look alike in other rows (at %zu of %zu places): are both frames "
	    "rectified, each as its own --side, by this rig's calibration?",
	    rows->shifted - rows->level, rows->shifted);
}

const struct check check_textures = {
	.name = "textures", .rank = 1, .applies = is_pair, .judge = textures_judge
};

static bool
behind_cameras_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	const struct matched_pair *pair = facts->pair;
	double points = (double)pair->points, behind = (double)pair->behind;

	(void)sample;
	return points >= MIN_PAIR_POINTS && behind > BEHIND_SHARE * points && check_fire(line,
	    pair->path, "%.0f %% of the points lie behind the cameras: are left and right "
	    "exchanged, is the sign of T right, are the phases of both of one measurement, and do "
	    "crops say where they lie?", 100 * behind / points);
}

const struct check check_behind_cameras = {
	.name = "behind-cameras", .rank = 1, .applies = is_pair, .judge = behind_cameras_judge
};
