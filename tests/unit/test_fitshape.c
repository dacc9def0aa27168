/* fitshape's fits on points that no float has rounded, and its standard deviations by trials. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/process.h"
#include "base/px.h"
#include <cmocka.h>

#include "../../tools/fitshape/fitshape.h"

#define POINTS 300
#define TRIALS (SANITIZED ? 10u : 150u)	/* too few to judge: memory alone is looked at */

/* Far from the origin, and the axis in no special direction. */
static const double centre[3] = { 1000, -700, 1300 };
static const double axis[3] = { 0.36, 0.48, 0.8 };
static const double u[3] = { 0.8, -0.6, 0 }, v[3] = { 0.48, 0.64, -0.6 };
#define RADIUS 12.5

static double
uniform(uint seed, uint i)
{
	return (double)px_uniform(px_hash(px_hash(px_hash(seed) ^ i) ^ 77u));
}

static double
normal(uint seed, uint i)
{
	double angle = 6.283185307179586 * uniform(seed, 2 * i + 1);

	return sqrt(-2 * log(uniform(seed, 2 * i))) * cos(angle);
}

/* A point of the shape: a patch of 40 x 40; a cap of 60 degrees; an arc of 150 degrees, 40 long. */
static void
point_of(enum shape_kind kind, uint i, double x[3])
{
	double a = uniform(1, i), b = uniform(2, i), p[3];

	switch (kind) {
	case SHAPE_PLANE:
		p[0] = 40 * a - 20;
		p[1] = 40 * b - 20;
		p[2] = 0;
		break;
	case SHAPE_SPHERE:
		p[2] = 0.5 + 0.5 * a;
		p[0] = RADIUS * sqrt(1 - p[2] * p[2]) * cos(6.283185307179586 * b);
		p[1] = RADIUS * sqrt(1 - p[2] * p[2]) * sin(6.283185307179586 * b);
		p[2] *= RADIUS;
		break;
	default:
		p[0] = RADIUS * cos(2.6 * a);
		p[1] = RADIUS * sin(2.6 * a);
		p[2] = 40 * b - 20;
	}
	for (int k = 0; k < 3; k++)
		x[k] = p[0] * u[k] + p[1] * v[k] + p[2] * axis[k];
}

/* As cloud_take(): about the mean of the points. */
static void
make_cloud(enum shape_kind kind, uint seed, double noise, size_t wrong, struct cloud *cloud)
{
	double mean[3] = { 0 };

	*cloud = (struct cloud){ .n = POINTS, .along = ALONG_NORMAL, .shared = 1 };
	cloud->x = calloc(POINTS, sizeof(*cloud->x));
	assert_non_null(cloud->x);
	for (size_t i = 0; i < POINTS; i++) {
		point_of(kind, (uint)i, cloud->x[i]);
		for (size_t k = 0; k < 3; k++) {
			double off = noise * normal(seed, (uint)(3 * i + k));

			if (i < wrong)
				off += 8 * uniform(seed + 9, (uint)(3 * i + k)) - 3;
			cloud->x[i][k] += off;
			mean[k] += cloud->x[i][k] / POINTS;
		}
	}
	for (size_t k = 0; k < 3; k++) {
		cloud->about[k] = centre[k] + mean[k];
		for (size_t i = 0; i < POINTS; i++)
			cloud->x[i][k] -= mean[k];
	}
}

static double
dot(const double a[3], const double b[3])
{
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Errors: of the axis's tilts along u and v in rad; of the place along u, v and the axis; of the
 * radius. A plane's place is along the normal, a cylinder's across the axis, else 0. */
static void
errors(const struct cloud *cloud, const struct fit *fit, double out[6])
{
	double q[3], sign = dot(fit->shape.axis, axis) < 0 ? -1 : 1, along;

	for (int k = 0; k < 3; k++)
		q[k] = fit->shape.centre[k] + cloud->about[k] - centre[k];
	memset(out, 0, 6 * sizeof(*out));
	if (fit->shape.kind != SHAPE_SPHERE) {
		out[0] = sign * dot(fit->shape.axis, u);
		out[1] = sign * dot(fit->shape.axis, v);
	}
	along = dot(q, axis);
	if (fit->shape.kind == SHAPE_PLANE) {
		/* the plane's height over the true centre */
		out[4] = sign * dot(q, fit->shape.axis);
	} else {
		/* the cylinder's place where it passes the true centre's plane */
		out[2] = dot(q, u) - (fit->shape.kind == SHAPE_CYLINDER ? along * out[0] : 0);
		out[3] = dot(q, v) - (fit->shape.kind == SHAPE_CYLINDER ? along * out[1] : 0);
		out[4] = fit->shape.kind == SHAPE_SPHERE ? along : 0;
		out[5] = fit->shape.radius - RADIUS;
	}
}

static void
fit_cloud(enum shape_kind kind, uint seed, double noise, size_t wrong, bool robust, struct fit *fit,
    double error[6])
{
	struct shape shape = { .kind = kind };
	struct fit_options options = { .robust = robust };
	struct cloud cloud;

	make_cloud(kind, seed, noise, wrong, &cloud);
	if (fit_shape(NULL, &cloud, &shape, &options, fit) < 0)
		fail_print();
	assert_non_null(fit->distance);
	errors(&cloud, fit, error);
	cloud_free(&cloud);
}

static void
exact(void **state)
{
	struct fit fit;
	double error[6];

	(void)state;
	for (int kind = SHAPE_PLANE; kind <= SHAPE_CYLINDER; kind++)
		for (int robust = 0; robust < 2; robust++) {
			fit_cloud((enum shape_kind)kind, 1, 0, 0, robust, &fit, error);
			for (int i = 0; i < 6; i++)
				assert_true(fabs(error[i]) < 5e-14);
			assert_true(fit.rms < 2e-15);
			fit_free(&fit);
		}
}

/* 10 % of the points are wrong, the others exact: not even their weights make a difference. */
static void
exact_but_a_tenth(void **state)
{
	struct fit fit;
	double error[6];

	(void)state;
	for (int kind = SHAPE_PLANE; kind <= SHAPE_CYLINDER; kind++) {
		fit_cloud((enum shape_kind)kind, 1, 0, POINTS / 10, true, &fit, error);
		for (int i = 0; i < 6; i++)
			assert_true(fabs(error[i]) < 8e-14);
		assert_true(fit.used <= POINTS - POINTS / 10 + 2);
		fit_free(&fit);
	}
}

/* Over many trials: the scatter of each parameter is its stated standard deviation. */
static void
check_scatter(enum shape_kind kind, size_t wrong, bool robust)
{
	double squares[6] = { 0 }, stated[6] = { 0 };

	for (uint t = 0; t < TRIALS; t++) {
		struct fit fit;
		double error[6], sd[3], across, tilt;

		fit_cloud(kind, 100 + t, 0.02, wrong, robust, &fit, error);
		across = fit_sd_centre(&fit, sd);
		tilt = fit_sd_axis(&fit);
		for (int i = 0; i < 6; i++)
			squares[i] += error[i] * error[i];
		if (kind != SHAPE_SPHERE) {
			stated[0] += tilt * tilt;
			stated[4] += across * across;
		} else
			for (int k = 0; k < 3; k++)
				stated[2] += sd[k] * sd[k];
		stated[5] += kind == SHAPE_PLANE ? 0 : pow(fit_sd_radius(&fit), 2);
		fit_free(&fit);
	}
	if (SANITIZED)
		return;
	if (kind == SHAPE_SPHERE) {
		double seen = squares[2] + squares[3] + squares[4];

		assert_true(fabs(sqrt(seen / stated[2]) - 1) < 0.15);
	} else {
		/* the largest of all directions is no less than that of either */
		double seen = sqrt(fmax(squares[0], squares[1]) / stated[0]);

		assert_true(seen > 0.75 && seen < 1.15);
	}
	if (kind == SHAPE_PLANE)
		assert_true(fabs(sqrt(squares[4] / stated[4]) - 1) < 0.15);
	else
		assert_true(fabs(sqrt(squares[5] / stated[5]) - 1) < 0.15);
}

static void
scatter(void **state)
{
	(void)state;
	for (int kind = SHAPE_PLANE; kind <= SHAPE_SPHERE; kind++) {
		check_scatter((enum shape_kind)kind, 0, false);
		check_scatter((enum shape_kind)kind, 0, true);
		check_scatter((enum shape_kind)kind, POINTS / 10, true);
	}
	check_scatter(SHAPE_CYLINDER, 0, false);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact),
		cmocka_unit_test(exact_but_a_tenth),
		cmocka_unit_test(scatter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
