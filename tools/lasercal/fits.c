/*
 * The fits of lasercal: the laser's plane through points of many views, the stage's direction from
 * the boards' middles, its axis from their turns.
 */
#include "lasercal.h"

/* ---- the laser's plane ---- */

#define MIN_REWEIGHTINGS 3
#define MAX_REWEIGHTINGS 100

static void
add_moments(struct moments *sum, const struct moments *part, double sign)
{
	sum->w += sign * part->w;
	for (int i = 0; i < 3; i++)
		sum->x[i] += sign * part->x[i];
	for (int i = 0; i < 9; i++)
		sum->xx[i] += sign * part->xx[i];
}

/* Middle and plane of the moments, and the singular values unless NULL. */
static void
plane_of(const struct moments *sum, const double about[3], double plane[4], double middle[3],
    double singular[3])
{
	double a[9], value[3], vector[9], *n = vector + 6, sign;

	for (int i = 0; i < 9; i++)
		a[i] = sum->xx[i] - sum->x[i / 3] * sum->x[i % 3] / sum->w;
	symmetric_eigen(3, a, value, vector);
	sign = n[2] != 0 ? n[2] : n[1] != 0 ? n[1] : n[0];
	plane[3] = 0;
	for (int i = 0; i < 3; i++) {
		plane[i] = copysign(1, sign) * n[i];
		middle[i] = about[i] + sum->x[i] / sum->w;
		plane[3] -= plane[i] * middle[i];
		if (singular)
			singular[i] = sqrt(fmax(value[i], 0));
	}
}

static void
solve(const struct plane_fitting *fitting, struct plane_fit *fit, double middle[3])
{
	const double *about = fitting->point[0].X;
	struct moments all = { 0 };

	lasercal_rows()->sum_views(fitting);
	for (size_t i = 0; i < fitting->views; i++)
		add_moments(&all, &fitting->view[i], 1);
	plane_of(&all, about, fit->plane, middle, fit->singular);
}

/* Standard deviations, from how far the plane moves when a view is left out (jackknife). */
static void
leave_out(const struct plane_fitting *fitting, struct plane_fit *fit, const double middle[3])
{
	const double *about = fitting->point[0].X;
	struct moments all = { 0 };
	double angles = 0, distances = 0, used = 0, share;

	for (size_t i = 0; i < fitting->views; i++) {
		add_moments(&all, &fitting->view[i], 1);
		used += fitting->view[i].w > 0;
	}
	fit->sd_rad = fit->sd_mm = NAN;
	if (used < 3)
		return;
	for (size_t i = 0; i < fitting->views; i++) {
		struct moments rest = all;
		double plane[4], own[3], along = 0, off;

		if (!(fitting->view[i].w > 0))
			continue;
		add_moments(&rest, &fitting->view[i], -1);
		plane_of(&rest, about, plane, own, NULL);
		for (int k = 0; k < 3; k++)
			along += plane[k] * fit->plane[k];
		off = plane_distance(plane, middle);
		angles += fmax(0, 1 - along * along);
		distances += off * off;
	}
	share = (used - 1) / used;
	fit->sd_rad = asin(fmin(1, sqrt(share * angles)));
	fit->sd_mm = sqrt(share * distances);
}

static void
solve_plane(const struct plane_fitting *fitting, struct plane_fit *fit)
{
	double middle[3], start[4], moved = 1;

	for (size_t i = 0; i < fitting->n; i++)
		fitting->weight[i] = 1;
	fit->limit = INFINITY;
	if (fitting->method != PLANE_PLAIN && lasercal_rows()->search_plane(fitting, start)) {
		lasercal_rows()->weigh_points(fitting, start, false, &fit->limit);
		solve(fitting, fit, middle);
		for (int i = 0; i < MAX_REWEIGHTINGS && (i < MIN_REWEIGHTINGS || moved > 1e-12);
		     i++) {
			double last[4];

			memcpy(last, fit->plane, sizeof(last));
			lasercal_rows()->weigh_points(fitting, fit->plane,
			    fitting->method == PLANE_ROBUST, &fit->limit);
			solve(fitting, fit, middle);
			moved = 0;
			for (int k = 0; k < 3; k++)
				moved = fmax(moved, fabs(fit->plane[k] - last[k]));
		}
	} else
		solve(fitting, fit, middle);
	lasercal_rows()->count_used(fitting, fit);
	leave_out(fitting, fit, middle);
}

int
fit_plane(const struct plane_point *point, size_t n, size_t views, enum plane_method method,
    double limit, struct plane_fit *fit)
{
	struct plane_fitting fitting = { point, n, views, method, limit, NULL, NULL, NULL, NULL };

	if (n < 3)
		return fail(NULL, "%zu points of the laser's line: a plane needs 3", n);
	fitting.weight = must_alloc(n, sizeof(*fitting.weight));
	fitting.distance = must_alloc(n, sizeof(*fitting.distance));
	fitting.median = must_alloc(views, sizeof(*fitting.median));
	fitting.view = must_alloc(views, sizeof(*fitting.view));
	solve_plane(&fitting, fit);
	free_all(fitting.weight, fitting.distance, fitting.median, fitting.view);
	return 0;
}

/* ---- the stage's direction ---- */

int
fit_direction(const struct views *views, bool plain, struct direction_fit *fit, double *off)
{
	size_t n = views->n;
	double h = 0, hh = 0, X[3], mean[3] = { 0 }, turn[3];
	const struct view *first = views->view, *last = views->view + n - 1;

	if (n < 2)
		return fail(NULL, "%zu picture: a direction needs two and more along the travel",
		    n);
	for (size_t i = 0; i < n; i++) {
		h += views->view[i].stage / (double)n;
		views_middle(views, &views->view[i], X);
		for (int k = 0; k < 3; k++)
			mean[k] += X[k] / (double)n;
	}
	board_pose_turn(&last->board, &first->board, turn);
	*fit = (struct direction_fit){ .turn_rad = vector3_length(turn) };
	for (size_t i = 0; i < n; i++) {
		double d = views->view[i].stage - h;

		hh += d * d;
		views_middle(views, &views->view[i], X);
		for (int k = 0; k < 3; k++)
			fit->direction[k] += d * (X[k] - mean[k]);
	}
	if (!(hh > 0) || (plain && last->stage == first->stage))
		return fail(NULL, "the stage stood at %g mm in all pictures", first->stage);
	for (int k = 0; k < 3; k++)
		fit->direction[k] /= hh;
	if (plain) {
		double A[3];

		views_middle(views, first, A);
		views_middle(views, last, X);
		for (int k = 0; k < 3; k++)
			fit->direction[k] = (X[k] - A[k]) / (last->stage - first->stage);
	}
	for (size_t i = 0; i < n; i++) {
		views_middle(views, &views->view[i], X);
		for (int k = 0; k < 3; k++) {
			double r = X[k] - mean[k] - (views->view[i].stage - h) * fit->direction[k];

			off[3 * i + (size_t)k] = r;
			fit->rms[k] += r * r / (double)n;
		}
	}
	for (int k = 0; k < 3; k++) {
		double variance = n > 2 ? fit->rms[k] * (double)n / (double)(n - 2) : NAN;
		double reach = last->stage - first->stage;

		fit->sd[k] = sqrt(variance) * (plain ? sqrt(2) / fabs(reach) : 1 / sqrt(hh));
		fit->rms[k] = sqrt(fit->rms[k]);
	}
	return 0;
}

/* ---- the stage's axis, in the camera's frame ---- */

#define RADIANS 0.017453292519943295	/* per degree */
#define MIN_TURN (2 * RADIANS)		/* of the stage */

void
turning_step(const struct turning *turning, const double *step, struct turning *out)
{
	out->views = turning->views;
	for (int i = 0; i < 3; i++) {
		out->axis[i] = turning->axis[i] + step[0] * turning->side[0][i] +
		    step[1] * turning->side[1][i];
		out->point[i] = turning->point[i] + step[2] * turning->side[0][i] +
		    step[3] * turning->side[1][i];
	}
	vector3_normalise(out->axis);
	board_pose_step(&turning->board, step + 4, &out->board);
}

static void
take(void *state, const double *step)
{
	struct turning *turning = state, now;

	turning_step(turning, step, &now);
	memcpy(turning->axis, now.axis, sizeof(now.axis));
	memcpy(turning->point, now.point, sizeof(now.point));
	turning->board = now.board;
	laser_across(turning->axis, turning->side[0], turning->side[1]);
}

/* The stage's angle from a view to the next, and the board's own turn as axis times angle. False:
 * the stage turned by nearly half a circle or more. */
static bool
turn_between(const struct view *view, double *angle, double w[3])
{
	*angle = view[1].stage - view[0].stage;
	if (!(fabs(*angle) < 170 * RADIANS))
		return false;
	board_pose_turn(&view[1].board, &view[0].board, w);
	return true;
}

/* Finds the direction by least squares of the boards' own turns from view to view, as axis times
 * angle, against the stage's, and how well they agree. Turns of half a circle and more look like
 * their complement: only turns between successive views count. */
static int
start_axis(struct turning *turning, struct axis_fit *fit)
{
	const struct views *views = turning->views;
	double sum[3] = { 0 }, given = 0, off = 0, norm;
	size_t pairs = 0;

	for (size_t i = 0; i + 1 < views->n; i++) {
		double angle, w[3];

		if (!turn_between(&views->view[i], &angle, w))
			continue;
		for (int k = 0; k < 3; k++)
			sum[k] += angle * w[k];
		given += angle * angle;
		pairs++;
	}
	norm = vector3_length(sum);
	if (pairs < 2 || !(given > 0) || !(norm > 0))
		return fail(NULL, "the axis needs three pictures and more, turned by less than 170 "
		    "degrees from one to the next");
	fit->gain = norm / given;
	for (int k = 0; k < 3; k++)
		turning->axis[k] = sum[k] / norm;
	for (size_t i = 0; i + 1 < views->n; i++) {
		double angle, w[3];

		if (!turn_between(&views->view[i], &angle, w))
			continue;
		for (int k = 0; k < 3; k++)
			w[k] -= angle * turning->axis[k];
		off += vector3_dot(w, w) / (double)pairs;
	}
	fit->angle_rms_rad = sqrt(off);
	laser_across(turning->axis, turning->side[0], turning->side[1]);
	return 0;
}

/* Finds the board with the stage at 0 from the first view, and the point p of the circle: for all
 * views, (1 - Q_i) p = t_i - Q_i t with Q_i the turn, across the axis, by least squares. */
static int
start_point(struct turning *turning)
{
	const struct views *views = turning->views;
	const struct view *first = views->view;
	double a[4] = { 0 }, b[2] = { 0 }, along;

	memset(turning->point, 0, sizeof(turning->point));
	for (size_t i = 1; i < views->n; i++) {
		const struct view *view = &views->view[i];
		double angle = view->stage - first->stage, c = cos(angle), s = sin(angle);
		double moved[3], m[4] = { 1 - c, s, -s, 1 - c }, d[2];

		memcpy(moved, first->board.t, sizeof(moved));
		laser_rotate(turning->axis, angle, moved);
		for (int k = 0; k < 3; k++)
			moved[k] = view->board.t[k] - moved[k];
		for (int k = 0; k < 2; k++)
			d[k] = vector3_dot(turning->side[k], moved);
		for (int p = 0; p < 2; p++) {
			b[p] += m[p] * d[0] + m[2 + p] * d[1];
			for (int q = 0; q < 2; q++)
				a[2 * p + q] += m[p] * m[q] + m[2 + p] * m[2 + q];
		}
	}
	if (!symmetric_factor(2, a, 1e-14))
		return fail(NULL, "the stage did not turn");
	symmetric_solve(2, a, b, 1);
	along = vector3_dot(turning->axis, first->board.t);
	for (int k = 0; k < 3; k++)
		turning->point[k] = b[0] * turning->side[0][k] + b[1] * turning->side[1][k] +
		    along * turning->axis[k];
	turning->board = first->board;
	turn_about(turning, -first->stage, turning->board.t);
	board_pose_rotate(turning->axis, -first->stage, turning->board.R);
	return 0;
}

/* Converts the axis to the world. Its point is the one nearest to the middle of the boards. */
static void
to_world(const struct turning *turning, struct axis_fit *fit)
{
	const struct views *views = turning->views;
	double mean[3] = { 0 }, along = 0, X[3], off = 0;

	pinhole_to_world(&views->laser->camera, turning->point, fit->point);
	matrix3_apply_transposed(views->laser->camera.R, turning->axis, fit->direction);
	for (size_t i = 0; i < views->n; i++) {
		views_middle(views, &views->view[i], X);
		for (int k = 0; k < 3; k++)
			mean[k] += X[k] / (double)views->n;
	}
	for (int k = 0; k < 3; k++)
		along += (mean[k] - fit->point[k]) * fit->direction[k];
	for (int k = 0; k < 3; k++)
		fit->point[k] += along * fit->direction[k];
	views_middle(views, views->view, X);
	for (int k = 0; k < 3; k++)
		X[k] -= fit->point[k];
	along = vector3_dot(X, fit->direction);
	for (int k = 0; k < 3; k++)
		off += (X[k] - along * fit->direction[k]) * (X[k] - along * fit->direction[k]);
	fit->radius_mm = sqrt(off);
}

static int
check_turns(const struct views *views)
{
	double low = INFINITY, high = -INFINITY;

	for (size_t i = 0; i < views->n; i++) {
		low = fmin(low, views->view[i].stage);
		high = fmax(high, views->view[i].stage);
	}
	if (views->n < 3)
		return fail(NULL, "%zu picture%s: an axis needs three and more", views->n,
		    views->n == 1 ? "" : "s");
	return high - low >= MIN_TURN ? 0 : fail(NULL, "the stage turned by %.3g degrees in all: "
	    "its axis needs %g and more", (high - low) / RADIANS, MIN_TURN / RADIANS);
}

int
fit_axis(const struct views *views, struct axis_fit *fit)
{
	struct turning turning = { .views = views };
	double scale[10] = { 1e-6, 1e-6, 0, 0, 1e-6, 1e-6, 1e-6 }, alone = 0;
	struct levenberg problem = { 10, 0, scale, lasercal_rows()->turn_residual, take, &turning };

	*fit = (struct axis_fit){ 0 };
	camera_alone(&views->laser->camera, &turning.camera);
	if (check_turns(views) < 0 || start_axis(&turning, fit) < 0 || start_point(&turning) < 0)
		return -1;
	for (size_t i = 0; i < views->n; i++) {
		const struct view *view = &views->view[i];

		problem.residuals += 2 * view->corners.n;
		alone += view->board.rms_px * view->board.rms_px * (double)view->corners.n;
	}
	scale[2] = scale[3] = scale[7] = scale[8] = scale[9] = 1e-6 * views->view[0].board.t[2];
	fit->rms_px = sqrt(2 * levenberg_fit(&problem) / (double)problem.residuals);
	fit->alone_px = sqrt(2 * alone / (double)problem.residuals);
	to_world(&turning, fit);
	return 0;
}
