/*
 * The loops of lasercal over corners and points: residuals and normal equations, rays that meet
 * boards, the search for a plane and its weights.
 */
#include "lasercal.h"

#include "base/numbers.h"
#include "base/px.h"

/* ---- least squares over corners ---- */

static void
lasercal_linearise(const struct levenberg *fit, struct linearised *space)
{
	size_t n = fit->parameters, m = fit->residuals;
	double step[MAX_PARAMETERS] = { 0 };

	for (size_t i = 0; i < n; i++) {
		double *column = &space->jacobian[i * m];

		step[i] = fit->scale[i];
		fit->residual(fit->state, step, space->plus);
		step[i] = -fit->scale[i];
		fit->residual(fit->state, step, space->minus);
		step[i] = 0;
		for (size_t k = 0; k < m; k++)
			column[k] = (space->plus[k] - space->minus[k]) / (2 * fit->scale[i]);
	}
	for (size_t i = 0; i < n; i++) {
		const double *a = &space->jacobian[i * m];

		space->gradient[i] = 0;
		for (size_t k = 0; k < m; k++)
			space->gradient[i] -= a[k] * space->r[k];
		for (size_t j = 0; j <= i; j++) {
			const double *b = &space->jacobian[j * m];
			double sum = 0;

			for (size_t k = 0; k < m; k++)
				sum += a[k] * b[k];
			space->normal[i * n + j] = space->normal[j * n + i] = sum;
		}
	}
}

static void
lasercal_corner_residual(const void *state, const double *step, double *r)
{
	const struct refining *refining = state;
	struct board_pose stepped, pose;

	board_pose_step(&refining->pose, step, &stepped);
	pose = stepped;		/* no other file knows its address: it stays in registers */
	for (size_t i = 0; i < refining->points->n; i++) {
		const double *place = refining->points->place[i], *uv = refining->points->uv[i];
		double x[3], seen[2];

		matrix3_apply_add(pose.R, (double[3]){ place[0], place[1], 0 }, pose.t, x);
		if (!pinhole_project(refining->camera, x, seen))
			seen[0] = seen[1] = 1e6;	/* behind the camera: never better */
		r[2 * i] = seen[0] - uv[0];
		r[2 * i + 1] = seen[1] - uv[1];
	}
}

/* ---- points of the line ---- */

#define MARGIN 0.75		/* spacings beyond the outer corners where a line counts */
/* Nearer to the edge of a square it does not: */
#define EDGE_SIGMAS 3
#define EDGE_SQUARES 0.3

/* Where a pixel's ray meets the board: in the camera's frame and on the board, mm. False: it does
 * not. */
static bool
meet_board(const struct views *views, const struct board_pose *pose, const double uv[2],
    double x[3], double place[2])
{
	double ray[3] = { 0, 0, 1 }, along = 0, off = 0, s;

	if (!isfinite(uv[0]) || !isfinite(uv[1]) ||
	    !pinhole_undistort(&views->laser->camera, uv, ray))
		return false;
	for (int i = 0; i < 3; i++) {
		along += pose->R[3 * i + 2] * ray[i];
		off += pose->R[3 * i + 2] * pose->t[i];
	}
	s = off / along;
	if (!(fabs(along) > 1e-6) || !(s > 0))
		return false;
	place[0] = place[1] = 0;
	for (int i = 0; i < 3; i++) {
		x[i] = s * ray[i];
		place[0] += pose->R[3 * i] * (x[i] - pose->t[i]);
		place[1] += pose->R[3 * i + 1] * (x[i] - pose->t[i]);
	}
	return true;
}

static bool
is_on_board(const struct board *board, const double place[2])
{
	double middle[2], reach = MARGIN * board->spacing_mm;

	board_middle(board, middle);
	for (int k = 0; k < 2; k++) {
		double half = middle[k] * board->spacing_mm;

		if (fabs(place[k] - half) > half + reach)
			return false;
	}
	return true;
}

/* Is a place of a chessboard near an edge of its squares? */
static bool
is_near_edge(const struct views *views, const double place[2], double depth, double sigma_px)
{
	double spacing = views->board.spacing_mm;
	double px = views->laser->camera.K[0] / depth * spacing, off = INFINITY;

	for (int k = 0; k < 2; k++) {
		double at = place[k] / spacing;

		off = fmin(off, fabs(at - floor(at + 0.5)) * px);
	}
	return views->board.kind == BOARD_CHESS &&
	    off < fmin(EDGE_SIGMAS * sigma_px, EDGE_SQUARES * px);
}

/* Adds the place in the world where a pixel's ray meets the board, if the line counts there. */
static void
lasercal_add_ray(struct views *views, const struct sensor_fit *crop, double u, double v,
    double sigma_px)
{
	struct view *view = &views->view[views->n - 1];
	double uv[2], x[3], place[2], X[3];

	view->seen[views->channel]++;
	on_sensor(crop, u, v, uv);
	if (!meet_board(views, &view->board, uv, x, place) ||
	    !is_on_board(&views->board, place) ||
	    is_near_edge(views, place, x[2], sigma_px))
		return;
	pinhole_to_world(&views->laser->camera, x, X);
	views_add_point(views, X);
}

/* ---- the plane ---- */

#define THREES 500		/* of points */
#define FIVE_MAD (5 * 1.4826)	/* medians */
#define SEARCHED_POINTS 2000	/* about; more would change little */

/*
 * The median distance of every step-th point in each view, and of those medians the one that three
 * quarters of the views do not exceed. So a plane that holds all points of half of the views, such
 * as a board's own, does not win.
 */
static double
median_distance(const struct plane_fitting *fitting, const double plane[4], size_t step)
{
	size_t views = 0;

	for (size_t i = 0; i < fitting->n;) {
		size_t view = fitting->point[i].view, n = 0;

		for (; i < fitting->n && fitting->point[i].view == view; i += step)
			fitting->distance[n++] =
			    (float)fabs(plane_distance(plane, fitting->point[i].X));
		fitting->median[views++] = numbers_median(fitting->distance, n);
	}
	return numbers_rank(fitting->median, views, (3 * views + 3) / 4 - 1);
}

/* The plane through three points. False: they are on a line. */
static bool
plane_through(const double *a, const double *b, const double *c, double plane[4])
{
	double p[3], q[3], norm, reach = 0;

	for (int i = 0; i < 3; i++) {
		p[i] = b[i] - a[i];
		q[i] = c[i] - a[i];
		reach += p[i] * p[i] + q[i] * q[i];
	}
	vector3_cross(p, q, plane);
	norm = vector3_length(plane);
	if (!(norm > 1e-4 * reach))
		return false;
	plane[3] = 0;
	for (int i = 0; i < 3; i++) {
		plane[i] /= norm;
		plane[3] -= plane[i] * a[i];
	}
	return true;
}

static size_t
drawn(size_t three, unsigned which, size_t n)
{
	uint hash = px_hash(px_hash((uint)three * 3 + which) ^ 0x1a5e7ca1u);

	return (size_t)(((uint64_t)hash * n) >> 32);
}

/* The search minimises this. */
static double
cost(const struct plane_fitting *fitting, const double plane[4], size_t step)
{
	double out = 0;

	if (fitting->method == PLANE_ROBUST)
		return median_distance(fitting, plane, step);
	for (size_t i = 0; i < fitting->n; i += step)
		out += fabs(plane_distance(plane, fitting->point[i].X)) >= fitting->limit;
	return out;
}

static bool
lasercal_search_plane(const struct plane_fitting *fitting, double best[4])
{
	size_t step = (fitting->n + SEARCHED_POINTS - 1) / SEARCHED_POINTS;
	double least = INFINITY;

	for (size_t i = 0; i < THREES; i++) {
		const struct plane_point *p = fitting->point;
		double plane[4], now;

		if (!plane_through(p[drawn(i, 0, fitting->n)].X, p[drawn(i, 1, fitting->n)].X,
		    p[drawn(i, 2, fitting->n)].X, plane))
			continue;
		now = cost(fitting, plane, step);
		if (now < least) {
			least = now;
			memcpy(best, plane, 4 * sizeof(*best));
		}
	}
	return least < INFINITY;
}

static void
lasercal_weigh_points(const struct plane_fitting *fitting, const double plane[4], bool tukey,
    double *limit)
{
	double reach = fabs(plane[3]) + 1;

	/* for exact points, distances are rounding errors: no point is wrong */
	*limit = fitting->method == PLANE_WITHIN ? fitting->limit :
	    fmax(FIVE_MAD * median_distance(fitting, plane, 1), 1e-9 * reach);
	for (size_t i = 0; i < fitting->n; i++) {
		double r = plane_distance(plane, fitting->point[i].X) / *limit, t = 1 - r * r;

		fitting->weight[i] = fabs(r) >= 1 ? 0 : tukey ? t * t : 1;
	}
}

/* Moments are about a point near all others, to keep their digits. */
static void
add_to_moments(struct moments *sum, const double X[3], const double about[3], double w)
{
	double x[3] = { X[0] - about[0], X[1] - about[1], X[2] - about[2] };

	sum->w += w;
	for (int i = 0; i < 3; i++) {
		sum->x[i] += w * x[i];
		for (int j = 0; j < 3; j++)
			sum->xx[3 * i + j] += w * x[i] * x[j];
	}
}

static void
lasercal_sum_views(const struct plane_fitting *fitting)
{
	const double *about = fitting->point[0].X;

	memset(fitting->view, 0, fitting->views * sizeof(*fitting->view));
	for (size_t i = 0; i < fitting->n; i++)
		add_to_moments(&fitting->view[fitting->point[i].view], fitting->point[i].X, about,
		    fitting->weight[i]);
}

static void
lasercal_count_used(const struct plane_fitting *fitting, struct plane_fit *fit)
{
	double squares = 0;

	fit->used = 0;
	for (size_t i = 0; i < fitting->n; i++) {
		double distance = plane_distance(fit->plane, fitting->point[i].X);

		if (fabs(distance) >= fit->limit)
			continue;
		fit->used++;
		squares += distance * distance;
	}
	fit->rms = sqrt(squares / (double)fit->used);
}

static void
lasercal_turn_residual(const void *state, const double *step, double *r)
{
	const struct turning *turning = state;
	const struct views *views = turning->views;
	struct turning now;

	turning_step(turning, step, &now);
	for (size_t i = 0; i < views->n; i++) {
		const struct board_points *corners = &views->view[i].corners;

		for (size_t k = 0; k < corners->n; k++, r += 2) {
			const double *place = corners->place[k];
			double x[3], seen[2];

			matrix3_apply_add(now.board.R, (double[3]){ place[0], place[1], 0 },
			    now.board.t, x);
			turn_about(&now, views->view[i].stage, x);
			if (!pinhole_project(&turning->camera, x, seen))
				seen[0] = seen[1] = 1e6;
			r[0] = seen[0] - corners->uv[k][0];
			r[1] = seen[1] - corners->uv[k][1];
		}
	}
}

const struct lasercal_rows AT_LEVEL(lasercal_rows) = {
	.search_plane = lasercal_search_plane,
	.weigh_points = lasercal_weigh_points,
	.sum_views = lasercal_sum_views,
	.count_used = lasercal_count_used,
	.corner_residual = lasercal_corner_residual,
	.add_ray = lasercal_add_ray,
	.turn_residual = lasercal_turn_residual,
	.linearise = lasercal_linearise,
};
