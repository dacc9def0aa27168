/* The words of px.h against double precision. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/px.h"

#define N 2000000u

static double
ulp(double x)
{
	return nextafterf((float)fabs(x), INFINITY) - (float)fabs(x);
}

/* A number in (low, high) that depends on i only. */
static float
number(uint i, float low, float high)
{
	return low + (high - low) * px_uniform(px_hash(i));
}

/* Keeps the largest error and where it is. A NaN counts as larger than any, and stays. */
static void
see(double *worst, double *at, double error, double x)
{
	if (!isnan(*worst) && !(error <= *worst)) {
		*worst = error;
		*at = x;
	}
}

static void
check(const char *what, double worst, double allowed, double at)
{
	printf("# %s: at most %.2f, at %.9g\n", what, worst, at);
	if (!(worst <= allowed))
		fail_msg("%s: %g at %.9g, allowed %g", what, worst, at, allowed);
}

static void
test_atan2(void **state)
{
	double worst = 0, at = 0;

	(void)state;
	for (uint i = 0; i < N; i++) {
		float a = number(2 * i, -3.14159f, 3.14159f),
		      r = px_exp(number(2 * i + 1, -20, 20));
		float s = r * sinf(a), c = r * cosf(a);
		double truth = atan2(s, c);

		see(&worst, &at, fabs(px_atan2(s, c) - truth) / ulp(truth), a);
	}
	check("atan2, ulp", worst, 3, at);
}

static void
test_atan2_special(void **state)
{
	(void)state;
	assert_true(px_atan2(0, 0) == 0);
	assert_true(px_atan2(0, 1) == 0);
	assert_true(px_atan2(0, -1) == PX_PI);		/* not -pi: methods 2: why 0 - S */
	assert_true(px_atan2(-0.0f, -1) == -PX_PI);
	assert_true(px_atan2(1, 0) == PX_HALF_PI);
	assert_true(px_atan2(-1, 0) == -PX_HALF_PI);
	assert_true(px_isnan(px_atan2(NAN, 1)) && px_isnan(px_atan2(1, NAN)));
	assert_true(px_isnan(NAN) && px_isnan(-NAN) && !px_isnan(INFINITY) && !px_isnan(0));
}

static void
test_sin_cos(void **state)
{
	double worst = 0, at = 0;

	(void)state;
	for (uint i = 0; i < N; i++) {
		float x = number(i, -1e4f, 1e4f) * (i % 2 ? 1 : 1e-3f);

		see(&worst, &at, fabs(px_sin(x) - sin(x)) / ulp(1), x);
		see(&worst, &at, fabs(px_cos(x) - cos(x)) / ulp(1), x);
	}
	check("sin and cos, ulp of 1", worst, 2, at);
}

static void
test_wrap(void **state)
{
	double worst = 0, at = 0;

	(void)state;
	for (uint i = 0; i < N; i++) {
		float x = number(i, -2e5f, 2e5f) * (i % 2 ? 1 : 1e-4f);
		double error = remainder(px_wrap(x) - (double)x, 2 * M_PI);

		see(&worst, &at, fabs(error) / (ulp(x) + ulp(M_PI)), x);
		assert_true(px_abs(px_wrap(x)) <= PX_PI * 1.0000005f);
	}
	check("wrap, ulp of x and of pi", worst, 1, at);
}

static void
test_exp_log(void **state)
{
	double worst = 0, worst_log = 0, at = 0;

	(void)state;
	for (uint i = 0; i < N; i++) {
		float x = number(i, -87, 88), y = px_exp(number(i ^ 0x55555u, -80, 80));

		see(&worst, &at, fabs(px_exp(x) - exp(x)) / ulp(exp(x)), x);
		see(&worst_log, &at, fabs(px_log(y) - log(y)) / fmax(ulp(log(y)), ulp(0.05)), y);
	}
	check("exp, ulp", worst, 2, at);
	check("log, ulp", worst_log, 2, at);
	assert_true(px_exp(-100) == 0);
}

static void
test_round(void **state)
{
	(void)state;
	assert_true(px_round(0.5f) == 1 && px_round(-0.5f) == 0 && px_round(2.4f) == 2);
	assert_true(px_min(1, 2) == 1 && px_max(1, 2) == 2);
	assert_true(px_smaller(0, 1e-30f) == 0 && px_larger(0, 1e-30f) == 1e-30f);
	assert_true(px_isnan(px_larger(NAN, INFINITY)) && px_smaller(INFINITY, 2) == 2);
	assert_true(px_abs(-3) == 3);
}

/* Mean and variance of uniforms, and no correlation between neighbours. */
static void
test_hash(void **state)
{
	double sum = 0, squares = 0, products = 0, before = 0;

	(void)state;
	for (uint i = 0; i < N; i++) {
		double v = px_uniform(px_hash(px_hash(7) ^ i)) - 0.5;

		sum += v;
		squares += v * v;
		products += v * before;
		before = v;
	}
	assert_true(fabs(sum / N) < 3 * sqrt(1.0 / 12 / N));
	assert_true(fabs(squares / N - 1.0 / 12) < 3 * sqrt(1.0 / 180 / N));
	assert_true(fabs(products / N) < 3.0 / 12 / sqrt(N));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_atan2), cmocka_unit_test(test_atan2_special),
		cmocka_unit_test(test_sin_cos), cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_exp_log), cmocka_unit_test(test_round),
		cmocka_unit_test(test_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
