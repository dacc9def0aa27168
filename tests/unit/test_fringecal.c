/* fringecal's solver on points that no table has rounded, and its derivatives. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include <cmocka.h>

#include "../../tools/fringecal/fringecal.h"

#define POSES 12
#define CORNERS 88

/* fx fy cx cy k1 k2 p1 p2 k3 of camera and projector, and the second one's pose */
static const double truth[2][9] = { { 2100, 2098, 645, 505, -0.08, 0.11, 6e-4, -4e-4, 0.05 },
	{ 2000, 2003, 950, 560, 0.03, -0.05, -3e-4, 5e-4, 0.02 } };
static const double pose[6] = { 0.01, 0.31, 0.02, -191, -16, 30 };

/* Rodrigues' formula */
static void
turn(const double r[3], const double X[3], double out[3])
{
	double angle = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
	double k[3] = { r[0] / angle, r[1] / angle, r[2] / angle }, dot = 0;
	const double cross[3] = { k[1] * X[2] - k[2] * X[1], k[2] * X[0] - k[0] * X[2],
		k[0] * X[1] - k[1] * X[0] };

	for (size_t i = 0; i < 3; i++)
		dot += k[i] * X[i];
	for (size_t i = 0; i < 3; i++)
		out[i] = X[i] * cos(angle) + cross[i] * sin(angle) + k[i] * dot * (1 - cos(angle));
}

static void
project(const double *p, const double X[3], double uv[2])
{
	double x = X[0] / X[2], y = X[1] / X[2], r = x * x + y * y;
	double radial = 1 + r * (p[4] + r * (p[5] + r * p[8]));

	uv[0] = p[0] * (x * radial + 2 * p[6] * x * y + p[7] * (r + 2 * x * x)) + p[2];
	uv[1] = p[1] * (y * radial + p[6] * (r + 2 * y * y) + 2 * p[7] * x * y) + p[3];
}

static void
make(struct calib_problem *problem)
{
	const struct calib_device device[2] = {
		{ "camera", CALIB_CAMERA, CALIB_OPENCV5, 1280, 1024, false, false },
		{ "projector", CALIB_PROJECTOR, CALIB_OPENCV5, 1920, 1080, false, false } };
	const struct board board = { BOARD_CHESS, 11, 8, 15 };

	*problem = (struct calib_problem){ .reject = 3.5 };
	assert_int_equal(calib_board_set(&problem->board, &board), 0);
	for (size_t d = 0; d < 2; d++)
		calib_problem_add_device(problem, &device[d]);
	for (size_t p = 0; p < POSES; p++) {
		double a = 2.4 * (double)p;
		double r[3] = { 0.4 * cos(a), 0.4 * sin(a), 0.05 * (double)p - 0.3 };
		struct calib_point point[2][CORNERS];

		for (size_t k = 0; k < CORNERS; k++) {
			const double X[3] = { 15.0 * (double)(k % 11) - 75,
				15.0 * (double)(k / 11) - 52, 0 };
			double Y[3], Z[3], uv[2];

			turn(r, X, Y);
			Y[0] += 50 * sin(3 * a);
			Y[1] += 35 * cos(5 * a);
			Y[2] += 620 + 50 * sin(7 * a);
			turn(pose, Y, Z);
			for (size_t i = 0; i < 3; i++)
				Z[i] += pose[3 + i];
			for (size_t d = 0; d < 2; d++) {
				project(truth[d], d ? Z : Y, uv);
				point[d][k] = (struct calib_point){ uv[0], uv[1], { 0.05, 0.05 },
					(int)(k % 11), (int)(k / 11) };
			}
		}
		for (size_t d = 0; d < 2; d++)
			calib_problem_add_view(problem, d, p, 0, point[d],
			    CORNERS);
	}
}

static void
exact_points(void **state)
{
	struct calib_problem problem;
	struct calib_solution solution;

	(void)state;
	make(&problem);
	assert_int_equal(calib_solve(&problem, &solution), 0);
	for (size_t d = 0; d < 2; d++)
		for (size_t k = 0; k < 9; k++)
			assert_float_equal(solution.intrinsics[d][k], truth[d][k],
			    k < 4 ? 2.4e-12 : 2.7e-12);
	for (size_t k = 0; k < 6; k++)
		assert_float_equal(k < 3 ? solution.rotation[1][k] : solution.device[1].T[k - 3],
		    pose[k], k < 3 ? 1.2e-15 : 4.2e-13);
	assert_true(solution.rms < 1.8e-13);
	for (size_t k = 0; k < problem.points; k++)
		assert_false(solution.residual[k].rejected);
	pool_free(&solution.pool);
	calib_problem_free(&problem);
}

/* Every derivative beside a difference quotient. */
static void
derivatives(void **state)
{
	struct calib_problem problem;
	struct residuals r;
	size_t rows, wrong = 0;
	double *x[2], *value, *free_state;
	int *begin, *of;

	(void)state;
	make(&problem);
	problem.warp = true;
	residuals_init(&r, &problem);
	rows = 2 * problem.points;
	for (size_t k = 0; k < 2; k++)
		assert_non_null(x[k] = calloc(rows, sizeof(*x[k])));
	assert_non_null(begin = calloc(rows + 1, sizeof(*begin)));
	assert_non_null(of = calloc(r.elements, sizeof(*of)));
	assert_non_null(value = calloc(r.elements, sizeof(*value)));
	assert_non_null(free_state = calloc(r.states, sizeof(*free_state)));
	for (size_t d = 0; d < 2; d++)
		memcpy(r.parameter + calib_parameter_intrinsics(&problem, d), truth[d],
		    sizeof(truth[d]));
	memcpy(r.parameter + calib_parameter_pose(&problem, 1), pose, sizeof(pose));
	r.parameter[r.shared - 2] = 0.3;
	for (size_t p = 0; p < POSES; p++)
		memcpy(r.parameter + r.shared + 6 * p,
		    (double[6]){ 0.3, -0.2, 0.1 * (double)p, -60, -40, 600 }, 6 * sizeof(double));
	residuals_evaluate(&r, x[0], begin, of, value);
	assert_int_equal(begin[rows], r.elements);
	residuals_get(&r, free_state);
	for (size_t s = 0; s < r.states; s++) {
		double step = 1e-6 * fmax(fabs(free_state[s]), 1), was = free_state[s];

		for (size_t k = 0; k < 2; k++) {
			free_state[s] = was + (k ? step : -step);
			residuals_set(&r, free_state);
			residuals_evaluate(&r, x[k], NULL, NULL, NULL);
		}
		free_state[s] = was;
		for (size_t i = 0; i < rows; i++) {
			double quotient = (x[1][i] - x[0][i]) / (2 * step), exact = 0;

			for (int e = begin[i]; e < begin[i + 1]; e++)
				exact += (size_t)of[e] == s ? value[e] : 0;
			wrong += !(fabs(quotient - exact) < 5e-7 * fmax(fabs(exact), 10));
		}
	}
	assert_int_equal(wrong, 0);
	for (size_t k = 0; k < 2; k++)
		free(x[k]);
	free(begin);
	free(of);
	free(value);
	free(free_state);
	pool_free(&r.pool);
	calib_problem_free(&problem);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(exact_points),
		cmocka_unit_test(derivatives) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
