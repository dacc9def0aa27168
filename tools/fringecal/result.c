/* What a solve found: parameters, residuals, covariance, and whether they can be trusted. */
#include "solve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "covariance.h"

#define MOST_CONDITION 1e10	/* beyond it something is not determined */
#define MOST_FOCAL_SD 0.05	/* of a focal length, as a share of it */
#define SUSPECT_PX 2

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
	s->view_excess = calloc(problem->views + 1, sizeof(*s->view_excess));
	s->view_used = calloc(problem->views, sizeof(*s->view_used));
	s->device_rms = calloc(s->devices, sizeof(*s->device_rms));
	s->device_scale = calloc(s->devices, sizeof(*s->device_scale));
	s->device_excess = calloc(s->devices, sizeof(*s->device_excess));
	s->device_used = calloc(s->devices, sizeof(*s->device_used));
	s->covariance = calloc(n, n * sizeof(*s->covariance));
	return s->intrinsics && s->device && s->rotation && s->board && s->residual &&
	    s->view_rms && s->view_excess && s->view_used && s->device_rms && s->device_scale &&
	    s->device_excess && s->device_used && s->covariance ? 0 : fail_memory();
}

/* Square of a residual over its sigma, without the excess. */
static double
over_sigma(const struct solve *solve, size_t view, size_t i, size_t c)
{
	double x = solve->x[2 * i + c];

	if (solve->excess[view] > 0)
		x /= solve->base[2 * i + c] * solve->problem->point[i].sigma[c];
	return x * x;
}

static void
get_residuals(struct solve *solve, struct calib_solution *s)
{
	const struct calib_problem *problem = solve->problem;
	double all = 0;
	size_t used = 0;

	solve_measure(solve);
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
			s->device_scale[view->device] += over_sigma(solve, v, i, 0) +
			    over_sigma(solve, v, i, 1);
			s->view_used[v]++;
		}
		s->view_rms[v] = s->view_used[v] ? sqrt(sum / (double)s->view_used[v]) :
		    sqrt(of_all / (double)view->n);
		s->device_rms[view->device] += sum;
		s->device_used[view->device] += s->view_used[v];
		all += sum;
		used += s->view_used[v];
	}
	memcpy(s->device_excess, solve->device_excess, s->devices * sizeof(*s->device_excess));
	memcpy(s->view_excess, solve->excess, problem->views * sizeof(*s->view_excess));
	for (size_t d = 0; d < s->devices; d++) {
		double n = (double)s->device_used[d];

		s->device_rms[d] = sqrt(s->device_rms[d] / n);
		s->device_scale[d] = sqrt(s->device_scale[d] / (2 * n));
	}
	s->rms = sqrt(all / (double)used);
	solve_weigh(solve, false);
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

/* Is the weakest combination one of lens coefficients alone? They may trade what no point shows. */
static bool
is_lens(const struct calib_problem *problem, const struct residuals *r,
    const struct normal *normal)
{
	double most = 0, other = 0;

	for (size_t d = 0; d < problem->devices; d++) {
		size_t at = calib_parameter_intrinsics(problem, d);

		for (size_t k = 4; k < calib_intrinsics_count(problem->device[d].model); k++)
			if (r->state[at + k] >= 0)
				most = fmax(most, fabs(normal->weakest[r->state[at + k]]));
		for (size_t k = 0; k < 4; k++)
			if (r->state[at + k] >= 0)
				other = fmax(other, fabs(normal->weakest[r->state[at + k]]));
	}
	for (size_t i = calib_parameter_pose(problem, 1); i < r->shared; i++)
		other = fmax(other, fabs(normal->weakest[r->state[i]]));
	return other < 0.1 * most;
}

/* Where no pose is tilted, noise gives some focal length, and a distance with it. */
static int
check_focal(const struct calib_problem *problem, const struct calib_solution *s)
{
	for (size_t d = 0; d < s->devices; d++) {
		size_t at = calib_parameter_intrinsics(problem, d);
		double sd = sqrt(s->covariance[at * s->parameters + at]), f = s->intrinsics[d][0];

		if (sd > MOST_FOCAL_SD * f)
			return fail(problem->device[d].name, "the focal length, %.0f px, is not "
			    "determined: its standard deviation is %.0f px; tilt the board by "
			    "20 to 40 degrees, another way in each pose", f, sd);
	}
	return 0;
}

/* Two devices that see all from one place have the same points. */
static int
check_places(const struct calib_problem *problem, const struct calib_solution *s)
{
	for (size_t d = 1; d < s->devices; d++) {
		const double *r = s->rotation[d], *T = s->device[d].T;

		if (fabs(r[0]) + fabs(r[1]) + fabs(r[2]) < 1e-6 &&
		    fabs(T[0]) + fabs(T[1]) + fabs(T[2]) < 1e-4 * problem->board.spacing)
			return fail(problem->device[d].name, "stands where %s does, turned alike: "
			    "are these the same corners twice?", problem->device[0].name);
	}
	return 0;
}

static int
get_covariance(struct solve *solve, struct calib_solution *s)
{
	struct residuals *r = &solve->residuals;
	struct normal normal;
	char names[200] = "";
	const struct calib_problem *problem = solve->problem;
	double least, freedom = -(double)r->states;
	int status = 0;
	bool weak, lens;

	for (size_t d = 0; d < s->devices; d++)
		freedom += 2 * (double)s->device_used[d];
	for (size_t p = 0; p < s->poses; p++)	/* those that are rejected are not solved for */
		freedom += solve->holding[p] || problem->reject <= 0 ||
		    r->state[r->shared + 6 * p] < 0 ? 0 : 6;
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
	weak = !(s->condition < MOST_CONDITION);
	lens = is_lens(problem, r, &normal);
	if (weak && s->rms > SUSPECT_PX)
		status = fail(NULL, "the rms is %.3g px: wrong corners, another board, a camera "
		    "whose pictures are mirrored, or poses that are not in the same order for all "
		    "devices", s->rms);
	else if ((weak && !lens) || !normal_covariance(r, &normal, s->covariance))
		status = fail(NULL, "these poses do not determine %s (condition %.1e): %s", names,
		    s->condition, lens ? "take a simpler --model" : "tilt the board by 20 to 40 "
		    "degrees, another way in each pose");
	else if (normal.decrease > 1e-4 * least * (double)r->states)
		status = fail(NULL, "the solve did not converge in %d steps: the rms is %.3g px, "
		    "and one more step would lessen the sum of squares by %.2g %%%s", SOLVE_STEPS,
		    s->rms, 100 * normal.decrease / normal.square, problem->devices > 1 ?
		    ": are the poses in the same order for all devices?" : "");
	if (status == 0 && weak)
		warn(NULL, "these points do not tell %s apart (condition %.1e): a simpler --model "
		    "does as well", names, s->condition);
	for (size_t i = 0; i < s->parameters * s->parameters; i++)
		s->covariance[i] *= s->variance;
	normal_free(&normal);
	return status < 0 || check_places(problem, s) < 0 ? -1 : check_focal(problem, s);
}

int
solve_result(struct solve *solve, struct calib_solution *solution)
{
	if (allocate(solve->problem, solution) < 0)
		return -1;
	get_parameters(solve, solution);
	get_residuals(solve, solution);
	solution->evaluations = solve->residuals.evaluations;
	return get_covariance(solve, solution);
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
	free(solution->view_excess);
	free(solution->view_used);
	free(solution->device_rms);
	free(solution->device_used);
	free(solution->device_scale);
	free(solution->device_excess);
	free(solution->covariance);
	*solution = (struct calib_solution){ 0 };
}
