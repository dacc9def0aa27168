/*
 * Checks of where points lie.
 *
 * `calibration`: is the frame one of this calibration? `coordinates`: do phases lie on the
 * projector, and points in front of both devices? `turned`: is the surface seen at an angle at
 * which hardly a fringe would be visible? `epipolar`: does the phase of the other axis agree?
 * `reference-plane`: does the phase rise as that of the plane does? `same-phase`, `textures` and
 * `behind-cameras`: do the matches of two cameras show one scene, in front of them?
 */
#include "checks/checks.h"

#include <math.h>

#include "base/linear.h"
#include "base/process.h"
#include "image/statistics.h"
#include "optics/calib.h"

bool
check_has_points(const struct check_facts *facts, const struct check_heads *heads)
{
	return facts->calibration && heads->out->c >= 3;
}

void
check_point_channels(const struct check_facts *, const struct check_heads *, bool *, bool *out)
{
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

/* A point of the world, at a distance along the axis of the camera; xy: its ray there. */
static void
to_world(const struct pinhole *camera, const double xy[2], double distance, double X[3])
{
	pinhole_to_world(camera, (const double[3]){ distance * xy[0], distance * xy[1], distance },
	    X);
}

/* A camera's ray of a pixel of the frame; false beyond the fold of its lens. */
static bool
ray_of(const struct check_facts *facts, const struct pinhole *camera, double column, double row,
    double xy[2])
{
	double uv[2] = { facts->origin_px[0] + (column + 0.5) * facts->bin[0] - 0.5,
		facts->origin_px[1] + (row + 0.5) * facts->bin[1] - 0.5 };

	return pinhole_undistort(camera, uv, xy);
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
			pinhole_from_world(&facts->calibration->camera, X, own);
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

const struct check check_calibration = {
	.name = "calibration", .rank = 1, .looks = CHECK_OUTPUT | CHECK_FIRST,
	.explains = CHECK_NAMES("coordinates", "turned", "epipolar", "rig-fault"),
	.applies = check_has_points, .channels = check_point_channels, .judge = calibration_judge
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
	pinhole_from_world(&calib->camera, world, projector);
	for (size_t i = 0; i < 3; i++)
		light[i] = (i < 2 ? mean[i] : 1) / plane[2] - projector[i];
	*projector_deg = angle_deg(normal, light);
	return true;
}

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

	if (!ray_of(facts, &calib->camera, column, row, xy))
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

/* Where a ray of the camera is lit by a coded coordinate of the projector: the distance along the
 * camera's axis. Not positive, or NaN, behind either device. The projector's lens, which moves the
 * coordinate by some pixels, is left out. */
static double
meet(const struct calib *calib, bool along_y, double code, const double xy[2])
{
	const struct pinhole *projector = &calib->projector;
	const double *K = projector->K;
	double near[3], far[3], at[2][3], code_a, code_b, s;
	double focal_px = K[along_y ? 4 : 0], skew_px = along_y ? 0 : K[1];
	double center_px = K[along_y ? 5 : 2];

	to_world(&calib->camera, xy, 0, near);
	to_world(&calib->camera, xy, 1, far);
	pinhole_from_world(projector, near, at[0]);
	pinhole_from_world(projector, far, at[1]);
	for (size_t k = 0; k < 3; k++)		/* on the ray: at[0] + s at[1] */
		at[1][k] -= at[0][k];
	code_a = focal_px * at[0][along_y] + skew_px * at[0][1] + center_px * at[0][2];
	code_b = focal_px * at[1][along_y] + skew_px * at[1][1] + center_px * at[1][2];
	s = (code_a - code * at[0][2]) / (code * at[1][2] - code_b);
	return at[0][2] + s * at[1][2] > 0 ? s : NAN;
}

/* Does the coded coordinate lie behind the camera or the projector on the ray of a pixel? */
static bool
is_behind(const struct check_facts *facts, double code, size_t column, size_t row)
{
	double xy[2];

	return ray_of(facts, &facts->calibration->camera, (double)column, (double)row, xy) &&
	    !(meet(facts->calibration, facts->along_y, code, xy) > 0);
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

/*
 * ---- the period with which the points would be right ----
 *
 * Which periods put all points in front of both devices, in the projector's picture, on a surface
 * that is not turned away? A wrong pose has none of these in most cases, a right one a range.
 */

#define TRIED_PIXELS 400	/* about */
#define TRIED_PERIODS 400	/* evenly in their logarithm, */
#define TRIED_TIMES 4.0		/* from a quarter of the period to four times as much */
#define FRONT_SHARE 0.98	/* of the points */
#define PERIOD_TEXT 160

/* Rays of the camera, and the phase on them in turns. */
struct tried_pixel {
	double xy[2], turns;
};

/* Is this period possible? */
static bool
fits_period(const struct coordinates *c, const struct tried_pixel *pixel, size_t n,
    double period_px)
{
	const struct check_facts *facts = c->facts;
	struct check_ray ray[CHECK_RAYS];
	double camera_deg, projector_deg;
	double margin = c->estimated ? ESTIMATED_MARGIN * c->size_px : EDGE_MARGIN_PX;
	size_t front = 0;

	for (size_t i = 0; i < n; i++) {
		double code = period_px * pixel[i].turns + facts->zero_px, s, X[3];

		s = meet(facts->calibration, facts->along_y, code, pixel[i].xy);
		to_world(&facts->calibration->camera, pixel[i].xy, s, X);
		if (s > 0 && code > -0.5 - EDGE_MARGIN_PX && !is_unlit(c, X) &&
		    code < c->size_px - 0.5 + margin)
			ray[front++] = (struct check_ray){ pixel[i].xy[0], pixel[i].xy[1], 1 / s };
	}
	return (double)front >= FRONT_SHARE * (double)n &&
	    find_inclination(ray, front, facts->calibration, &camera_deg, &projector_deg) &&
	    camera_deg < TURNED_DEG && projector_deg < TURNED_DEG;
}

static size_t
list_tried(const struct check_facts *facts, const struct check_sample *sample,
    struct tried_pixel pixel[CHECK_RAYS])
{
	struct check_grid grid = check_grid(&sample->out, TRIED_PIXELS);
	size_t phase = head_channel(&sample->in.frame.head, "absphase"), n = 0;

	for (size_t i = 0; i < grid.rows; i++)
		for (size_t x = check_grid_shift(&grid, i);
		    x < sample->out.frame.head.w && n < CHECK_RAYS; x += grid.step) {
			double v = (double)frame_floats(&sample->in.frame, phase, i)[x];

			pixel[n].turns = v / (2 * M_PI);
			n += !isnan(v) && ray_of(facts, &facts->calibration->camera, (double)x,
			    (double)sample->out.y[i], pixel[n].xy);
		}
	return n;
}

/* Names the periods that are possible where the given one is not; returns the text. */
static const char *
suggest_period(const struct coordinates *c, const struct check_sample *sample,
    char text[PERIOD_TEXT])
{
	double given_px = c->facts->period_px, from_px = NAN, to_px = NAN;
	struct tried_pixel pixel[CHECK_RAYS];
	size_t n = list_tried(c->facts, sample, pixel), ranges = 0;
	bool before = false;

	text[0] = '\0';
	if (n < MIN_INCLINED_POINTS || fits_period(c, pixel, n, given_px))
		return text;
	for (size_t i = 0; i <= TRIED_PERIODS; i++) {
		double px = given_px * pow(TRIED_TIMES, 2.0 * (double)i / TRIED_PERIODS - 1);
		bool now = fits_period(c, pixel, n, px);

		ranges += now && !before;
		from_px = now && !before ? px : from_px;
		to_px = now ? px : to_px;
		before = now;
	}
	if (ranges == 1)
		snprintf(text, PERIOD_TEXT, " With --period from %.3g to %.3g px the points would "
		    "lie in front of both and face them.", from_px, to_px);
	return text;
}

static bool
fire_coordinates(const struct coordinates *c, const struct check_sample *sample,
    struct check_line *line)
{
	const char *lines = c->facts->along_y ? "rows" : "columns";
	const char *some = c->estimated ? "some " : "";
	char period[PERIOD_TEXT];

	if (c->falling > MIRRORED_SHARE * (c->rising + c->falling) && c->falling > MIN_PHASES)
		return check_fire(line, "absphase", "falls from pixel to pixel (%.0f %%) where "
		    "this calibration has the projector's %s rise: is phasewrap --sign right, or "
		    "an image mirrored?", 100 * c->falling / (c->rising + c->falling), lines);
	if (c->outside > OUTSIDE_SHARE * c->phases)
		return check_fire(line, "absphase", "%.0f %% of the pixels lie outside the "
		    "projector's %s%.4g %s: are --period, --centered, and phasewrap --phase-origin "
		    "right?%s", 100 * c->outside / c->phases, some, c->size_px, lines,
		    suggest_period(c, sample, period));
	if (c->behind > LOST_SHARE * c->phases)
		return check_fire(line, "x y z", "%.0f %% of the pixels with a phase have their "
		    "point behind the camera or the projector: are --origin, --period, --axis and "
		    "--calib right?%s", 100 * c->behind / c->phases,
		    suggest_period(c, sample, period));
	if (!c->facts->depth_limited && c->lost > LOST_SHARE * c->phases && c->lost < c->phases)
		return check_fire(line, "x y z", "%.0f %% of the pixels with a phase have no point "
		    "in front of camera and projector: are --origin, --period, --axis and --calib "
		    "right?%s", 100 * c->lost / c->phases,
		    suggest_period(c, sample, period));
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
	return !line->undecided && fire_coordinates(&c, sample, line);
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

const struct check check_coordinates = {
	.name = "coordinates", .rank = 1, .looks = CHECK_INPUT | CHECK_OUTPUT | CHECK_FIRST,
	.explains = CHECK_NAMES("turned", "epipolar"), .applies = has_phase,
	.channels = coordinates_channels, .judge = coordinates_judge
};

/* ---- is the surface turned away? ---- */

static bool
turned_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	struct coordinates c = { .facts = facts };
	struct check_ray ray[CHECK_RAYS];
	size_t n = check_rays(facts, sample, ray);
	double camera_deg, projector_deg;
	char period[PERIOD_TEXT];

	find_size(&c);
	line->undecided = n < MIN_INCLINED_POINTS;
	if (line->undecided ||
	    !find_inclination(ray, n, facts->calibration, &camera_deg, &projector_deg) ||
	    (camera_deg < TURNED_DEG && projector_deg < TURNED_DEG))
		return false;
	return check_fire(line, "x y z", "the surface as a whole is turned away by %.0f degrees "
	    "from the camera and by %.0f from the projector: are --period and --origin right, and "
	    "the matrices, R and T of --calib?%s", camera_deg, projector_deg,
	    suggest_period(&c, sample, period));
}

const struct check check_turned = {
	.name = "turned", .rank = 1, .looks = CHECK_INPUT | CHECK_OUTPUT | CHECK_FIRST,
	.explains = CHECK_NAMES("epipolar"), .applies = has_phase,
	.channels = coordinates_channels, .judge = turned_judge
};

/*
 * ---- epipolar lines ----
 *
 * Does the phase of the other axis (phase2depth --across) put points on the projector where the
 * calibration does? A phase of one axis has a point for every pixel, whatever is wrong; with both,
 * a pixel's place on the projector must lie on its epipolar line.
 */

#define EPIPOLAR_PIXELS 4096	/* of the grid, about, in the first frame; */
#define LATER_PIXELS 512	/* in later ones: they show a knocked rig, but not the cause */
#define MIN_EPIPOLAR_PAIRS 200	/* of neighbours, from which on they tell something */
#define DISTANCE_PX 2.0		/* half of the pixels: in right rigs 0.05 to 0.5; or */
#define CAMERA_PX 1.0		/* as large as so many pixels of the camera are there */
#define NOISE_TIMES 3.0		/* that of neighbours: phases without light are noise alone */
#define FARTHER 1.001		/* along the camera's ray, for the direction of the line */
#define STRAY_SHARE 0.05	/* of the pixels: wrong orders, which the rms leaves out */

/* A pixel with both phases. */
struct epipolar_pixel {
	double distance_px;	/* of its place on the projector from its epipolar line */
	double normal[2];	/* of the line; along the coded axis, then along the other one */
	double place_px[2];
};

/* Those of one frame. */
struct epipolar {
	const struct check_facts *facts;
	double px_per_rad;		/* place on the projector by the other phase */
	size_t n;
	struct epipolar_pixel *pixel;	/* those that have a distance; owned */
	size_t *column, *row;		/* of the frame; owned */
	double *value;			/* room for n numbers; owned */
	double rms_px, noise_px;	/* distances without strays; of neighbours */
};

/* Where the ray of the camera is seen that goes through a point: its epipolar line is the line
 * through the pictures of this point and a farther one. False: NaN, or behind the projector. */
static bool
find_line(const struct calib *calib, bool along_y, const double point[3],
    struct epipolar_pixel *pixel, double code_px)
{
	double center[3], farther[3], uv[2], on[2], along[2], length;

	pinhole_center(&calib->camera, center);
	for (size_t k = 0; k < 3; k++)
		farther[k] = center[k] + FARTHER * (point[k] - center[k]);
	if (!isfinite(point[0] + point[1] + point[2]) ||
	    !pinhole_project(&calib->projector, point, uv) ||
	    !pinhole_project(&calib->projector, farther, on))
		return false;
	along[0] = on[along_y] - uv[along_y];
	along[1] = on[!along_y] - uv[!along_y];
	length = copysign(hypot(along[0], along[1]), along[0]);
	pixel->normal[0] = -along[1] / length;
	pixel->normal[1] = along[0] / length;
	pixel->place_px[0] = isnan(code_px) ? uv[along_y] : code_px;
	pixel->distance_px = pixel->normal[0] * (pixel->place_px[0] - uv[along_y]) +
	    pixel->normal[1] * (pixel->place_px[1] - uv[!along_y]);
	return !isnan(pixel->distance_px);
}

/* Of column x of sampled row i. The point's picture has the coordinate that its own phase gives. */
static bool
find_pixel(const struct epipolar *check, const struct check_sample *sample, const float *phase,
    size_t i, size_t x, struct epipolar_pixel *pixel)
{
	double point[3];

	point_at(sample, i, x, point);
	pixel->place_px[1] = check->px_per_rad * (double)phase[x] + check->facts->across_zero_px;
	return find_line(check->facts->calibration, check->facts->along_y, point, pixel, NAN);
}

/* The root mean square of the numbers, without strays. Changes them, and their order. */
static double
find_rms(double *value, size_t n)
{
	size_t strays = (size_t)(STRAY_SHARE * (double)n), taken = 0;
	double limit, sum = 0;

	for (size_t i = 0; i < n; i++)
		value[i] = fabs(value[i]);
	limit = statistics_ranked(value, n, n - 1 - strays);
	for (size_t i = 0; i < n; i++) {
		if (value[i] > limit)
			continue;
		sum += value[i] * value[i];
		taken++;
	}
	return sqrt(sum / (double)taken);
}

/* Distances of the pixels of a grid, and how much those of right neighbours differ. False: too few
 * pixels have both phases. */
static bool
measure_epipolar(struct epipolar *check, const struct check_facts *facts,
    const struct check_sample *sample)
{
	const struct check_rows *across = check_second(sample, "across");
	struct check_grid grid = check_grid(&sample->out,
	    sample->number ? LATER_PIXELS : EPIPOLAR_PIXELS);
	size_t last = sample->out.frame.head.w - 1, pairs = 0, most = grid.columns * grid.rows;
	size_t channel = check_phase_channel(facts, &across->frame.head);
	double period_px;

	*check = (struct epipolar){ .facts = facts,
		.pixel = must_alloc(most, sizeof(*check->pixel)),
		.column = must_alloc(most, sizeof(*check->column)),
		.row = must_alloc(most, sizeof(*check->row)),
		.value = must_alloc(most, sizeof(*check->value)) };
	if (meta_number(&across->frame.head.meta, "period_px", NAN, &period_px) < 0)
		return false;
	check->px_per_rad = period_px / (2 * M_PI);
	for (size_t i = 0; i < grid.rows; i++) {
		const float *phase = frame_floats(&across->frame, channel, i);

		for (size_t column = 0; column < grid.columns; column++) {
			struct epipolar_pixel *pixel = &check->pixel[check->n], next;
			size_t x = column * grid.step + check_grid_shift(&grid, i);

			x = x < last ? x : last;
			if (!find_pixel(check, sample, phase, i, x, pixel))
				continue;
			if (x < last && find_pixel(check, sample, phase, i, x + 1, &next))
				check->value[pairs++] = fabs(next.distance_px - pixel->distance_px);
			check->column[check->n] = x;
			check->row[check->n++] = sample->out.y[i];
		}
	}
	if (pairs < MIN_EPIPOLAR_PAIRS)
		return false;
	check->noise_px = statistics_ranked(check->value, pairs, pairs / 2) / M_SQRT2;
	for (size_t i = 0; i < check->n; i++)
		check->value[i] = check->pixel[i].distance_px;
	check->rms_px = find_rms(check->value, check->n);
	return true;
}

static bool
judge_epipolar(const struct epipolar *check, struct check_line *line)
{
	const struct calib *calib = check->facts->calibration;
	double limit_px = fmax(DISTANCE_PX, CAMERA_PX * fabs(calib->projector.K[0] /
	    calib->camera.K[0]));
	double half, middle, *value = check->value;
	size_t n = check->n;

	for (size_t i = 0; i < n; i++)
		value[i] = check->pixel[i].distance_px;
	middle = statistics_ranked(value, n, n / 2);
	for (size_t i = 0; i < n; i++)
		value[i] = fabs(value[i]);
	half = statistics_ranked(value, n, n / 2);
	if (half > limit_px && half > NOISE_TIMES * check->noise_px)
		return check_fire(line, "--across", "puts the pixels %.3g px (rms) off their "
		    "epipolar lines on the projector (median %.3g px, noise between neighbours "
		    "%.3g px): do calibration and capture belong together (--calib, "
		    "--origin, --period), and both phases (phasewrap --sign, --phase-origin)?",
		    check->rms_px, middle, check->noise_px);
	if (line->notes)
		note("--across", "puts the pixels %.3g px (rms) off their epipolar lines on the "
		    "projector (median %.3g px, noise between neighbours %.3g px)", check->rms_px,
		    middle, check->noise_px);
	return false;
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

/*
 * ---- the cause, where the distances from epipolar lines show it ----
 *
 * n is the normal of a pixel's epipolar line, p its place on the projector by both phases, c the
 * projector's principal point, d = n (p - line) its distance. One fault alone makes d = k g:
 *
 *	the period of both phases is 1/(1 - k) times the true one	g = n p
 *	that of the other phase					g = the part of n p along its axis
 *	a focal length: the projector's is 1 - k times the true one	g = n (p - c)
 *
 * because phases and focal lengths scale places about the first pixel and about c. A shift of the
 * places (a phase origin, a principal point), a turn of the devices about the line of sight and a
 * lens (its first radial term) are fitted, too, but not named: where one of them does as well,
 * nothing is. Captures of another camera of the calibration lie on that camera's epipolar lines.
 */

/* The rms, its noise taken out: 1.33 times noise_px, the median of normal errors, is their rms
 * without strays. */
#define NOISE_RMS 1.33
#define NOISE_FLOOR 0.3		/* times noise_px, which is not known better */
#define MIN_CAUSE_PX 0.3	/* right rigs have 0.05 to 0.2 */
#define MIN_CAUSE 0.002		/* k */
#define CAUSE_EXPLAINED 4.0	/* times smaller is the rms without the cause, */
#define MAX_CAUSE_REST_PX 0.5	/* and at most so large; right rigs have less */
#define CAUSE_RIVAL 2.0		/* and that without another one larger */
#define CAUSE_ROUNDS 3		/* of least squares, each without the strays of the previous one */
#define OTHER_CAMERA_PX 3.0	/* rms by the calibration's camera, */
#define OTHER_CAMERA_TIMES 5.0	/* and how much smaller by the other one */
#define OTHER_CAMERA_SHARE 0.9	/* of the pixels have an epipolar line by that */

enum cause { CAUSE_PERIOD, CAUSE_OTHER_PERIOD, CAUSE_FOCAL, CAUSE_SHIFT,
	CAUSE_TURN, CAUSE_LENS, CAUSES };

static double
cause_slope(const struct epipolar *check, enum cause cause, const struct epipolar_pixel *pixel)
{
	const double *K = check->facts->calibration->projector.K, *n = pixel->normal;
	const double *p = pixel->place_px, c[2] = { K[check->facts->along_y ? 5 : 2],
		K[check->facts->along_y ? 2 : 5] };
	double from_center = n[0] * (p[0] - c[0]) + n[1] * (p[1] - c[1]);

	switch (cause) {
	case CAUSE_PERIOD:
		return n[0] * p[0] + n[1] * p[1];
	case CAUSE_OTHER_PERIOD:
		return n[1] * p[1];
	case CAUSE_FOCAL:
		return from_center;
	case CAUSE_SHIFT:
		return n[1];
	case CAUSE_TURN:
		return n[1] * (p[0] - c[0]) - n[0] * (p[1] - c[1]);
	default:
		return from_center * (pow(p[0] - c[0], 2) + pow(p[1] - c[1], 2)) / (K[0] * K[0]);
	}
}

static double
without_noise(const struct epipolar *check, double rms_px)
{
	double noise_px = check->noise_px;

	return sqrt(fmax(rms_px * rms_px - pow(NOISE_RMS * noise_px, 2),
	    pow(NOISE_FLOOR * noise_px, 2)));
}

/* Finds k; returns the rms of the distances without the cause, and without noise. */
static double
fit_cause(const struct epipolar *check, enum cause cause, double *k)
{
	double *value = check->value;
	size_t n = check->n, strays = (size_t)(STRAY_SHARE * (double)n);

	*k = 0;
	for (size_t round = 0; round <= CAUSE_ROUNDS; round++) {
		double gg = 0, gd = 0, limit;

		for (size_t i = 0; i < n; i++)
			value[i] = fabs(check->pixel[i].distance_px -
			    *k * cause_slope(check, cause, &check->pixel[i]));
		if (round == CAUSE_ROUNDS)
			break;
		limit = statistics_ranked(value, n, n - 1 - strays);
		for (size_t i = 0; i < n; i++) {
			double g = cause_slope(check, cause, &check->pixel[i]);
			double d = check->pixel[i].distance_px;

			if (fabs(d - *k * g) > limit)
				continue;
			gg += g * g;
			gd += g * d;
		}
		*k = gd / gg;
	}
	return without_noise(check, find_rms(value, n));
}

/* The rms by another camera of the calibration; INFINITY: too few pixels have a line by it. */
static double
other_camera_rms(const struct epipolar *check, const struct calib *calib)
{
	const struct check_facts *facts = check->facts;
	size_t n = 0;

	for (size_t i = 0; i < check->n; i++) {
		struct epipolar_pixel pixel = check->pixel[i];
		double xy[2], X[3], s;

		if (!ray_of(facts, &calib->camera, (double)check->column[i],
		    (double)check->row[i], xy))
			continue;
		s = meet(calib, facts->along_y, pixel.place_px[0], xy);
		to_world(&calib->camera, xy, s, X);
		if (s > 0 && find_line(calib, facts->along_y, X, &pixel, pixel.place_px[0]))
			check->value[n++] = pixel.distance_px;
	}
	return (double)n < OTHER_CAMERA_SHARE * (double)check->n ? INFINITY :
	    find_rms(check->value, n);
}

/* The causes that fit, as bits; k and rms: of each. */
static unsigned
find_causes(const struct epipolar *check, double k[CAUSES])
{
	double rms[CAUSES], least = INFINITY;
	unsigned fitting = 0;

	for (size_t i = 0; i < CAUSES; i++) {
		rms[i] = fit_cause(check, (enum cause)i, &k[i]);
		least = fmin(least, rms[i]);
	}
	if (CAUSE_EXPLAINED * least > without_noise(check, check->rms_px) ||
	    least > MAX_CAUSE_REST_PX)
		return 0;
	for (size_t i = 0; i < CAUSES; i++)
		if (rms[i] < CAUSE_RIVAL * least)
			fitting |= 1U << i;
	for (size_t i = 0; i < CAUSES; i++)
		if (fitting & 1U << i && fabs(k[i]) < MIN_CAUSE && i < CAUSE_SHIFT)
			fitting = 0;
	return fitting >> CAUSE_SHIFT ? 0 : fitting;
}

static bool
fire_cause(const struct epipolar *check, unsigned fitting, const double k[CAUSES],
    struct check_line *line)
{
	const struct calib *calib = check->facts->calibration;
	double own_px = check->facts->period_px, other_px = check->px_per_rad * 2 * M_PI;
	char period[160] = "", focal[200] = "";
	bool same = fabs(own_px / other_px - 1) < SAME_PERIOD;

	if (fitting & 1U << CAUSE_PERIOD && same)
		snprintf(period, sizeof(period), "the fringe period is %.4g px, not %.4g "
		    "(--period, here and in phasewrap)", own_px * (1 - k[CAUSE_PERIOD]), own_px);
	else if (fitting & 1U << CAUSE_OTHER_PERIOD)
		snprintf(period, sizeof(period), "the fringe period of the phase of --across is "
		    "%.4g px, not %.4g", other_px * (1 - k[CAUSE_OTHER_PERIOD]), other_px);
	else if (fitting & 1U << CAUSE_PERIOD)
		snprintf(period, sizeof(period), "the fringe periods of both phases are %.4g "
		    "times as large (phasewrap --period)", 1 - k[CAUSE_PERIOD]);
	if (fitting & 1U << CAUSE_FOCAL)
		snprintf(focal, sizeof(focal), "a focal length of --calib is wrong by %.2g %%: "
		    "the projector's would be %.5g px instead of %.5g, or the camera's %.5g "
		    "instead of %.5g", 100 * fabs(k[CAUSE_FOCAL]), calib->projector.K[0] /
		    (1 - k[CAUSE_FOCAL]), calib->projector.K[0], calib->camera.K[0] *
		    (1 - k[CAUSE_FOCAL]), calib->camera.K[0]);
	return check_fire(line, "--across", "puts the pixels %.3g px (rms) off their epipolar "
	    "lines on the projector, as where %s%s%s", check->rms_px, period,
	    period[0] && focal[0] ? ", or " : "", focal);
}

static bool
judge_cause(const struct epipolar *check, struct check_line *line)
{
	const struct check_facts *facts = check->facts;
	double k[CAUSES];
	unsigned fitting;

	for (size_t i = 0; i < facts->other_cameras && check->rms_px > OTHER_CAMERA_PX; i++)
		if (OTHER_CAMERA_TIMES * other_camera_rms(check, &facts->other_camera[i].calib) <
		    check->rms_px)
			return check_fire(line, "--across", "puts the pixels %.3g px (rms) off "
			    "their epipolar lines on the projector, and %.3g px by camera %s of "
			    "the calibration: are the cameras swapped (--camera)?", check->rms_px,
			    other_camera_rms(check, &facts->other_camera[i].calib),
			    facts->other_camera[i].name);
	if (without_noise(check, check->rms_px) < MIN_CAUSE_PX)
		return false;
	fitting = find_causes(check, k);
	return fitting && fire_cause(check, fitting, k, line);
}

/* Lets `judge` see the distances of this frame, if enough pixels have one. */
static bool
judge_distances(const struct check_facts *facts, const struct check_sample *sample,
    bool (*judge)(const struct epipolar *, struct check_line *), struct check_line *line)
{
	struct epipolar check;
	bool fires;

	line->undecided = !measure_epipolar(&check, facts, sample);
	fires = !line->undecided && judge(&check, line);
	free_all(check.pixel, check.column, check.row, check.value);
	return fires;
}

/* Looks at every frame: a rig may be knocked during a run. */
static bool
epipolar_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	return judge_distances(facts, sample, judge_epipolar, line);
}

const struct check check_epipolar = {
	.name = "epipolar", .rank = 1, .looks = CHECK_OUTPUT | CHECK_SECOND,
	.applies = epipolar_applies, .channels = check_point_channels, .judge = epipolar_judge
};

static bool
rig_fault_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	return judge_distances(facts, sample, judge_cause, line);
}

/* Points may lie outside the projector, or seem turned away, because of the same fault. */
const struct check check_rig_fault = {
	.name = "rig-fault", .rank = 1, .looks = CHECK_OUTPUT | CHECK_SECOND | CHECK_FIRST,
	.explains = CHECK_NAMES("coordinates", "turned", "epipolar"), .applies = epipolar_applies,
	.channels = check_point_channels, .judge = rig_fault_judge
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
		return check_fire(line, "absphase", "and the reference rise in directions that are "
		    "%.0f degrees apart: are both of the same axis, sign and camera?",
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
	double *rises = must_alloc(grid.columns * grid.rows, sizeof(*rises)), phase[2], plane[2];

	for (size_t k = 0; k < 2; k++) {
		phase[k] = find_rise(rows, check_phase_channel(facts, &rows->frame.head), k, rises);
		plane[k] = facts->plane_rad_per_px[k];
		if (isnan(plane[k]) && ref_channel != NO_CHANNEL)
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

const struct check check_reference_plane = {
	.name = "reference-plane", .rank = 1, .looks = CHECK_INPUT | CHECK_SECOND | CHECK_FIRST,
	.applies = reference_plane_applies, .channels = check_phase_input,
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
same_phase_judge(const struct check_facts *facts, const struct check_sample *,
    struct check_line *line)
{
	return facts->pair->same && check_fire(line, facts->pair->path, "has the same phase as the "
	    "input in each pixel: is it the other camera's?");
}

const struct check check_same_phase = {
	.name = "same-phase", .rank = 1, .judge = same_phase_judge
};

static bool
is_elsewhere(const struct alike_places *places)
{
	return places->shifted >= MIN_ALIKE_PLACES && 2 * places->level < places->shifted;
}

/* The shift in pixels that so much of the places have at most. */
static int
shift_quantile(const struct alike_places *places, double share)
{
	size_t sum = 0;
	int i = 0;

	while (i < 2 * ALIKE_REACH && (double)(sum += places->at[i]) < share *
	    (double)places->shifted)
		i++;
	return i - ALIKE_REACH;
}

#define UNEVEN_PX 3	/* between a tenth and nine tenths of the places: no one crop mends it */

/* Writes by how much rows or columns differ: text[80]. */
static const char *
describe_shift(const struct alike_places *places, const char *what, char *text)
{
	int low = shift_quantile(places, 0.1), high = shift_quantile(places, 0.9);

	if (high - low > UNEVEN_PX)
		snprintf(text, 80, "%s differ by %d to %d over the picture", what, low, high);
	else
		snprintf(text, 80, "%s differ by %d", what, shift_quantile(places, 0.5));
	return text;
}

/* Where rows are wrong, fewer places look alike at any shift along the rows, and vice versa: if
 * both directions seem wrong, the one with more places is. */
static bool
textures_judge(const struct check_facts *facts, const struct check_sample *,
    struct check_line *line)
{
	const struct alike_places *rows = &facts->pair->rows, *columns = &facts->pair->columns;
	char text[80];

	if (is_elsewhere(columns) && columns->shifted > rows->shifted)
		return check_fire(line, facts->pair->path, "the textures of points that match look "
		    "alike in other columns (at %zu of %zu places; %s): are the phases of one "
		    "measurement, and decoded alike (--phase-origin, --period, marker)?",
		    columns->shifted - columns->level, columns->shifted,
		    describe_shift(columns, "columns", text));
	return is_elsewhere(rows) && check_fire(line, facts->pair->path, "the textures of points "
	    "that match look alike in other rows (at %zu of %zu places; %s): rectify both frames, "
	    "each as its own --side, by this rig's calibration; crops must begin at the same row",
	    rows->shifted - rows->level, rows->shifted, describe_shift(rows, "rows", text));
}

const struct check check_textures = {
	.name = "textures", .rank = 1, .judge = textures_judge
};

static bool
behind_cameras_judge(const struct check_facts *facts, const struct check_sample *,
    struct check_line *line)
{
	const struct matched_pair *pair = facts->pair;
	double points = (double)pair->points, behind = (double)pair->behind;

	return points >= MIN_PAIR_POINTS && behind > BEHIND_SHARE * points && check_fire(line,
	    pair->path, "%.0f %% of the points lie behind the cameras: are left and right "
	    "exchanged, is the sign of T right, are the phases of both of one measurement, and do "
	    "crops say where they lie?", 100 * behind / points);
}

const struct check check_behind_cameras = {
	.name = "behind-cameras", .rank = 1, .judge = behind_cameras_judge
};

/* ---- points far off a fitted shape ---- */

#define OUTLIER_SCATTERS 12	/* normal residuals of 10^9 points reach 6 */
#define OUTLIER_ROUNDINGS 4	/* of the coordinates */
/* Wrong points on one side, of which none is far off: a robust fit differs by so many scatters, and
 * leaves out so large a share. Without wrong points fits differ by up to 0.2 scatters where noise
 * has long tails, by 0.26 where it is skew; a tenth of the points, off by 6 scatters, 0.5. */
#define OUTLIER_MOVE 0.3
#define OUTLIER_SHARE 0.03
#define OUTLIER_MOST 0.45	/* where nearly half are left out, the points have no such shape */
#define OUTLIER_POINTS 200	/* of fewer, noise moves fits */

static bool
outliers_judge(const struct check_facts *facts, const struct check_sample *,
    struct check_line *line)
{
	const struct fitted_residuals *of = facts->residuals;

	if (of->points && of->largest > OUTLIER_SCATTERS * of->scatter &&
	    of->largest > OUTLIER_ROUNDINGS * of->rounding)
		return check_fire(line, NULL, "%zu of %zu points are more than %d times as far "
		    "from the shape as the usual scatter of %.3g %s, one of them %.3g %s, and bias "
		    "the fit: --robust leaves them out", of->far, of->points, FAR_RESIDUAL,
		    of->scatter, of->unit, of->distance, of->unit);
	return of->points >= OUTLIER_POINTS && of->moved > OUTLIER_MOVE &&
	    of->left_out > OUTLIER_SHARE && of->left_out < OUTLIER_MOST &&
	    of->moved_by > OUTLIER_ROUNDINGS * of->rounding &&
	    check_fire(line, NULL, "about %.0f %% of the points are off the shape that fits the "
	    "others, and move the fit by %.3g %s: --robust leaves them out",
	    100 * of->left_out, of->moved_by, of->unit);
}

const struct check check_outliers = {
	.name = "outliers", .rank = 2, .looks = CHECK_RESULTS, .judge = outliers_judge
};

/* ---- points of a surface ---- */

/* Noise and rough single views turn 0.07 of the places, a second view 30 degrees aside 0.06 to 0.2,
 * views all around 0.4 and more. */
#define TURNED_SHARE 0.1
#define AGAINST_SHARE 0.03	/* rough single views have up to 0.02, two sheets 0.25 */
#define SHEETS_SHARE 0.05	/* noise alone 0.002, if it is uniform 0.018, steep stairs 0.03 */
#define SPARSE_SHARE 0.1	/* views of steep surfaces have 0.045; half a ball, torn, 0.15 up */

static bool
inside_out_judge(const struct check_facts *facts, const struct check_sample *,
    struct check_line *line)
{
	const struct surface_points *of = facts->surface;

	return of->turned > TURNED_SHARE && check_fire(line, of->seen_from,
	    "%.0f %% of the surface is inside out: the points were seen from other places, too; "
	    "make normals view by view (normals), then merge", 100 * of->turned);
}

/* Between two sheets that face the same way the distance changes its sign, too. */
static bool
against_judge(const struct check_facts *facts, const struct check_sample *, struct check_line *line)
{
	const struct surface_points *of = facts->surface;

	return of->against > AGAINST_SHARE && check_fire(line, "nx", "%.0f %% of the triangles "
	    "look against the normals of their points: views are not aligned, normals are wrong, "
	    "or cells of %.4g too small (--cell)", 100 * of->against, of->cell);
}

static bool
sheets_judge(const struct check_facts *facts, const struct check_sample *, struct check_line *line)
{
	const struct surface_points *of = facts->surface;

	return of->two_sheets > SHEETS_SHARE && check_fire(line, NULL, "at %.0f %% of the places "
	    "the points lie in two sheets less than 2.5 cells of %.4g apart, which become one: "
	    "views are not aligned (mergexyz --icp), or cells are too large (--cell)",
	    100 * of->two_sheets, of->cell);
}

static bool
sparse_judge(const struct check_facts *facts, const struct check_sample *, struct check_line *line)
{
	const struct surface_points *of = facts->surface;

	return of->sparse > SPARSE_SHARE && check_fire(line, "--cell", "at %.0f %% of the places "
	    "the points are too far apart for cells of %.4g: the surface falls to pieces there, "
	    "larger cells join them", 100 * of->sparse, of->cell);
}

static bool
inwards_judge(const struct check_facts *facts, const struct check_sample *, struct check_line *line)
{
	return facts->surface->inwards && check_fire(line, "nx", "the surface is closed, and its "
	    "normals look inwards");
}

const struct check check_inside_out = {
	.name = "inside-out", .rank = 1, .looks = CHECK_RESULTS,
	.explains = CHECK_NAMES("against", "sheets", "inwards"), .judge = inside_out_judge
};

const struct check check_against = {
	.name = "against", .rank = 1, .looks = CHECK_RESULTS,
	.explains = CHECK_NAMES("sheets", "inwards"), .judge = against_judge
};

const struct check check_sheets = {
	.name = "sheets", .rank = 2, .looks = CHECK_RESULTS, .judge = sheets_judge
};

const struct check check_sparse = {
	.name = "sparse", .rank = 2, .looks = CHECK_RESULTS, .judge = sparse_judge
};

const struct check check_inwards = {
	.name = "inwards", .rank = 1, .looks = CHECK_RESULTS, .judge = inwards_judge
};
