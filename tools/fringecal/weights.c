/* The residuals of a solve, and the weights of its points by them. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve.h"

#define CAUCHY 2.385		/* scales at which a point counts half */
#define FEWEST 6		/* points that a pose of the board needs */
#define FAINT 1e-5		/* weight of rejected points that alone hold a pose of the board */

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void
solve_measure(struct solve *solve)
{
	const struct calib_problem *problem = solve->problem;

	memcpy(solve->residuals.weight, solve->base, 2 * problem->points * sizeof(double));
	residuals_evaluate(&solve->residuals, solve->x, NULL, NULL, NULL);
	for (size_t d = 0; d < problem->devices; d++) {
		size_t n = 0;

		for (size_t v = 0; v < problem->views; v++) {
			const struct calib_view *view = &problem->view[v];

			for (size_t i = 2 * view->first; i < 2 * (view->first + view->n) &&
			    view->device == d; i++)
				solve->scratch[n++] = fabs(solve->x[i]);
		}
		qsort(solve->scratch, n, sizeof(*solve->scratch), compare);
		solve->scale[d] = n ? 1.4826 * solve->scratch[n / 2] : 1;
	}
}

void
solve_weigh(struct solve *solve, bool cauchy)
{
	const struct calib_problem *problem = solve->problem;
	double *weight = solve->residuals.weight;

	for (size_t v = 0; v < problem->views; v++) {
		const struct calib_view *view = &problem->view[v];
		double scale = CAUCHY * fmax(solve->scale[view->device], DBL_MIN);

		for (size_t i = view->first; i < view->first + view->n; i++) {
			double far = hypot(solve->x[2 * i], solve->x[2 * i + 1]) / scale;
			double factor = cauchy ? 1 / sqrt(1 + far * far) :
			    !solve->rejected[i] ? 1 :
			    solve->holding[view->pose] < FEWEST ? FAINT : 0;

			weight[2 * i] = solve->base[2 * i] * factor;
			weight[2 * i + 1] = solve->base[2 * i + 1] * factor;
		}
	}
}
