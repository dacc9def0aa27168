/* Derivatives of smoothed images against closed forms: constant, ramp, parabola, Gaussian blob. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#undef fail	/* cmocka's macro would hide ours */

#include "base/fail.h"
#include "feature/corner.h"

#define W 61
#define H 53
#define STRIDE 64

static float image[H][STRIDE] __attribute__((aligned(64)));
static float result[DERIVATIVES][H][STRIDE] __attribute__((aligned(64)));
static const struct derivative_plane plane = { image[0], W, H, STRIDE };

static void
all_rows(const struct derivative_kernels *k)
{
	float *work = aligned_alloc(64, derivatives_work(k, W) * sizeof(float));

	assert_non_null(work);
	for (size_t y = 0; y < H; y++) {
		derivatives_row(k, &plane, y, work, (float *const[DERIVATIVES]){ result[0][y],
		    result[1][y], result[2][y], result[3][y], result[4][y] });
	}
	free(work);
}

/* The second derivatives alone have the bits of result[]. */
static void
second_alone(const struct derivative_kernels *k)
{
	static float alone[3][STRIDE] __attribute__((aligned(64)));
	float *work = aligned_alloc(64, derivatives_work(k, W) * sizeof(float));

	assert_non_null(work);
	for (size_t y = 0; y < H; y++) {
		derivatives_row(k, &plane, y, work, (float *const[DERIVATIVES]){ NULL, NULL,
		    alone[0], alone[1], alone[2] });
		for (size_t d = 0; d < 3; d++)
			assert_memory_equal(alone[d], result[DERIVATIVE_XX + d][y],
			    W * sizeof(float));
	}
	free(work);
}

static void
near_to(const char *what, double seen, double expected, double tolerance)
{
	if (fabs(seen - expected) <= tolerance)
		return;
	printf("%s: %.9g, expected %.9g\n", what, seen, expected);
	assert_true(0);
}

static const char *const names[DERIVATIVES] = { "x", "y", "xx", "xy", "yy" };

static const double *
values(const struct derivatives *d, double to[DERIVATIVES])
{
	to[0] = d->x;
	to[1] = d->y;
	to[2] = d->xx;
	to[3] = d->xy;
	to[4] = d->yy;
	return to;
}

/* a + b x + c y + d x^2 + e x y + f y^2, at pixels whose window lies in the image and at points. */
static void
quadratic(void **state)
{
	const double p[6] = { 7, 0.5, -0.25, 0.0625, -0.03125, 0.015625 };
	const double sigmas[] = { 0.8, 1, 1.37, 2, 4.5 };
	struct derivative_kernels k;

	(void)state;
	for (int y = 0; y < H; y++) {
		for (int x = 0; x < W; x++)
			image[y][x] = (float)(p[0] + p[1] * x + p[2] * y + p[3] * x * x +
			    p[4] * x * y + p[5] * y * y);
	}
	for (size_t s = 0; s < 5; s++) {
		size_t r = derivatives_radius(sigmas[s]) + 1;

		assert_int_equal(derivative_kernels_init(&k, sigmas[s], 0), 0);
		all_rows(&k);
		for (size_t y = r; y < H - r; y++) {
			for (size_t x = r; x < W - r; x++) {
				/* a point, too, a little off the pixel */
				double column = (double)x, line = (double)y;
				double u[2] = { column, column + 0.37 * sin(3 * column + line) };
				double v[2] = { line, line + 0.49 * cos(column + 2 * line) };
				struct derivatives at;
				double five[DERIVATIVES];

				derivatives_at(&k, &plane, u[1], v[1], &at);
				values(&at, five);
				for (int i = 0; i < 2; i++) {
					double want[DERIVATIVES] = {
						p[1] + 2 * p[3] * u[i] + p[4] * v[i],
						p[2] + p[4] * u[i] + 2 * p[5] * v[i],
						2 * p[3], p[4], 2 * p[5] };

					for (int d = 0; d < DERIVATIVES; d++)
						near_to(names[d], i ? five[d] :
						    (double)result[d][y][x],
						    want[d], i ? 1e-10 : 1e-4);
				}
			}
		}
	}
}

/* A normal distribution of standard deviation s integrated over a pixel about u, derived. */
static double
blob(double u, double s, int order)
{
	double a = (u - 0.5) / s, b = (u + 0.5) / s, scale = 1 / (s * sqrt(2 * M_PI));
	double ga = scale * exp(-a * a / 2), gb = scale * exp(-b * b / 2);

	return order == 0 ? (erf(b * M_SQRT1_2) - erf(a * M_SQRT1_2)) / 2 : order == 1 ? gb - ga :
	    (ga * a - gb * b) / s;
}

/* A blob of samples: its derivatives are those of a wider one integrated over a pixel, as the
 * kernels are, but for what the kernel's end cuts off. */
static void
gaussian_blob(void **state)
{
	const double w = 2, sigmas[] = { 1, 1.5, 2 }, center[2] = { 29.8, 26.3 };
	struct derivative_kernels k;

	(void)state;
	for (int y = 0; y < H; y++) {
		for (int x = 0; x < W; x++)
			image[y][x] = (float)(exp(-pow(x - center[0], 2) / (2 * w * w)) *
			    exp(-pow(y - center[1], 2) / (2 * w * w)));
	}
	for (size_t s = 0; s < 6; s++) {
		double sigma = sigmas[s % 3], wide = hypot(sigma, w), height = 2 * M_PI * w * w;
		/* at 4 sigma 6e-5 of the Gaussian is cut off, and 20 times that of its second
		 * derivative; at 7 sigma nothing that floats show, and at sigma 1 the blob's own
		 * aliasing is 1e-6 */
		double tolerance = s < 3 ? 5e-4 : sigma < 1.5 ? 3e-6 : 1e-6;

		assert_int_equal(derivative_kernels_init(&k, sigma,
		    s < 3 ? 0 : (size_t)ceil(7 * sigma)), 0);
		all_rows(&k);
		second_alone(&k);
		for (int y = 0; y < H; y++) {
			for (int x = 0; x < W; x++) {
				double u[2] = { x, x + 0.37 * sin(3 * x + y) };
				double v[2] = { y, y + 0.49 * cos(x + 2 * y) };
				struct derivatives at;
				double five[DERIVATIVES];

				derivatives_at(&k, &plane, u[1], v[1], &at);
				values(&at, five);
				for (int i = 0; i < 2; i++) {
					double a = u[i] - center[0], b = v[i] - center[1];
					double want[DERIVATIVES] = {
						blob(a, wide, 1) * blob(b, wide, 0),
						blob(a, wide, 0) * blob(b, wide, 1),
						blob(a, wide, 2) * blob(b, wide, 0),
						blob(a, wide, 1) * blob(b, wide, 1),
						blob(a, wide, 0) * blob(b, wide, 2) };

					for (int d = 0; d < DERIVATIVES; d++)
						near_to(names[d], i ? five[d] :
						    (double)result[d][y][x],
						    height * want[d], tolerance);
				}
			}
		}
	}
}

/* At the border the image goes on with its last pixel; a NaN spoils its window alone. */
static void
borders(void **state)
{
	struct derivative_kernels k;

	(void)state;
	for (int y = 0; y < H; y++) {
		for (int x = 0; x < W; x++)
			image[y][x] = 42;
	}
	assert_int_equal(derivative_kernels_init(&k, 1, 0), 0);
	image[20][30] = NAN;
	all_rows(&k);
	for (int d = 0; d < DERIVATIVES; d++) {
		for (int y = 0; y < H; y++) {
			for (int x = 0; x < W; x++) {
				if (abs(x - 30) <= 4 && abs(y - 20) <= 4)
					assert_true(isnan(result[d][y][x]));
				else
					near_to("constant", (double)result[d][y][x], 0, 2e-5);
			}
		}
	}
}

static void
bad_kernels(void **state)
{
	static struct derivative_kernels k;

	(void)state;
	assert_int_equal(derivative_kernels_init(&k, 0.79, 0), -1);
	assert_int_equal(derivative_kernels_init(&k, NAN, 0), -1);
	assert_int_equal(derivative_kernels_init(&k, 65, 0), -1);
	assert_int_equal(derivative_kernels_init(&k, 1e300, 0), -1);
	assert_int_equal(derivative_kernels_init(&k, 2, 3), -1);
	assert_int_equal(derivative_kernels_init(&k, 64, 0), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quadratic),
		cmocka_unit_test(gaussian_blob),
		cmocka_unit_test(borders),
		cmocka_unit_test(bad_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
