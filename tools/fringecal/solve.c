/*
 * The joint solve: libdogleg's trust-region steps on sparse equations, for points by mrcal's
 * projection. mrcal_optimize() itself holds all intrinsics or none, knows one lens model for all
 * devices and one grid of corners, and does not say whether it converged.
 */
#include "solve.h"

#include <dogleg.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "centres.h"
#include "noise.h"
#include "start.h"

#define ROUNDS 8		/* of rejection, at most */
#define LEAST_PX 1e-3		/* no point nearer than that is rejected */
#define CENTRES_ROUNDS 2	/* solves with the centres of circles found by the one before */
#define ROUGH_STEP 1e-2		/* of all in sd: ends a descent that others follow */
#define LAST_STEP 1e-7

static void
callback(const double *state, double *x, cholmod_sparse *Jt, void *cookie)
{
	struct residuals *residuals = cookie;

	residuals_set(residuals, state);
	residuals_evaluate(residuals, x, Jt->p, Jt->i, Jt->x);
}

static int
descend(struct solve *solve, int steps)
{
	struct residuals *r = &solve->residuals;
	dogleg_parameters2_t parameters;
	int threads = omp_get_max_threads();
	double square;

	dogleg_getDefaultParameters(&parameters);
	parameters.max_iterations = steps;
	parameters.trustregion0 = 1e6;
	parameters.update_threshold = steps < SOLVE_STEPS ? ROUGH_STEP : LAST_STEP;
	parameters.Jt_x_threshold = 0;
	parameters.trustregion_threshold = 0;
	residuals_get(r, solve->state);
	/* CHOLMOD's loops are too short for threads: they would only wait for each other */
	omp_set_num_threads(1);
	square = dogleg_optimize2(solve->state, (unsigned)r->states,
	    (unsigned)(2 * solve->problem->points), (unsigned)r->elements, callback, r,
	    &parameters, NULL);
	omp_set_num_threads(threads);
	residuals_set(r, solve->state);
	if (!(square >= 0) || !isfinite(square))
		return fail(NULL, "the solve found no start: are the points those of --board?");
	return 0;
}

/* Columns of the derivatives get length 1. */
static int
scale_states(struct solve *solve)
{
	struct residuals *r = &solve->residuals;
	size_t rows = 2 * solve->problem->points;
	int *begin = calloc(rows + 1, sizeof(*begin));
	int *state = calloc(r->elements + 1, sizeof(*state));
	double *value = calloc(r->elements + 1, sizeof(*value));
	double *sum = calloc(r->states + 1, sizeof(*sum));
	int status = begin && state && value && sum ? 0 : fail_memory();

	if (status == 0) {
		residuals_evaluate(r, solve->x, begin, state, value);
		for (int e = 0; e < begin[rows]; e++)
			sum[state[e]] += value[e] * value[e];
		for (size_t i = 0; i < r->states; i++)
			r->scale[i] = sum[i] > 0 && isfinite(sum[i]) ? 1 / sqrt(sum[i]) : 1;
	}
	free(begin);
	free(state);
	free(value);
	free(sum);
	return status;
}

/* A view most of whose points are wrong is wrong. Returns what is left of it. */
static size_t
judge_view(struct solve *solve, const struct calib_view *view)
{
	size_t good = 0;

	for (size_t i = view->first; i < view->first + view->n; i++)
		good += !solve->rejected[i];
	if (2 * good >= view->n)
		return good;
	for (size_t i = view->first; i < view->first + view->n; i++)
		solve->rejected[i] = true;
	return 0;
}

/* Marks what is too far off; did that change anything? */
static bool
reject(struct solve *solve)
{
	const struct calib_problem *problem = solve->problem;
	bool changed = false;

	memset(solve->holding, 0, problem->poses * sizeof(*solve->holding));
	for (size_t v = 0; v < problem->views; v++) {
		const struct calib_view *view = &problem->view[v];
		double most = problem->reject * solve->scale[view->device];
		size_t before = 0, differ = 0;

		for (size_t i = view->first; i < view->first + view->n; i++) {
			bool is = false;

			for (size_t c = 0; c < 2; c++)
				is |= noise_residual(solve, view->device, 2 * i + c) >
				    fmax(most, LEAST_PX * solve->base[2 * i + c]);
			before += solve->rejected[i];
			differ += is != solve->rejected[i];
			solve->rejected[i] = is;
		}
		solve->holding[view->pose] += judge_view(solve, view);
		changed |= differ && before < view->n;
	}
	return changed;
}

static int
solve_robustly(struct solve *solve)
{
	if (descend(solve, 10) < 0)
		return -1;
	for (size_t round = 0; round < 2; round++) {
		solve_measure(solve);
		solve_weigh(solve, true);
		if (descend(solve, 10) < 0)
			return -1;
	}
	for (size_t round = 0; round < ROUNDS; round++) {
		bool changed;

		solve_measure(solve);
		if (round == 0)
			noise_find_sigma(solve);
		changed = noise_find_excess(solve, solve->problem->reject);
		if (!reject(solve) && !changed && round)
			break;
		solve_weigh(solve, false);
		if (descend(solve, SOLVE_STEPS) < 0)
			return -1;
	}
	solve_weigh(solve, false);
	return 0;
}

static int
solve_plainly(struct solve *solve)
{
	bool changed;

	if (descend(solve, SOLVE_STEPS) < 0)
		return -1;
	if (solve->problem->equal_weights)
		return 0;
	solve_measure(solve);
	changed = noise_find_sigma(solve);
	for (size_t round = 0; round < ROUNDS; round++) {
		changed |= noise_find_excess(solve, INFINITY);
		if (!changed)
			break;
		changed = false;
		solve_weigh(solve, false);
		if (descend(solve, SOLVE_STEPS) < 0)
			return -1;
		solve_measure(solve);
	}
	return 0;
}

static int
allocate_solve(struct solve *solve)
{
	const struct calib_problem *problem = solve->problem;
	size_t n = 2 * problem->points;

	if (residuals_init(&solve->residuals, problem) < 0)
		return -1;
	solve->x = calloc(n + 1, sizeof(*solve->x));
	solve->base = calloc(n + 1, sizeof(*solve->base));
	solve->scratch = calloc(n + 1, sizeof(*solve->scratch));
	solve->state = calloc(solve->residuals.states + 1, sizeof(*solve->state));
	solve->scale = calloc(problem->devices, sizeof(*solve->scale));
	solve->excess = calloc(problem->views + 1, sizeof(*solve->excess));
	solve->device_excess = calloc(problem->devices, sizeof(*solve->device_excess));
	solve->rejected = calloc(problem->points + 1, sizeof(*solve->rejected));
	solve->holding = calloc(problem->poses + 1, sizeof(*solve->holding));
	if (!solve->x || !solve->base || !solve->scratch || !solve->state || !solve->scale ||
	    !solve->excess || !solve->device_excess || !solve->rejected || !solve->holding)
		return fail_memory();
	memcpy(solve->base, solve->residuals.weight, n * sizeof(*solve->base));
	return 0;
}

static void
free_solve(struct solve *solve)
{
	residuals_free(&solve->residuals);
	free(solve->x);
	free(solve->base);
	free(solve->scratch);
	free(solve->state);
	free(solve->scale);
	free(solve->excess);
	free(solve->device_excess);
	free(solve->rejected);
	free(solve->holding);
}

/*
 * The derivatives by k1 and k4 are the same where all are 0: a lens of 8 numbers starts from the
 * solved one of 5.
 */
static int
start_simpler(struct calib_problem *problem, double *parameter)
{
	struct calib_problem simple = *problem;
	struct solve solve = { .problem = &simple };
	int status;

	simple.device = calloc(problem->devices, sizeof(*simple.device));
	if (!simple.device)
		return fail_memory();
	for (size_t d = 0; d < problem->devices; d++) {
		simple.device[d] = problem->device[d];
		if (simple.device[d].model == CALIB_OPENCV8)
			simple.device[d].model = CALIB_OPENCV5;
	}
	status = allocate_solve(&solve);
	if (status == 0)
		status = calib_start(&simple, solve.residuals.parameter);
	if (status == 0)
		status = scale_states(&solve);
	if (status == 0)
		status = problem->reject > 0 ? solve_robustly(&solve) : descend(&solve, 20);
	for (size_t d = 0; d < problem->devices && status == 0; d++)
		memcpy(parameter + calib_parameter_intrinsics(problem, d),
		    solve.residuals.parameter + calib_parameter_intrinsics(&simple, d),
		    calib_intrinsics_count(simple.device[d].model) * sizeof(double));
	if (status == 0)
		memcpy(parameter + calib_parameter_pose(problem, 1),
		    solve.residuals.parameter + calib_parameter_pose(&simple, 1),
		    (solve.residuals.parameters - calib_parameter_pose(&simple, 1)) *
		    sizeof(double));
	free(simple.device);
	free_solve(&solve);
	return status;
}

static int
solve_once(struct calib_problem *problem, struct calib_solution *solution)
{
	bool staged = false;
	struct solve solve = { .problem = problem };
	int status;

	*solution = (struct calib_solution){ 0 };
	for (size_t d = 0; d < problem->devices; d++)
		staged |= problem->device[d].model == CALIB_OPENCV8;
	status = allocate_solve(&solve);
	if (status == 0)
		status = (staged ? start_simpler : calib_start)(problem, solve.residuals.parameter);
	if (status == 0)
		status = scale_states(&solve);
	if (status == 0)
		status = problem->reject > 0 ? solve_robustly(&solve) : solve_plainly(&solve);
	if (status == 0)
		status = solve_result(&solve, solution);
	free_solve(&solve);
	if (status < 0)
		calib_solution_free(solution);
	return status;
}

int
calib_solve(struct calib_problem *problem, struct calib_solution *solution)
{
	int status = solve_once(problem, solution);

	for (size_t round = 0; round < CENTRES_ROUNDS && status == 0 &&
	    problem->board.diameter > 0; round++) {
		centres_correct(problem, solution);
		calib_solution_free(solution);
		status = solve_once(problem, solution);
	}
	return status;
}
