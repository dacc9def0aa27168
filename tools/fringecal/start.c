/* Start values: each device by itself, then the poses of devices and boards. */
#include "start.h"

#include <math.h>
#include <mrcal/poseutils.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "closed_form.h"
#include "placing.h"

#define FEWEST_VIEWS 3

/* ---- one device ---- */

static double
view_error(const struct start *start, const struct calib_view *view, const double core[4])
{
	static const double flat[2];
	const struct calib_problem *problem = start->problem;
	struct calib_pose pose = { 0 };
	double sum = 0;

	closed_form_pose(start->H[view - problem->view], core, &pose);
	for (size_t k = 0; k < view->n; k++) {
		const struct calib_point *point = &problem->point[view->first + k];
		double X[3], x[3];

		calib_board_point(&problem->board, flat, point->i, point->j, X);
		for (size_t i = 0; i < 3; i++)
			x[i] = pose.R[3 * i] * X[0] + pose.R[3 * i + 1] * X[1] + pose.T[i];
		sum += hypot(core[0] * x[0] / x[2] + core[2] - point->u,
		    core[1] * x[1] / x[2] + core[3] - point->v);
	}
	return sum;
}

static double
device_error(const struct start *start, size_t device, const double core[4])
{
	const struct calib_problem *problem = start->problem;
	double sum = 0;

	for (size_t v = 0; v < problem->views; v++)
		if (problem->view[v].device == device)
			sum += view_error(start, &problem->view[v], core);
	return sum;
}

static void
hold(const double fixed[CALIB_INTRINSICS], double core[4])
{
	for (size_t k = 0; k < 4; k++)
		core[k] = isnan(fixed[k]) ? core[k] : fixed[k];
}

static int
find_core(struct start *start, size_t device)
{
	const struct calib_problem *problem = start->problem;
	const struct calib_device *of = &problem->device[device];
	double (*H)[9] = calloc(problem->views + 1, sizeof(*H)), *core = start->core[device];
	double other[4];
	size_t n = 0;

	if (!H)
		return fail_memory();
	for (size_t v = 0; v < problem->views; v++)
		if (problem->view[v].device == device)
			memcpy(H[n++], start->H[v], sizeof(*H));
	if (!closed_form_square((const double (*)[9])H, n, of->w, of->h, core)) {
		core[0] = core[1] = 1.2 * (double)(of->w > of->h ? of->w : of->h);
		core[2] = ((double)of->w - 1) / 2;
		core[3] = ((double)of->h - 1) / 2;
	}
	hold(problem->fixed[device], core);
	if (!of->square && closed_form_free((const double (*)[9])H, n, of->w, of->h, other)) {
		hold(problem->fixed[device], other);
		if (device_error(start, device, other) < device_error(start, device, core))
			memcpy(core, other, sizeof(other));
	}
	free(H);
	for (size_t v = 0; v < problem->views; v++)
		if (problem->view[v].device == device)
			closed_form_pose(start->H[v], core, &start->seen[v]);
	return 0;
}

static bool
same_points(const struct calib_problem *problem, const struct calib_view *a,
    const struct calib_view *b)
{
	const struct calib_point *p = problem->point + a->first, *q = problem->point + b->first;

	if (a->device != b->device || a->n != b->n)
		return false;
	for (size_t k = 0; k < a->n; k++)
		if (p[k].u != q[k].u || p[k].v != q[k].v || p[k].i != q[k].i || p[k].j != q[k].j)
			return false;
	return true;
}

/* A pose that is there twice says nothing new, and the standard deviations would count it. */
static int
check_copies(const struct calib_problem *problem)
{
	for (size_t v = 0; v < problem->views; v++)
		for (size_t w = 0; w < v; w++) {
			char name[128], other[128];

			if (!same_points(problem, &problem->view[w], &problem->view[v]))
				continue;
			calib_view_name(problem, &problem->view[v], name, sizeof(name));
			calib_view_name(problem, &problem->view[w], other, sizeof(other));
			return fail(name, "has the very points of %s: is a picture there twice?",
			    other);
		}
	return 0;
}

static int
check_views(const struct calib_problem *problem)
{
	for (size_t d = 0; d < problem->devices; d++) {
		size_t n = 0, last = problem->poses;

		for (size_t v = 0; v < problem->views; v++)
			if (problem->view[v].device == d && problem->view[v].pose != last) {
				last = problem->view[v].pose;
				n++;
			}
		if (n < FEWEST_VIEWS)
			return fail(problem->device[d].name, "has %zu view%s of the board, and at "
			    "least %d are needed", n, n == 1 ? "" : "s", FEWEST_VIEWS);
	}
	return check_copies(problem);
}

/* ---- all of it ---- */

static void
put_pose(const struct calib_pose *pose, double *rt)
{
	mrcal_r_from_R(rt, NULL, pose->R);
	memcpy(rt + 3, pose->T, sizeof(pose->T));
}

static void
put_parameters(const struct start *start, double *parameter)
{
	const struct calib_problem *problem = start->problem;
	size_t shared = calib_parameters(problem);

	memset(parameter, 0, (shared + 6 * problem->poses) * sizeof(*parameter));
	for (size_t d = 0; d < problem->devices; d++) {
		double *intrinsics = parameter + calib_parameter_intrinsics(problem, d);

		memcpy(intrinsics, start->core[d], sizeof(*start->core));
		for (size_t k = 4; k < calib_intrinsics_count(problem->device[d].model); k++)
			if (!isnan(problem->fixed[d][k]))
				intrinsics[k] = problem->fixed[d][k];
		if (d)
			put_pose(&start->device[d],
			    parameter + calib_parameter_pose(problem, d));
	}
	for (size_t p = 0; p < problem->poses; p++) {
		struct calib_pose pose;
		size_t best = SIZE_MAX;

		for (size_t v = 0; v < problem->views; v++)
			if (problem->view[v].pose == p && (best == SIZE_MAX ||
			    problem->view[v].n > problem->view[best].n))
				best = v;
		if (best == SIZE_MAX)
			continue;
		placing_invert(&start->device[problem->view[best].device], &pose);
		placing_compose(&pose, &start->seen[best], &pose);
		put_pose(&pose, parameter + shared + 6 * p);
	}
}

int
calib_start(struct calib_problem *problem, double *parameter)
{
	struct start start = { .problem = problem };
	int status = check_views(problem);

	if (status < 0)
		return -1;
	start.H = calloc(problem->views, sizeof(*start.H));
	start.seen = calloc(problem->views, sizeof(*start.seen));
	start.core = calloc(problem->devices, sizeof(*start.core));
	start.device = calloc(problem->devices, sizeof(*start.device));
	start.placed = calloc(problem->devices, sizeof(*start.placed));
	if (!start.H || !start.seen || !start.core || !start.device || !start.placed)
		status = fail_memory();
	for (size_t v = 0; v < problem->views && status == 0; v++)
		status = placing_fit_view(&start, v);
	for (size_t d = 0; d < problem->devices && status == 0; d++)
		status = find_core(&start, d);
	if (status == 0)
		status = placing_devices(&start);
	if (status == 0)
		put_parameters(&start, parameter);
	free(start.H);
	free(start.seen);
	free(start.core);
	free(start.device);
	free(start.placed);
	return status;
}
