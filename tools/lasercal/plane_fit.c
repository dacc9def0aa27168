#include "plane_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "base/px.h"
#include "base/symmetric.h"

#define THREES 500
#define MEDIANS (5 * 1.4826)
#define REWEIGHTINGS 3
#define REWEIGHTINGS_MOST 100
/* Points of a search for a start are at most so many: a share of them tells as much. */
#define SEARCHED 2000

/* Sums over weighted points. */
struct moments {
	double w, x[3], xx[9];
};

struct fitting {
	const struct plane_point *point;
	size_t n, views;
	enum plane_method method;
	double limit;			/* of PLANE_WITHIN */
	double *weight;
	float *distance, *median;
	struct moments *view;
};

double
plane_distance(const double plane[4], const double X[3])
{
	return plane[0] * X[0] + plane[1] * X[1] + plane[2] * X[2] + plane[3];
}

/* Moments are about a point near all others, for their digits. */
static void
add_point(struct moments *sum, const double X[3], const double about[3], double w)
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
add_moments(struct moments *sum, const struct moments *part, double sign)
{
	sum->w += sign * part->w;
	for (int i = 0; i < 3; i++)
		sum->x[i] += sign * part->x[i];
	for (int i = 0; i < 9; i++)
		sum->xx[i] += sign * part->xx[i];
}

/* Middle and plane of the moments; the singular values too unless NULL. */
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

static float
median(float *v, size_t n)
{
	size_t rank = n / 2;
	float out;

	numbers_ranks(v, n, &rank, 1, &out);
	return out;
}

/*
 * The median distance of every step-th point, view by view, and of those medians the one that three
 * quarters of the views do not exceed: a plane that holds all points of half of the views, such as
 * a board's own, is none.
 */
static double
median_distance(const struct fitting *fitting, const double plane[4], size_t step)
{
	size_t views = 0, rank;
	float out;

	for (size_t i = 0; i < fitting->n;) {
		size_t view = fitting->point[i].view, n = 0;

		for (; i < fitting->n && fitting->point[i].view == view; i += step)
			fitting->distance[n++] =
			    (float)fabs(plane_distance(plane, fitting->point[i].X));
		fitting->median[views++] = median(fitting->distance, n);
	}
	rank = (3 * views + 3) / 4 - 1;
	numbers_ranks(fitting->median, views, &rank, 1, &out);
	return out;
}

/* The plane through three points; false where they lie on a line. */
static bool
plane_through(const double *a, const double *b, const double *c, double plane[4])
{
	double p[3], q[3], norm, reach = 0;

	for (int i = 0; i < 3; i++) {
		p[i] = b[i] - a[i];
		q[i] = c[i] - a[i];
		reach += p[i] * p[i] + q[i] * q[i];
	}
	for (int i = 0; i < 3; i++)
		plane[i] = p[(i + 1) % 3] * q[(i + 2) % 3] - p[(i + 2) % 3] * q[(i + 1) % 3];
	norm = sqrt(plane[0] * plane[0] + plane[1] * plane[1] + plane[2] * plane[2]);
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

/* What the search makes least. */
static double
badness(const struct fitting *fitting, const double plane[4], size_t step)
{
	double out = 0;

	if (fitting->method == PLANE_ROBUST)
		return median_distance(fitting, plane, step);
	for (size_t i = 0; i < fitting->n; i += step)
		out += fabs(plane_distance(plane, fitting->point[i].X)) >= fitting->limit;
	return out;
}

/* The best plane of three points; false where all threes lie on lines. */
static bool
search(const struct fitting *fitting, double best[4])
{
	size_t step = (fitting->n + SEARCHED - 1) / SEARCHED;
	double least = INFINITY;

	for (size_t i = 0; i < THREES; i++) {
		const struct plane_point *p = fitting->point;
		double plane[4], bad;

		if (!plane_through(p[drawn(i, 0, fitting->n)].X, p[drawn(i, 1, fitting->n)].X,
		    p[drawn(i, 2, fitting->n)].X, plane))
			continue;
		bad = badness(fitting, plane, step);
		if (bad < least) {
			least = bad;
			memcpy(best, plane, 4 * sizeof(*best));
		}
	}
	return least < INFINITY;
}

/* Weights by the distances from a plane: 1 within the limit, or Tukey's. */
static void
weigh(const struct fitting *fitting, const double plane[4], bool tukey, double *limit)
{
	double reach = fabs(plane[3]) + 1;

	/* distances of points that are exact are rounding: none of them is wrong */
	*limit = fitting->method == PLANE_WITHIN ? fitting->limit :
	    fmax(MEDIANS * median_distance(fitting, plane, 1), 1e-9 * reach);
	for (size_t i = 0; i < fitting->n; i++) {
		double r = plane_distance(plane, fitting->point[i].X) / *limit, t = 1 - r * r;

		fitting->weight[i] = fabs(r) >= 1 ? 0 : tukey ? t * t : 1;
	}
}

static void
solve(const struct fitting *fitting, struct plane_fit *fit, double middle[3])
{
	const double *about = fitting->point[0].X;
	struct moments all = { 0 };

	memset(fitting->view, 0, fitting->views * sizeof(*fitting->view));
	for (size_t i = 0; i < fitting->n; i++)
		add_point(&fitting->view[fitting->point[i].view], fitting->point[i].X, about,
		    fitting->weight[i]);
	for (size_t i = 0; i < fitting->views; i++)
		add_moments(&all, &fitting->view[i], 1);
	plane_of(&all, about, fit->plane, middle, fit->singular);
}

/* How far the plane moves when a view is left out, as standard deviations (jackknife). */
static void
leave_out(const struct fitting *fitting, struct plane_fit *fit, const double middle[3])
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
finish(const struct fitting *fitting, struct plane_fit *fit)
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

static int
fit_plane(const struct fitting *fitting, struct plane_fit *fit)
{
	double middle[3], start[4], moved = 1;

	for (size_t i = 0; i < fitting->n; i++)
		fitting->weight[i] = 1;
	fit->limit = INFINITY;
	if (fitting->method != PLANE_PLAIN && search(fitting, start)) {
		weigh(fitting, start, false, &fit->limit);
		solve(fitting, fit, middle);
		for (int i = 0; i < REWEIGHTINGS_MOST && (i < REWEIGHTINGS || moved > 1e-12);
		     i++) {
			double last[4];

			memcpy(last, fit->plane, sizeof(last));
			weigh(fitting, fit->plane, fitting->method == PLANE_ROBUST,
			    &fit->limit);
			solve(fitting, fit, middle);
			moved = 0;
			for (int k = 0; k < 3; k++)
				moved = fmax(moved, fabs(fit->plane[k] - last[k]));
		}
	} else
		solve(fitting, fit, middle);
	finish(fitting, fit);
	leave_out(fitting, fit, middle);
	return 0;
}

int
plane_fit(const struct plane_point *point, size_t n, size_t views, enum plane_method method,
    double limit, struct plane_fit *fit)
{
	struct fitting fitting = { point, n, views, method, limit, NULL, NULL, NULL, NULL };
	int status;

	if (n < 3)
		return fail(NULL, "%zu points of the laser's line: a plane needs 3", n);
	fitting.weight = calloc(n, sizeof(*fitting.weight));
	fitting.distance = calloc(n, sizeof(*fitting.distance));
	fitting.median = calloc(views, sizeof(*fitting.median));
	fitting.view = calloc(views, sizeof(*fitting.view));
	if (fitting.weight && fitting.distance && fitting.median && fitting.view)
		status = fit_plane(&fitting, fit);
	else
		status = fail_memory();
	free(fitting.weight);
	free(fitting.distance);
	free(fitting.median);
	free(fitting.view);
	return status;
}
