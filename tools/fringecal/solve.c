/*
 * The joint solve: libdogleg's trust-region steps on sparse equations, for points by mrcal's
 * projection. mrcal_optimize() itself holds all intrinsics or none, knows one lens model for all
 * devices and one grid of corners, and does not say whether it converged.
 */
#include "calib_problem.h"

#include <dogleg.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "covariance.h"
#include "residuals.h"
#include "start.h"

#define MOST_STEPS 100
#define ROUNDS 8		/* of rejection, at most */
#define CAUCHY 2.385		/* scales at which a point counts half */
#define LEAST_PX 1e-3		/* no point nearer than that is rejected */
#define FEWEST 6		/* points that a pose of the board needs */
#define FAINT 1e-5		/* weight of rejected points that alone hold a pose of the board */

struct solve {
	struct calib_problem *problem;
	struct residuals residuals;
	double *x, *state, *base, *scratch;	/* base: weights without loss and rejection */
	double *scale;			/* of each device: robust sd of a weighted residual */
	bool *rejected;
	size_t *holding;		/* points of each pose that are not rejected */
};

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
	double square;

	dogleg_getDefaultParameters(&parameters);
	parameters.max_iterations = steps;
	parameters.trustregion0 = 1e6;
	parameters.update_threshold = 1e-7;
	parameters.Jt_x_threshold = 0;
	parameters.trustregion_threshold = 0;
	residuals_get(r, solve->state);
	square = dogleg_optimize2(solve->state, (unsigned)r->states,
	    (unsigned)(2 * solve->problem->points), (unsigned)r->elements, callback, r,
	    &parameters, NULL);
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

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Residuals of all points, in units of the base weights; the scale of each device. */
static void
measure(struct solve *solve)
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

static void
weigh(struct solve *solve, bool cauchy)
{
	const struct calib_problem *problem = solve->problem;
	double *weight = solve->residuals.weight;

	for (size_t v = 0; v < problem->views; v++) {
		const struct calib_view *view = &problem->view[v];
		double scale = CAUCHY * fmax(solve->scale[view->device], DBL_MIN);

		for (size_t i = view->first; i < view->first + view->n; i++) {
			double far = hypot(solve->x[2 * i], solve->x[2 * i + 1]) / scale;
			double factor = cauchy ? 1 / sqrt(1 + far * far) :
			    !solve->rejected[i] ? 1 : solve->holding[view->pose] < FEWEST ? FAINT : 0;

			weight[2 * i] = solve->base[2 * i] * factor;
			weight[2 * i + 1] = solve->base[2 * i + 1] * factor;
		}
	}
}

/* Where a device's points do not say their sigma it is what the residuals say. */
static void
find_sigma(struct solve *solve)
{
	const struct calib_problem *problem = solve->problem;

	if (problem->equal_weights || problem->devices == 1)
		return;
	for (size_t v = 0; v < problem->views; v++) {
		const struct calib_view *view = &problem->view[v];

		if (problem->device[view->device].sigma_unknown && solve->scale[view->device] > 0)
			for (size_t i = 2 * view->first; i < 2 * (view->first + view->n); i++) {
				solve->base[i] /= solve->scale[view->device];
				solve->x[i] /= solve->scale[view->device];
			}
	}
	for (size_t d = 0; d < problem->devices; d++)
		if (problem->device[d].sigma_unknown && solve->scale[d] > 0)
			solve->scale[d] = 1;
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
				is |= fabs(solve->x[2 * i + c]) >
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
		measure(solve);
		weigh(solve, true);
		if (descend(solve, 10) < 0)
			return -1;
	}
	for (size_t round = 0; round < ROUNDS; round++) {
		measure(solve);
		if (round == 0)
			find_sigma(solve);
		if (!reject(solve) && round)
			break;
		weigh(solve, false);
		if (descend(solve, MOST_STEPS) < 0)
			return -1;
	}
	weigh(solve, false);
	return 0;
}

static int
solve_plainly(struct solve *solve)
{
	bool unknown = false;

	for (size_t d = 0; d < solve->problem->devices; d++)
		unknown |= solve->problem->device[d].sigma_unknown;
	if (descend(solve, MOST_STEPS) < 0)
		return -1;
	if (!unknown || solve->problem->equal_weights || solve->problem->devices == 1)
		return 0;
	measure(solve);
	find_sigma(solve);
	weigh(solve, false);
	return descend(solve, MOST_STEPS);
}

/* ---- the result ---- */

static int
allocate(const struct calib_problem *problem, struct calib_solution *s)
{
	size_t n = calib_parameters(problem);

	s->devices = problem->devices;
	s->poses = problem->poses;
	s->parameters = n;
	s->intrinsics = calloc(s->devices, sizeof(*s->intrinsics));
	s->device = calloc(s->devices, sizeof(*s->device));
	s->rotation = calloc(s->devices, sizeof(*s->rotation));
	s->board = calloc(s->poses, sizeof(*s->board));
	s->residual = calloc(problem->points, sizeof(*s->residual));
	s->view_rms = calloc(problem->views, sizeof(*s->view_rms));
	s->view_used = calloc(problem->views, sizeof(*s->view_used));
	s->device_rms = calloc(s->devices, sizeof(*s->device_rms));
	s->device_scale = calloc(s->devices, sizeof(*s->device_scale));
	s->device_used = calloc(s->devices, sizeof(*s->device_used));
	s->covariance = calloc(n, n * sizeof(*s->covariance));
	return s->intrinsics && s->device && s->rotation && s->board && s->residual && s->view_rms &&
	    s->view_used && s->device_rms && s->device_scale && s->device_used && s->covariance ?
	    0 : fail_memory();
}

static void
get_residuals(struct solve *solve, struct calib_solution *s)
{
	const struct calib_problem *problem = solve->problem;
	double all = 0;
	size_t used = 0;

	measure(solve);
	for (size_t v = 0; v < problem->views; v++) {
		const struct calib_view *view = &problem->view[v];
		double sum = 0, of_all = 0;

		for (size_t i = view->first; i < view->first + view->n; i++) {
			struct calib_residual *residual = &s->residual[i];

			residual->u = -solve->x[2 * i] / solve->base[2 * i];
			residual->v = -solve->x[2 * i + 1] / solve->base[2 * i + 1];
			residual->rejected = solve->rejected[i];
			of_all += residual->u * residual->u + residual->v * residual->v;
			if (residual->rejected)
				continue;
			sum += residual->u * residual->u + residual->v * residual->v;
			s->device_scale[view->device] += solve->x[2 * i] * solve->x[2 * i] +
			    solve->x[2 * i + 1] * solve->x[2 * i + 1];
			s->view_used[v]++;
		}
		s->view_rms[v] = s->view_used[v] ? sqrt(sum / (double)s->view_used[v]) :
		    sqrt(of_all / (double)view->n);
		s->device_rms[view->device] += sum;
		s->device_used[view->device] += s->view_used[v];
		all += sum;
		used += s->view_used[v];
	}
	for (size_t d = 0; d < s->devices; d++) {
		double n = (double)s->device_used[d];

		s->device_rms[d] = sqrt(s->device_rms[d] / n);
		s->device_scale[d] = sqrt(s->device_scale[d] / (2 * n));
	}
	s->rms = sqrt(all / (double)used);
	weigh(solve, false);
}

static void
get_parameters(const struct solve *solve, struct calib_solution *s)
{
	const struct calib_problem *problem = solve->problem;
	const double *parameter = solve->residuals.parameter;

	for (size_t d = 0; d < s->devices; d++) {
		calib_pose_from(d ? parameter + calib_parameter_pose(problem, d) : NULL,
		    &s->device[d]);
		if (d)
			memcpy(s->rotation[d], parameter + calib_parameter_pose(problem, d),
			    sizeof(s->rotation[d]));
		memcpy(s->intrinsics[d], parameter + calib_parameter_intrinsics(problem, d),
		    calib_intrinsics_count(problem->device[d].model) * sizeof(double));
	}
	for (size_t p = 0; p < s->poses; p++)
		calib_pose_from(parameter + solve->residuals.shared + 6 * p, &s->board[p]);
	if (problem->warp)
		memcpy(s->bend, parameter + solve->residuals.shared - 2, sizeof(s->bend));
}

/* The names of what the weakest combination is made of. */
static void
name_weakest(const struct residuals *r, const struct normal *normal, char *text, size_t size)
{
	double most = 0;
	size_t n = 0;

	for (size_t k = 0; k < normal->n; k++)
		most = fmax(most, fabs(normal->weakest[k]));
	for (size_t i = 0; i < r->shared && n < size; i++) {
		char name[64];

		if (r->state[i] < 0 || !(fabs(normal->weakest[r->state[i]]) >= 0.3 * most))
			continue;
		calib_parameter_name(r->problem, i, name, sizeof(name));
		n += (size_t)snprintf(text + n, size - n, "%s%s", n ? ", " : "", name);
	}
}

static int
get_covariance(struct solve *solve, struct calib_solution *s)
{
	struct residuals *r = &solve->residuals;
	struct normal normal;
	char names[200] = "";
	double least, freedom = -(double)r->states;
	int status = 0;

	for (size_t d = 0; d < s->devices; d++)
		freedom += 2 * (double)s->device_used[d];
	if (freedom <= 0)
		return fail(NULL, "%.0f coordinates are too few for %zu unknowns",
		    freedom + (double)r->states, r->states);
	if (normal_make(r, &normal) < 0)
		return -1;
	s->variance = normal.square / freedom;
	s->condition = normal.condition;
	/* no residual is better than the rounding of the points */
	least = fmax(s->variance, 1e-8 * solve->base[0] * solve->base[0]);
	name_weakest(r, &normal, names, sizeof(names));
	if (!(s->condition < 1e10))
		status = fail(NULL, "these poses do not determine %s (condition %.1e): tilt the board "
		    "by 20 to 40 degrees, another way in each pose", names, s->condition);
	else if (normal.decrease > 1e-4 * least * (double)r->states)
		status = fail(NULL, "the solve did not converge in %d steps: the rms is %.3g px, and "
		    "one more step would lessen the sum of squares by %.2g %%", MOST_STEPS, s->rms,
		    100 * normal.decrease / normal.square);
	else if (!normal_covariance(r, &normal, s->covariance))
		status = fail(NULL, "these poses do not determine %s", names);
	for (size_t i = 0; i < s->parameters * s->parameters; i++)
		s->covariance[i] *= s->variance;
	normal_free(&normal);
	return status;
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
	solve->rejected = calloc(problem->points + 1, sizeof(*solve->rejected));
	solve->holding = calloc(problem->poses + 1, sizeof(*solve->holding));
	if (!solve->x || !solve->base || !solve->scratch || !solve->state || !solve->scale ||
	    !solve->rejected || !solve->holding)
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
	free(solve->rejected);
	free(solve->holding);
}

int
calib_solve(struct calib_problem *problem, struct calib_solution *solution)
{
	struct solve solve = { .problem = problem };
	int status;

	*solution = (struct calib_solution){ 0 };
	status = allocate_solve(&solve);
	if (status == 0)
		status = calib_start(problem, solve.residuals.parameter);
	if (status == 0)
		status = scale_states(&solve);
	if (status == 0)
		status = problem->reject > 0 ? solve_robustly(&solve) : solve_plainly(&solve);
	if (status == 0)
		status = allocate(problem, solution);
	if (status == 0) {
		get_parameters(&solve, solution);
		get_residuals(&solve, solution);
		status = get_covariance(&solve, solution);
		solution->evaluations = solve.residuals.evaluations;
	}
	free_solve(&solve);
	if (status < 0)
		calib_solution_free(solution);
	return status;
}

void
calib_solution_free(struct calib_solution *solution)
{
	free(solution->intrinsics);
	free(solution->device);
	free(solution->rotation);
	free(solution->board);
	free(solution->residual);
	free(solution->view_rms);
	free(solution->view_used);
	free(solution->device_rms);
	free(solution->device_used);
	free(solution->device_scale);
	free(solution->covariance);
	*solution = (struct calib_solution){ 0 };
}
