#include "levenberg.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/symmetric.h"

#define ROUNDS 50

struct space {
	double *r, *plus, *minus;	/* residuals */
	double *jacobian;		/* of parameter i: jacobian[i residuals ..] */
	double normal[LEVENBERG_MOST * LEVENBERG_MOST], gradient[LEVENBERG_MOST];
};

static double
sum_of_squares(const double *r, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += r[i] * r[i];
	return sum;
}

static void
linearise(const struct levenberg *fit, struct space *space)
{
	size_t n = fit->parameters, m = fit->residuals;
	double step[LEVENBERG_MOST] = { 0 };

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

/* A step from this linearisation that makes the squares less; false: there is none. *much: it
 * changed them by more than rounding does. */
static bool
improve(const struct levenberg *fit, struct space *space, double *lambda, double *squares,
    bool *much)
{
	size_t n = fit->parameters;

	for (; *lambda < 1e12; *lambda *= 10) {
		double a[LEVENBERG_MOST * LEVENBERG_MOST], step[LEVENBERG_MOST], now;

		memcpy(a, space->normal, n * n * sizeof(*a));
		memcpy(step, space->gradient, n * sizeof(*step));
		for (size_t i = 0; i < n; i++)
			a[i * n + i] *= 1 + *lambda;
		if (!symmetric_factor(n, a, 1e-14))
			continue;
		symmetric_solve(n, a, step, 1);
		fit->residual(fit->state, step, space->plus);
		now = sum_of_squares(space->plus, fit->residuals);
		if (!(now < *squares))
			continue;
		*much = now < *squares * (1 - 1e-12);
		*squares = now;
		fit->take(fit->state, step);
		fit->residual(fit->state, (double[LEVENBERG_MOST]){ 0 }, space->r);
		*lambda = fmax(*lambda / 10, 1e-12);
		return true;
	}
	return false;
}

int
levenberg_fit(const struct levenberg *fit, double *squares)
{
	size_t n = fit->parameters, m = fit->residuals;
	struct space space;
	double *memory = calloc((n + 3) * m + 1, sizeof(*memory)), lambda = 1e-4;
	bool much = true;

	if (!memory)
		return fail_memory();
	space.r = memory;
	space.plus = memory + m;
	space.minus = memory + 2 * m;
	space.jacobian = memory + 3 * m;
	fit->residual(fit->state, (double[LEVENBERG_MOST]){ 0 }, space.r);
	*squares = sum_of_squares(space.r, m);
	for (int i = 0; i < ROUNDS && much; i++) {
		linearise(fit, &space);
		if (!improve(fit, &space, &lambda, squares, &much))
			break;
	}
	free(memory);
	return 0;
}
