/* Rigid motions and steps of a fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#undef fail	/* cmocka's macro would hide ours */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "points/icp.h"

static const struct pose_list none;

/* Loads poses from a text; the number of them, -1 after fail(). */
static int
load(const char *text, struct pose_list *list)
{
	char path[] = "/tmp/test_points.XXXXXX";
	int fd = mkstemp(path), status;

	fail_clear();
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	status = pose_list_load(path, list);
	unlink(path);
	return status < 0 ? -1 : (int)list->n;
}

static void
expect_refusal(const char *text, const char *message)
{
	struct pose_list list;

	assert_int_equal(load(text, &list), -1);
	if (!strstr(fail_message(), message))
		fprintf(stderr, "'%s' lacks '%s'\n", fail_message(), message);
	assert_non_null(strstr(fail_message(), message));
	fail_clear();
	assert_int_equal(list.n, 0);
}

static void
test_pose_text(void **state)
{
	static const double R[9] = { 0, -1, 0, 1, 0, 0, 0, 0, 1 }, T[3] = { 1, 2, 3 };
	static const char *const texts[] = {
		"0 -1 0 1\n1 0 0 2\n0 0 1 3\n0 0 0 1\n",
		"# a comment 7\n[0, -1, 0, 1; 1, 0, 0, 2; 0, 0, 1, 3]",
		"0 -1 0 | 1\n1 0 0 | 2\n0 0 1 | 3",
		"0 -1 0 1 0 0 0 0 1 | 1 2 3",
		"0 -1 0  1 0 0  0 0 1  1 2 3",
	};
	struct pose_list list = none;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		assert_int_equal(load(texts[i], &list), 1);
		for (size_t k = 0; k < 9; k++)
			assert_true(list.v[0].R[k] == R[k]);
		assert_memory_equal(list.v[0].T, T, sizeof(T));
		pose_list_free(&list);
	}
	assert_int_equal(load("1 0 0 0 0 1 0 0 0 0 1 0\n1 0 0 5 0 1 0 0 0 0 1 0", &list), 2);
	assert_true(list.v[1].T[0] == 5);
	pose_list_free(&list);
	/* four digits are taken, and made a rotation */
	assert_int_equal(load("0.8660 -0.5 0 0 0.5 0.8660 0 0 0 0 1 0", &list), 1);
	assert_true(fabs(list.v[0].R[0] - sqrt(0.75)) < 7.6e-6);
	assert_true(fabs(list.v[0].R[0] * list.v[0].R[0] + 0.25 - 1) < 1.3e-5);
	pose_list_free(&list);
	expect_refusal("", "has no poses");
	expect_refusal("1 2 3", "3 numbers");
	expect_refusal("1 0 0 0 0 1 0 0 0 0 1 nan", "not 'nan'");
	expect_refusal("1 0 0 0 0 1 0 x 0 0 1 0", "not 'x'");
	expect_refusal("2 0 0 0 0 2 0 0 0 0 2 0", "it scales by 2");
	expect_refusal("-1 0 0 0 0 1 0 0 0 0 1 0", "it mirrors");
	expect_refusal("1 0.1 0 0 0 1 0 0 0 0 1 0", "pose 1 is no rigid motion");
	expect_refusal("0 0 0 0 0 0 0 0 0 0 0 0", "pose 1 is no rigid motion");
}

static void
test_pose_twist(void **state)
{
	const double center[3] = { 3, -2, 7 }, shift[3] = { 0.5, 0.25, -1 };
	double turns[][3] = { { 0, 0, 0 }, { 1e-10, 0, 0 }, { 0.3, -1, 0.2 }, { 0, M_PI, 0 } };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct pose pose, inverse, both;
		double to[3], turn[3];

		pose_from_twist(turns[i], shift, center, &pose);
		pose_apply(&pose, center, to);
		pose_turn(&pose, turn);
		for (size_t k = 0; k < 3; k++) {
			assert_true(fabs(to[k] - center[k] - shift[k]) < 6e-16);
			assert_true(turn[k] == turns[i][k]);
		}
		pose_invert(&pose, &inverse);
		pose_compose(&inverse, &pose, &both);
		for (size_t k = 0; k < 9; k++)
			assert_true(fabs(both.R[k] - pose_identity.R[k]) < 1.1e-15);
		for (size_t k = 0; k < 3; k++)
			assert_true(both.T[k] == 0);
	}
}

enum shape { PLANE, SPHERE, CYLINDER, WAVES };

#define N 20000

/* Pairs on a surface whose points lie where `off` has moved them from it (first order), a tenth of
 * them gross. */
static struct rigid_pair *
make_pairs(enum shape shape, const double turn[3], const double shift[3])
{
	struct rigid_pair *pair = calloc(N, sizeof(*pair));

	assert_non_null(pair);
	for (size_t i = 0; i < N; i++) {
		double x = (double)(i % 200) / 100 - 0.995, y = (double)i / N * 2 - 1;
		double slope_x = shape == SPHERE ? -x : shape == WAVES ?
		    0.5 * cos(5 * x) * cos(3 * y)
		    : 0;
		double slope_y = shape == SPHERE ? -y : shape == WAVES ?
		    -0.3 * sin(5 * x) * sin(3 * y)
		    : 0;
		double z = shape == WAVES ? 0.1 * sin(5 * x) * cos(3 * y) : 0, length, d = 0;
		double p[3] = { 10 * x, 10 * y, 10 * z + 500 };
		double n[3] = { -slope_x, -slope_y, 1 };

		if (shape == SPHERE)
			p[2] = 500 + (n[2] = sqrt(fmax(0, 10 - x * x - y * y))) * 10;
		if (shape == CYLINDER) {
			n[0] = sin(x);
			n[2] = cos(x);
			p[0] = 10 * n[0];
			p[2] = 10 * n[2] + 500;
		}
		if (shape == SPHERE) {
			n[0] = x;
			n[1] = y;
		}
		length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
		for (size_t k = 0; k < 3; k++) {
			n[k] /= length;
			pair[i].point[k] = (float)p[k];
			pair[i].normal[k] = (float)n[k];
		}
		for (size_t k = 0; k < 3; k++) {
			double r[3] = { p[0], p[1], p[2] - 500 };

			d -= n[k] * (shift[k] + turn[(k + 1) % 3] * r[(k + 2) % 3] -
			    turn[(k + 2) % 3] * r[(k + 1) % 3]);
		}
		pair[i].residual = (float)(i % 10 == 3 ? d + 50 : i % 100 == 7 ? NAN : d);
	}
	return pair;
}

static void
test_step(void **state)
{
	const double turn[3] = { 1e-5, -2e-5, 3e-5 }, shift[3] = { 1e-4, 2e-4, -3e-4 };
	struct rigid_pair *pair = make_pairs(WAVES, turn, shift);
	struct rigid_step step;
	struct rigid_freedom freedom;
	double got[3], back[3] = { 0, 0, 500 };

	(void)state;
	assert_int_equal(rigid_step_solve(NULL, pair, N, INFINITY, &step), 0);
	assert_true(step.pairs == N / 100 * 99);
	assert_true(step.used <= N / 100 * 89 && step.used > N / 100 * 80);
	pose_turn(&step.motion, got);
	pose_apply(&step.motion, back, back);
	for (size_t k = 0; k < 3; k++) {
		assert_true(fabs(got[k] + turn[k]) < 7e-14);
		assert_true(fabs(back[k] - (k == 2 ? 500 : 0) + shift[k]) < 5.2e-11);
	}
	rigid_step_freedom(NULL, pair, N, &step, &freedom);
	assert_int_equal(freedom.free, 0);
	free(pair);
}

static void
test_freedom(void **state)
{
	static const struct {
		enum shape shape;
		size_t free;
	} cases[] = { { PLANE, 3 }, { SPHERE, 3 }, { CYLINDER, 2 } };
	const double turn[3] = { 0, 0, 0 }, shift[3] = { 0, 0, 1e-4 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct rigid_pair *pair = make_pairs(cases[i].shape, turn, shift);
		struct rigid_step step;
		struct rigid_freedom freedom;

		assert_int_equal(rigid_step_solve(NULL, pair, N, INFINITY, &step), 0);
		rigid_step_freedom(NULL, pair, N, &step, &freedom);
		assert_int_equal(freedom.free, cases[i].free);
		assert_true(strstr(freedom.motion, "the ") == freedom.motion);
		free(pair);
	}
	assert_int_equal(rigid_step_solve(NULL, NULL, 0, INFINITY,
	    &(struct rigid_step){ 0 }), -1);
	fail_clear();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pose_text),
		cmocka_unit_test(test_pose_twist),
		cmocka_unit_test(test_step),
		cmocka_unit_test(test_freedom),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
