#include "shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/symmetric.h"
#include "base/vector3.h"
#include "run/run.h"

#define BLOCK 4096		/* points of one partial sum */
#define ROUNDS 100
#define RADIUS_MOST 1e7		/* reaches */
#define SINGULAR 1e-15		/* of a column's squares */

static void
normalise(double a[3])
{
	double length = sqrt(vector3_dot(a, a));

	for (int i = 0; i < 3; i++)
		a[i] /= length;
}

size_t
shape_unknowns(const struct shape *shape)
{
	static const size_t n[] = { 3, 4, 5 };

	return n[shape->kind] - (shape->fixed && shape->kind != SHAPE_PLANE);
}

/* From the centre, or from the axis's nearest point, to x; *along: of the axis. */
static inline __attribute__((always_inline)) double
arm(const struct shape *shape, const double x[3], double q[3], double *along)
{
	for (int i = 0; i < 3; i++)
		q[i] = x[i] - shape->centre[i];
	*along = 0;
	if (shape->kind == SHAPE_CYLINDER) {
		*along = vector3_dot(shape->axis, q);
		for (int i = 0; i < 3; i++)
			q[i] -= *along * shape->axis[i];
	}
	return sqrt(vector3_dot(q, q));
}

double
shape_distance(const struct shape *shape, const double x[3])
{
	double q[3], along, length = arm(shape, x, q, &along);

	return shape->kind == SHAPE_PLANE ? vector3_dot(shape->axis, q) : length - shape->radius;
}

void
shape_normal(const struct shape *shape, const double x[3], double normal[3])
{
	double q[3], along, length = arm(shape, x, q, &along);

	for (int i = 0; i < 3; i++)
		normal[i] = shape->kind == SHAPE_PLANE ? shape->axis[i] :
		    length > 0 ? q[i] / length : 0;
}

void
shape_tangent(const struct shape *shape, double reach, struct shape_tangent *tangent)
{
	const double *a = shape->axis;
	int least = 0;

	tangent->shape = *shape;
	tangent->reach = reach > 0 ? reach : 1;
	if (shape->kind == SHAPE_SPHERE)
		return;
	for (int i = 1; i < 3; i++)
		if (fabs(a[i]) < fabs(a[least]))
			least = i;
	for (int i = 0; i < 3; i++)
		tangent->u[i] = (i == least) - a[least] * a[i];
	normalise(tangent->u);
	for (int i = 0; i < 3; i++)
		tangent->v[i] = a[(i + 1) % 3] * tangent->u[(i + 2) % 3] -
		    a[(i + 2) % 3] * tangent->u[(i + 1) % 3];
}

/* The distance, and in J its derivatives by the unknowns. */
static inline __attribute__((always_inline)) double
derive(const struct shape_tangent *tangent, const double x[3], double J[SHAPE_UNKNOWNS])
{
	const struct shape *shape = &tangent->shape;
	double q[3], along, length = arm(shape, x, q, &along);
	double e[3];

	switch (shape->kind) {
	case SHAPE_PLANE:
		J[0] = vector3_dot(tangent->u, q) / tangent->reach;
		J[1] = vector3_dot(tangent->v, q) / tangent->reach;
		J[2] = -1;
		return vector3_dot(shape->axis, q);
	case SHAPE_SPHERE:
		for (int i = 0; i < 3; i++)
			J[i] = length > 0 ? -q[i] / length : 0;
		J[3] = -1;
		return length - shape->radius;
	case SHAPE_CYLINDER:
		break;
	}
	for (int i = 0; i < 3; i++)
		e[i] = length > 0 ? q[i] / length : 0;
	J[2] = -vector3_dot(tangent->u, e);
	J[3] = -vector3_dot(tangent->v, e);
	J[0] = along * J[2] / tangent->reach;
	J[1] = along * J[3] / tangent->reach;
	J[4] = -1;
	return length - shape->radius;
}

/* The shape after a step of its unknowns. */
static void
shape_step(const struct shape_tangent *tangent, const double *step, struct shape *out)
{
	const double *u = tangent->u, *v = tangent->v;
	double along;

	*out = tangent->shape;
	if (out->kind == SHAPE_SPHERE) {
		for (int i = 0; i < 3; i++)
			out->centre[i] += step[i];
		out->radius += out->fixed ? 0 : step[3];
		return;
	}
	for (int i = 0; i < 3; i++)
		out->axis[i] += (u[i] * step[0] + v[i] * step[1]) / tangent->reach;
	normalise(out->axis);
	for (int i = 0; i < 3; i++)
		out->centre[i] += out->kind == SHAPE_PLANE ? tangent->shape.axis[i] * step[2] :
		    u[i] * step[2] + v[i] * step[3];
	if (out->kind == SHAPE_CYLINDER && !out->fixed)
		out->radius += step[4];
	along = vector3_dot(out->axis, out->centre);
	for (int i = 0; i < 3; i++)
		out->centre[i] = out->kind == SHAPE_PLANE ? along * out->axis[i] :
		    out->centre[i] - along * out->axis[i];
}

/* ---- sums ---- */

struct summing {
	const struct shape_points *points;
	const struct shape_tangent *tangent;
	struct shape_normals *block;
	size_t unknowns;
};

/* Of points `first` to `end` - 1; called with constants, so that n sums stay in registers. */
static inline __attribute__((always_inline)) void
sum_points(const struct summing *summing, size_t first, size_t end, enum shape_kind kind, size_t n,
    struct shape_normals *out)
{
	const struct shape_points *points = summing->points;
	struct shape_tangent tangent = *summing->tangent;
	struct shape_normals sum = { 0 };

	tangent.shape.kind = kind;
	for (size_t k = first; k < end; k++) {
		double J[SHAPE_UNKNOWNS], w = points->weight ? points->weight[k] : 1, d;

		if (w == 0)
			continue;
		d = derive(&tangent, points->x[k], J);
		for (size_t i = 0; i < n; i++) {
			sum.g[i] += w * J[i] * d;
			for (size_t j = 0; j <= i; j++)
				sum.a[i * n + j] += w * J[i] * J[j];
		}
		sum.squares += w * d * d;
		sum.weight += w;
	}
	*out = sum;
}

static void
sum_block(void *arg, size_t b)
{
	const struct summing *summing = arg;
	struct shape_normals *sum = &summing->block[b];
	size_t n = summing->unknowns, first = b * BLOCK, end = first + BLOCK;

	if (end > summing->points->n)
		end = summing->points->n;
	switch (summing->tangent->shape.kind) {
	case SHAPE_PLANE:
		sum_points(summing, first, end, SHAPE_PLANE, 3, sum);
		break;
	case SHAPE_SPHERE:
		if (n == 4)
			sum_points(summing, first, end, SHAPE_SPHERE, 4, sum);
		else
			sum_points(summing, first, end, SHAPE_SPHERE, 3, sum);
		break;
	case SHAPE_CYLINDER:
		if (n == 5)
			sum_points(summing, first, end, SHAPE_CYLINDER, 5, sum);
		else
			sum_points(summing, first, end, SHAPE_CYLINDER, 4, sum);
		break;
	}
}

int
shape_normals(const struct shape_points *points, const struct shape_tangent *tangent,
    struct shape_normals *out)
{
	size_t blocks = (points->n + BLOCK - 1) / BLOCK, n = shape_unknowns(&tangent->shape);
	struct summing summing = { points, tangent, calloc(blocks + 1, sizeof(*out)), n };

	if (!summing.block)
		return fail_memory();
	if (points->run)
		run_for(points->run, blocks, sum_block, &summing);
	else
		for (size_t b = 0; b < blocks; b++)
			sum_block(&summing, b);
	memset(out, 0, sizeof(*out));
	for (size_t b = 0; b < blocks; b++) {
		for (size_t i = 0; i < n * n; i++)
			out->a[i] += summing.block[b].a[i];
		for (size_t i = 0; i < n; i++)
			out->g[i] += summing.block[b].g[i];
		out->squares += summing.block[b].squares;
		out->weight += summing.block[b].weight;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			out->a[j * n + i] = out->a[i * n + j];
	free(summing.block);
	return 0;
}

double
shape_reach(const struct shape_points *points)
{
	double sum = 0;

	for (size_t i = 0; i < points->n; i++)
		sum += vector3_dot(points->x[i], points->x[i]);
	return points->n ? sqrt(sum / (double)points->n) : 0;
}

/* ---- least squares ---- */

/* A step of these normal equations, damped; false where they are singular. */
static bool
solve(const struct shape_normals *at, size_t n, double lambda, double *step)
{
	double a[SHAPE_UNKNOWNS * SHAPE_UNKNOWNS], scale[SHAPE_UNKNOWNS];

	for (size_t i = 0; i < n; i++) {
		scale[i] = at->a[i * n + i] > 0 ? sqrt(at->a[i * n + i]) : 1;
		step[i] = -at->g[i] / scale[i];
	}
	for (size_t i = 0; i < n * n; i++)
		a[i] = at->a[i] / (scale[i / n] * scale[i % n]);
	for (size_t i = 0; i < n; i++)
		a[i * n + i] += lambda;
	if (!symmetric_factor(n, a, SINGULAR))
		return false;
	symmetric_solve(n, a, step, 1);
	for (size_t i = 0; i < n; i++)
		step[i] /= scale[i];
	return true;
}

int
shape_fit(const struct shape_points *points, struct shape *shape)
{
	size_t n = shape_unknowns(shape);
	double reach = shape_reach(points), lambda = 0;
	struct shape_tangent tangent;
	struct shape_normals at, next;

	shape_tangent(shape, reach, &tangent);
	if (shape_normals(points, &tangent, &at) < 0)
		return -1;
	for (int i = 0; i < ROUNDS; i++) {
		double step[SHAPE_UNKNOWNS], size = 0;
		struct shape tried;

		if (!solve(&at, n, lambda, step)) {
			if (lambda > 0)
				return 1;
			lambda = 1e-9;
			continue;
		}
		for (size_t k = 0; k < n; k++)
			size = fmax(size, fabs(step[k]));
		shape_step(&tangent, step, &tried);
		if (fabs(tried.radius) > RADIUS_MOST * reach || !isfinite(size))
			return 1;
		shape_tangent(&tried, reach, &tangent);
		if (shape_normals(points, &tangent, &next) < 0)
			return -1;
		if (next.squares <= at.squares || size < 1e-12 * reach) {
			*shape = tried;
			at = next;
			if (size < 1e-13 * reach)
				return 0;
			lambda = lambda < 1e-8 ? 0 : lambda / 10;
			continue;
		}
		/* the squares are as small as rounding lets them be */
		if (size < 1e-9 * (reach + fabs(shape->radius)) &&
		    next.squares <= at.squares * (1 + 1e-9))
			return 0;
		shape_tangent(shape, reach, &tangent);
		lambda = lambda > 0 ? lambda * 10 : 1e-6;
		if (lambda > 1e12)
			return 0;
	}
	return 0;
}
