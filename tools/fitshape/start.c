/* One subject: shapes through few points or of linear equations, and the best of many of them. */
#include "start.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "base/px.h"
#include "base/symmetric.h"
#include "base/vector3.h"

#define DRAWS 1000		/* threes and fours */
#define SEARCHED 500		/* points of a search: a share of them tells as much */
#define DIRECTIONS 600		/* of a cylinder's axis, over half a sphere: 6 degrees apart */
#define CIRCLES 25		/* threes of each direction */
#define KEPT 12			/* directions whose cylinders are fitted */
#define FITTED 2000		/* points of these fits */

double
start_median(float *v, size_t n)
{
	size_t rank = n / 2;
	float out;

	numbers_ranks(v, n, &rank, 1, &out);
	return (double)out;
}

static double
median_distance(const struct shape_points *points, const struct shape *shape)
{
	float distance[FITTED];

	for (size_t i = 0; i < points->n; i++)
		distance[i] = (float)fabs(shape_distance(shape, points->x[i]));
	return start_median(distance, points->n);
}

static size_t
drawn(size_t draw, unsigned which, size_t n)
{
	uint hash = px_hash(px_hash((uint)draw * 4 + which) ^ 0x5ba9e5u);

	return (size_t)(((uint64_t)hash * n) >> 32);
}

/* Every so many-th point, `most` at most. */
static int
choose(const struct shape_points *points, size_t most, struct shape_points *out)
{
	double (*x)[3];

	*out = (struct shape_points){ .n = points->n < most ? points->n : most };
	x = calloc(out->n + 1, sizeof(*x));
	if (!x)
		return fail_memory();
	for (size_t i = 0; i < out->n; i++)
		memcpy(x[i], points->x[(size_t)((double)i / (double)out->n * (double)points->n)],
		    sizeof(*x));
	out->x = x;
	return 0;
}

static void
chosen_free(struct shape_points *points)
{
	free((void *)(uintptr_t)points->x);
}

/* ---- planes ---- */

static int
start_plane(const struct shape_points *points, struct shape *shape)
{
	double a[9] = { 0 }, mean[3] = { 0 }, value[3], vector[9], n = (double)points->n;

	for (size_t i = 0; i < points->n; i++)
		for (int k = 0; k < 3; k++)
			mean[k] += points->x[i][k] / n;
	for (size_t i = 0; i < points->n; i++)
		for (int k = 0; k < 9; k++)
			a[k] += (points->x[i][k / 3] - mean[k / 3]) *
			    (points->x[i][k % 3] - mean[k % 3]);
	symmetric_eigen(3, a, value, vector);
	memcpy(shape->axis, vector + 6, sizeof(shape->axis));
	for (int i = 0; i < 3; i++)
		shape->centre[i] = vector3_dot(mean, shape->axis) * shape->axis[i];
	return 0;
}

static bool
plane_through(const double *const p[3], struct shape *shape)
{
	double a[3], b[3], length, reach = 0;

	for (int i = 0; i < 3; i++) {
		a[i] = p[1][i] - p[0][i];
		b[i] = p[2][i] - p[0][i];
		reach += a[i] * a[i] + b[i] * b[i];
	}
	vector3_cross(a, b, shape->axis);
	length = sqrt(vector3_dot(shape->axis, shape->axis));
	if (!(length > 1e-4 * reach))
		return false;
	for (int i = 0; i < 3; i++)
		shape->axis[i] /= length;
	for (int i = 0; i < 3; i++)
		shape->centre[i] = vector3_dot(p[0], shape->axis) * shape->axis[i];
	return true;
}

/* ---- spheres ---- */

/* |x|^2 = 2 c x + k in the unit `reach`. */
static int
start_sphere(const struct shape_points *points, struct shape *shape)
{
	double reach = shape_reach(points), a[16] = { 0 }, b[4] = { 0 }, squares;

	for (size_t i = 0; i < points->n; i++) {
		double row[4] = { 0, 0, 0, 1 };

		for (int k = 0; k < 3; k++)
			row[k] = 2 * points->x[i][k] / reach;
		squares = vector3_dot(row, row) / 4;
		for (int k = 0; k < 16; k++)
			a[k] += row[k / 4] * row[k % 4];
		for (int k = 0; k < 4; k++)
			b[k] += row[k] * squares;
	}
	if (!symmetric_factor(4, a, 1e-13))
		return 1;
	symmetric_solve(4, a, b, 1);
	for (int i = 0; i < 3; i++)
		shape->centre[i] = reach * b[i];
	if (!shape->fixed)
		shape->radius = reach * sqrt(fmax(b[3] + vector3_dot(b, b), 1e-12));
	return 0;
}

bool
start_sphere_through(const double *const p[4], struct shape *shape)
{
	double e[3][3], n[3][3], h[3], volume, reach = 0, q[3];

	for (int k = 0; k < 3; k++) {
		for (int i = 0; i < 3; i++)
			e[k][i] = p[k + 1][i] - p[0][i];
		h[k] = vector3_dot(e[k], e[k]) / 2;
		reach = fmax(reach, sqrt(2 * h[k]));
	}
	for (int k = 0; k < 3; k++)
		vector3_cross(e[(k + 1) % 3], e[(k + 2) % 3], n[k]);
	volume = vector3_dot(e[0], n[0]);
	if (!(fabs(volume) > 1e-7 * reach * reach * reach))
		return false;
	for (int i = 0; i < 3; i++) {
		q[i] = (h[0] * n[0][i] + h[1] * n[1][i] + h[2] * n[2][i]) / volume;
		shape->centre[i] = p[0][i] + q[i];
	}
	shape->radius = shape->fixed ? shape->radius : sqrt(vector3_dot(q, q));
	return true;
}

/* ---- cylinders ---- */

/* Direction i of DIRECTIONS over half a sphere, evenly: a spiral of the golden angle. */
static void
direction(size_t i, double axis[3])
{
	double z = ((double)i + 0.5) / DIRECTIONS, angle = (double)i * 2.399963229728653;

	axis[0] = sqrt(1 - z * z) * cos(angle);
	axis[1] = sqrt(1 - z * z) * sin(angle);
	axis[2] = z;
}

static void
place(const struct shape_tangent *tangent, double a, double b, struct shape *shape)
{
	for (int i = 0; i < 3; i++)
		shape->centre[i] = a * tangent->u[i] + b * tangent->v[i];
}

/* The circle of least squares of (x - c)^2 - r^2 across an axis. */
static bool
circle(const struct shape_points *points, double reach, struct shape *shape)
{
	struct shape_tangent tangent;
	double a[9] = { 0 }, b[3] = { 0 };

	shape_tangent(shape, reach, &tangent);
	for (size_t i = 0; i < points->n; i++) {
		double p = vector3_dot(points->x[i], tangent.u) / reach;
		double q = vector3_dot(points->x[i], tangent.v) / reach;
		double row[3] = { 2 * p, 2 * q, 1 };

		for (int k = 0; k < 9; k++)
			a[k] += row[k / 3] * row[k % 3];
		for (int k = 0; k < 3; k++)
			b[k] += row[k] * (p * p + q * q);
	}
	if (!symmetric_factor(3, a, 1e-10))
		return false;
	symmetric_solve(3, a, b, 1);
	place(&tangent, reach * b[0], reach * b[1], shape);
	if (!shape->fixed)
		shape->radius = reach * sqrt(fmax(b[2] + b[0] * b[0] + b[1] * b[1], 1e-12));
	return true;
}

static double
rms_distance(const struct shape_points *points, const struct shape *shape)
{
	double squares = 0, d;

	for (size_t i = 0; i < points->n; i++) {
		d = shape_distance(shape, points->x[i]);
		squares += d * d;
	}
	return sqrt(squares / (double)points->n);
}

/* The circle through three points across the axis. */
static bool
circle_through(const struct shape_points *points, size_t draw, const struct shape_tangent *tangent,
    struct shape *shape)
{
	double p[3], q[3], a, b, area, c[2];

	for (unsigned k = 0; k < 3; k++) {
		const double *x = points->x[drawn(draw, k, points->n)];

		p[k] = vector3_dot(x, tangent->u) - (k ? p[0] : 0);
		q[k] = vector3_dot(x, tangent->v) - (k ? q[0] : 0);
	}
	a = (p[1] * p[1] + q[1] * q[1]) / 2;
	b = (p[2] * p[2] + q[2] * q[2]) / 2;
	area = p[1] * q[2] - p[2] * q[1];
	if (!(fabs(area) > 1e-4 * (a + b)))
		return false;
	c[0] = (a * q[2] - b * q[1]) / area;
	c[1] = (b * p[1] - a * p[2]) / area;
	place(tangent, p[0] + c[0], q[0] + c[1], shape);
	if (!shape->fixed)
		shape->radius = sqrt(c[0] * c[0] + c[1] * c[1]);
	return true;
}

static double
best_circle(const struct shape_points *points, double reach, size_t which, struct shape *shape)
{
	struct shape tried = *shape;
	struct shape_tangent tangent;
	double least = INFINITY, now;

	shape_tangent(shape, reach, &tangent);
	for (size_t i = 0; i < CIRCLES; i++) {
		if (!circle_through(points, which * CIRCLES + i, &tangent, &tried))
			continue;
		now = median_distance(points, &tried);
		if (now < least) {
			least = now;
			*shape = tried;
		}
	}
	return least;
}

/* Only the points within 2.5 standard deviations, of the median's, of the shape. */
static int
fit_near(const struct shape_points *all, bool robust, struct shape *shape)
{
	struct shape_points points = *all;
	double *weight = calloc(all->n + 1, sizeof(*weight));
	int status = 0;

	if (!weight)
		return fail_memory();
	points.weight = robust ? weight : NULL;
	for (int round = 0; round < (robust ? 5 : 1) && status == 0; round++) {
		double limit = 2.5 * 1.4826 * median_distance(all, shape);

		for (size_t i = 0; i < all->n; i++)
			weight[i] = fabs(shape_distance(shape, all->x[i])) <= limit;
		status = shape_fit(&points, shape);
	}
	free(weight);
	return status;
}

/* The best of the directions, fitted. */
static int
fit_kept(const struct shape_points *all, bool robust, struct shape *kept, struct shape *best)
{
	struct shape_points points;
	double least = INFINITY, now;
	int status = choose(all, FITTED, &points);

	for (size_t i = 0; i < KEPT && status >= 0; i++) {
		if (!(kept[i].radius > 0))
			continue;
		status = fit_near(&points, robust, &kept[i]);
		if (status != 0)
			continue;
		now = robust ? median_distance(&points, &kept[i]) : rms_distance(&points, &kept[i]);
		if (now < least) {
			least = now;
			*best = kept[i];
		}
	}
	chosen_free(&points);
	return status < 0 ? -1 : least < INFINITY ? 0 : 1;
}

static int
start_cylinder(const struct shape_points *all, bool robust, struct shape *shape)
{
	struct shape kept[KEPT] = { { 0 } };
	double cost[KEPT], reach = shape_reach(all);
	struct shape_points points;

	if (choose(all, robust ? SEARCHED / 2 : SEARCHED, &points) < 0)
		return -1;
	for (size_t k = 0; k < KEPT; k++)
		cost[k] = INFINITY;
	for (size_t i = 0; i < DIRECTIONS; i++) {
		struct shape tried = *shape;
		double now = INFINITY;

		direction(i, tried.axis);
		if (robust)
			now = best_circle(&points, reach, i, &tried);
		else if (circle(&points, reach, &tried))
			now = rms_distance(&points, &tried);
		for (size_t k = 0; k < KEPT; k++)
			if (now < cost[k]) {
				memmove(&cost[k + 1], &cost[k], (KEPT - k - 1) * sizeof(*cost));
				memmove(&kept[k + 1], &kept[k], (KEPT - k - 1) * sizeof(*kept));
				cost[k] = now;
				kept[k] = tried;
				break;
			}
	}
	chosen_free(&points);
	return fit_kept(all, robust, kept, shape);
}

/* ---- all ---- */

int
start_all(const struct shape_points *points, struct shape *shape)
{
	switch (shape->kind) {
	case SHAPE_PLANE:
		return start_plane(points, shape);
	case SHAPE_SPHERE:
		return start_sphere(points, shape);
	case SHAPE_CYLINDER:
		break;
	}
	return start_cylinder(points, false, shape);
}

int
start_robust(const struct shape_points *all, struct shape *shape)
{
	struct shape tried = *shape;
	struct shape_points points;
	double least = INFINITY, now;

	if (shape->kind == SHAPE_CYLINDER)
		return start_cylinder(all, true, shape);
	if (choose(all, SEARCHED, &points) < 0)
		return -1;
	for (size_t i = 0; i < DRAWS; i++) {
		const double *p[4];

		for (unsigned k = 0; k < 4; k++)
			p[k] = all->x[drawn(i, k, all->n)];
		if (shape->kind == SHAPE_PLANE ? !plane_through(p, &tried) :
		    !start_sphere_through(p, &tried))
			continue;
		now = median_distance(&points, &tried);
		if (now < least) {
			least = now;
			*shape = tried;
		}
	}
	chosen_free(&points);
	return least < INFINITY ? 0 : 1;
}
