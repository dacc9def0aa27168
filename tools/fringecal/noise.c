#include "noise.h"

#include <math.h>

#define SURE 3			/* standard deviations of what is more than chance */
#define BISECTIONS 40
#define SAME 0.01		/* changes of the excess below that share are none */

bool
noise_find_sigma(struct solve *solve)
{
	const struct calib_problem *problem = solve->problem;
	bool changed = false;

	if (problem->equal_weights || problem->devices == 1)
		return false;
	for (size_t v = 0; v < problem->views; v++) {
		const struct calib_view *view = &problem->view[v];

		if (problem->device[view->device].sigma_unknown && solve->scale[view->device] > 0)
			for (size_t i = 2 * view->first; i < 2 * (view->first + view->n); i++) {
				solve->base[i] /= solve->scale[view->device];
				solve->x[i] /= solve->scale[view->device];
			}
	}
	for (size_t d = 0; d < problem->devices; d++)
		if (problem->device[d].sigma_unknown && solve->scale[d] > 0) {
			solve->scale[d] = 1;
			changed = true;
		}
	return changed;
}

/* Standard deviations beyond which a mean square of n residuals is no chance. */
static double
most_square(double n)
{
	return n + SURE * sqrt(2 * n);
}

static double
variance_of(const struct solve *solve, size_t i, double e)
{
	double sigma = solve->problem->point[i / 2].sigma[i % 2];

	return sigma * sigma + e * e;
}

/* Residual in px. */
static double
residual_of(const struct solve *solve, size_t i)
{
	return solve->x[i] / solve->base[i];
}

double
noise_residual(const struct solve *solve, size_t device, size_t i)
{
	const struct calib_problem *problem = solve->problem;

	if (problem->equal_weights || problem->device[device].sigma_unknown)
		return fabs(solve->x[i]);
	return fabs(residual_of(solve, i)) /
	    sqrt(variance_of(solve, i, solve->device_excess[device]));
}

/* How many of a device's residuals, of *n, are more than 0.6745 standard deviations with an excess
 * of e px. */
static size_t
count_large(const struct solve *solve, size_t device, double e, size_t *n)
{
	const struct calib_problem *problem = solve->problem;
	size_t large = 0;

	*n = 0;
	for (size_t v = 0; v < problem->views; v++) {
		const struct calib_view *view = &problem->view[v];

		if (view->device != device)
			continue;
		for (size_t i = 2 * view->first; i < 2 * (view->first + view->n); i++)
			large += fabs(residual_of(solve, i)) > 0.6745 *
			    sqrt(variance_of(solve, i, e));
		*n += 2 * view->n;
	}
	return large;
}

/* The excess that has half of a device's residuals beyond 0.6745 standard deviations, wrong ones
 * too; 0 where sigma alone might. */
static double
find_device_excess(const struct solve *solve, size_t device)
{
	double low = 0, high = 1e-3;
	size_t n, large = count_large(solve, device, 0, &n);

	if ((double)large - (double)n / 2 <= SURE * sqrt((double)n / 4))
		return 0;
	while (high < 1e6 && 2 * count_large(solve, device, high, &n) > n)
		high *= 2;
	for (int k = 0; k < BISECTIONS; k++) {
		double e = (low + high) / 2;

		*(2 * count_large(solve, device, e, &n) > n ? &low : &high) = e;
	}
	return high;
}

/* Sum of squares of a view's residuals over the variances that an excess of e makes; of those that
 * lie within `most` standard deviations of the device's, *n. */
static double
sum_squares(const struct solve *solve, const struct calib_view *view, double most, double e,
    size_t *n)
{
	double sum = 0, scale = solve->scale[view->device];
	double excess = solve->device_excess[view->device];

	*n = 0;
	for (size_t i = 2 * view->first; i < 2 * (view->first + view->n); i++) {
		double px = residual_of(solve, i);

		if (fabs(px) > most * scale * sqrt(variance_of(solve, i, excess)))
			continue;
		sum += px * px / variance_of(solve, i, e);
		++*n;
	}
	return sum;
}

/* A view's own excess, by which the mean square is 1 (Paule and Mandel 1982), where it is not that
 * with the device's. */
static double
find_view_excess(const struct solve *solve, const struct calib_view *view, double most)
{
	double e = solve->device_excess[view->device], low = 0, high = 1e-3;
	size_t n;
	double sum = sum_squares(solve, view, most, e, &n);

	if (sum <= most_square((double)n) && sum >= 2 * (double)n - most_square((double)n))
		return e;
	if (sum_squares(solve, view, most, 0, &n) <= (double)n)
		return 0;
	while (high < 1e6 && sum_squares(solve, view, most, high, &n) > (double)n)
		high *= 2;
	for (int k = 0; k < BISECTIONS; k++) {
		e = (low + high) / 2;
		*(sum_squares(solve, view, most, e, &n) > (double)n ? &low : &high) = e;
	}
	return high;
}

/* Did it change? */
static bool
set_excess(struct solve *solve, size_t v, double e)
{
	const struct calib_view *view = &solve->problem->view[v];

	if (fabs(e - solve->excess[v]) <= SAME * fmax(e, solve->excess[v]))
		return false;
	solve->excess[v] = e;
	for (size_t i = 2 * view->first; i < 2 * (view->first + view->n); i++)
		solve->base[i] = 1 / sqrt(variance_of(solve, i, e));
	return true;
}

bool
noise_find_excess(struct solve *solve, double most)
{
	const struct calib_problem *problem = solve->problem;
	bool changed = false;

	if (problem->equal_weights)
		return false;
	for (size_t d = 0; d < problem->devices; d++) {
		solve->device_excess[d] = problem->device[d].sigma_unknown ? 0 :
		    find_device_excess(solve, d);
		if (solve->device_excess[d] > 0)
			solve->scale[d] = 1;
	}
	for (size_t v = 0; v < problem->views; v++) {
		const struct calib_view *view = &problem->view[v];

		solve->scratch[v] = problem->device[view->device].sigma_unknown ? 0 :
		    find_view_excess(solve, view, most);
	}
	for (size_t v = 0; v < problem->views; v++)
		changed |= set_excess(solve, v, solve->scratch[v]);
	if (changed)
		solve_measure(solve);
	/* the residuals' own standard deviation, of which the excess is made */
	for (size_t d = 0; d < problem->devices; d++)
		if (solve->device_excess[d] > 0)
			solve->scale[d] = 1;
	return changed;
}
