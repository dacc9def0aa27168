/* Residuals of a calibration: mrcal's projection behind the chain board, first device, device. */
#include "residuals.h"

#include <math.h>
#include <mrcal/mrcal.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* A pose and its derivatives: R[i][j] by r[k]. */
struct posed {
	double R[9], by[27];
	const double *t;
};

struct view_memory {
	mrcal_point3_t *board, *first, *device, *by_point;
	mrcal_point2_t *pixel;
	double *by_intrinsics;
};

static const mrcal_lensmodel_t models[] = { { .type = MRCAL_LENSMODEL_PINHOLE },
	{ .type = MRCAL_LENSMODEL_OPENCV4 }, { .type = MRCAL_LENSMODEL_OPENCV5 },
	{ .type = MRCAL_LENSMODEL_OPENCV8 } };

static void
assign_states(struct residuals *r)
{
	const struct calib_problem *problem = r->problem;

	for (size_t d = 0; d < problem->devices; d++) {
		size_t at = calib_parameter_intrinsics(problem, d);

		for (size_t k = 0; k < calib_intrinsics_count(problem->device[d].model); k++) {
			bool held = !isnan(problem->fixed[d][k]) ||
			    (k == 1 && problem->device[d].square);

			r->state[at + k] = held ? -1 : (long)r->states++;
		}
	}
	for (size_t k = calib_parameter_pose(problem, 1); k < r->shared; k++)
		r->state[k] = (long)r->states++;
	r->shared_states = r->states;
	for (size_t k = r->shared; k < r->parameters; k++)
		r->state[k] = -1;
	for (size_t v = 0; v < problem->views; v++)
		r->state[r->shared + 6 * problem->view[v].pose] = 0;
	for (size_t p = 0; p < problem->poses; p++)	/* a pose that nothing sees has none */
		for (size_t k = 0; k < 6 && r->state[r->shared + 6 * p] >= 0; k++)
			r->state[r->shared + 6 * p + k] = (long)r->states++;
}

/* Derivatives of a view's rows: intrinsics, pose of the device, bends, pose of the board. */
static size_t
row_elements(const struct residuals *r, const struct calib_view *view)
{
	const struct calib_problem *problem = r->problem;
	size_t at = calib_parameter_intrinsics(problem, view->device), n = 6;

	for (size_t k = 0; k < calib_intrinsics_count(problem->device[view->device].model); k++)
		n += r->state[at + k] >= 0;
	return n + (view->device ? 6 : 0) + (problem->warp ? 2 : 0);
}

int
residuals_init(struct residuals *r, const struct calib_problem *problem)
{
	*r = (struct residuals){ .problem = problem };
	r->shared = calib_parameters(problem);
	r->parameters = r->shared + 6 * problem->poses;
	for (size_t v = 0; v < problem->views; v++)
		r->most = problem->view[v].n > r->most ? problem->view[v].n : r->most;
	r->parameter = calloc(r->parameters, sizeof(*r->parameter));
	r->state = calloc(r->parameters, sizeof(*r->state));
	r->scale = calloc(r->parameters, sizeof(*r->scale));
	r->weight = calloc(problem->points, 2 * sizeof(*r->weight));
	r->memory = calloc(r->most, 5 * sizeof(mrcal_point3_t) + sizeof(mrcal_point2_t) +
	    2 * CALIB_INTRINSICS * sizeof(double));
	if (!r->parameter || !r->state || !r->scale || !r->weight || !r->memory) {
		residuals_free(r);
		return fail_memory();
	}
	assign_states(r);
	for (size_t i = 0; i < r->parameters; i++)
		r->scale[i] = 1;
	for (size_t i = 0; i < problem->points; i++)
		for (size_t c = 0; c < 2; c++)
			r->weight[2 * i + c] =
			    problem->equal_weights ? 1 : 1 / problem->point[i].sigma[c];
	for (size_t v = 0; v < problem->views; v++)
		r->elements += 2 * problem->view[v].n * row_elements(r, &problem->view[v]);
	return 0;
}

void
residuals_free(struct residuals *r)
{
	free(r->parameter);
	free(r->state);
	free(r->scale);
	free(r->weight);
	free(r->memory);
	*r = (struct residuals){ 0 };
}

void
residuals_set(struct residuals *r, const double *state)
{
	const struct calib_problem *problem = r->problem;

	for (size_t i = 0; i < r->parameters; i++)
		if (r->state[i] >= 0)
			r->parameter[i] = state[r->state[i]] * r->scale[r->state[i]];
	for (size_t d = 0; d < problem->devices; d++)
		if (problem->device[d].square) {
			size_t at = calib_parameter_intrinsics(problem, d);

			r->parameter[at + 1] = r->parameter[at];
		}
}

void
residuals_get(const struct residuals *r, double *state)
{
	for (size_t i = 0; i < r->parameters; i++)
		if (r->state[i] >= 0)
			state[r->state[i]] = r->parameter[i] / r->scale[r->state[i]];
}

static void
pose(const double *rt, struct posed *posed)
{
	mrcal_R_from_r(posed->R, posed->by, rt);
	posed->t = rt + 3;
}

static void
transform(const struct posed *posed, const double *X, double *out)
{
	const double *R = posed->R;

	for (size_t i = 0; i < 3; i++)
		out[i] = R[3 * i] * X[0] + R[3 * i + 1] * X[1] + R[3 * i + 2] * X[2] +
		    posed->t[i];
}

/* The row vector g by the pose's three angles at X, and by X. */
static void
by_pose(const struct posed *posed, const double g[3], const double *X, double angle[3],
    double by_X[3])
{
	for (size_t k = 0; k < 3; k++) {
		angle[k] = by_X[k] = 0;
		for (size_t i = 0; i < 3; i++) {
			by_X[k] += g[i] * posed->R[3 * i + k];
			for (size_t j = 0; j < 3; j++)
				angle[k] += g[i] * posed->by[9 * i + 3 * j + k] * X[j];
		}
	}
}

struct row {		/* where the derivatives of a row go */
	const struct residuals *r;
	int *state;
	double *value;
	size_t n;
	double weight;
};

static void
put(struct row *row, size_t parameter, double derivative)
{
	long state = row->r->state[parameter];

	if (state < 0)
		return;
	row->state[row->n] = (int)state;
	row->value[row->n++] = derivative * row->weight * row->r->scale[state];
}

static void
put_row(struct row *row, const struct calib_view *view, const struct posed *device,
    const struct posed *board, const struct view_memory *m, size_t k, size_t c)
{
	const struct calib_problem *problem = row->r->problem;
	const struct calib_device *of = &problem->device[view->device];
	size_t n = calib_intrinsics_count(of->model), at;
	const double *intrinsics = m->by_intrinsics + (2 * k + c) * n;
	double g[3], angle[3], by_first[3], by_board[3];

	at = calib_parameter_intrinsics(problem, view->device);
	for (size_t i = 0; i < n; i++)
		put(row, at + i, intrinsics[i] + (i == 0 && of->square ? intrinsics[1] : 0));
	memcpy(g, m->by_point[2 * k + c].xyz, sizeof(g));
	by_pose(device, g, m->first[k].xyz, angle, by_first);
	if (view->device) {
		at = calib_parameter_pose(problem, view->device);
		for (size_t i = 0; i < 3; i++)
			put(row, at + i, angle[i]);
		for (size_t i = 0; i < 3; i++)
			put(row, at + 3 + i, g[i]);
	}
	by_pose(board, by_first, m->board[k].xyz, angle, by_board);
	if (problem->warp) {
		const struct calib_point *point = &problem->point[view->first + k];
		const double unit[2][2] = { { 1, 0 }, { 0, 1 } };
		double X[3];

		for (size_t b = 0; b < 2; b++) {
			calib_board_point(&problem->board, unit[b], point->i, point->j, X);
			put(row, row->r->shared - 2 + b, by_board[2] * X[2]);
		}
	}
	at = row->r->shared + 6 * view->pose;
	for (size_t i = 0; i < 3; i++)
		put(row, at + i, angle[i]);
	for (size_t i = 0; i < 3; i++)
		put(row, at + 3 + i, by_first[i]);
}

static void
project_view(const struct residuals *r, const struct calib_view *view, bool derivatives,
    struct posed *device, struct posed *board, struct view_memory *m)
{
	static const double nothing[6];
	const struct calib_problem *problem = r->problem;
	const double *bend = problem->warp ? r->parameter + r->shared - 2 : nothing;

	m->board = r->memory;
	m->first = m->board + r->most;
	m->device = m->first + r->most;
	m->by_intrinsics = (double *)(m->device + r->most);
	m->pixel = (mrcal_point2_t *)(m->by_intrinsics + 2 * CALIB_INTRINSICS * r->most);
	m->by_point = (mrcal_point3_t *)(m->pixel + r->most);
	pose(view->device ? r->parameter + calib_parameter_pose(problem, view->device) : nothing,
	    device);
	pose(r->parameter + r->shared + 6 * view->pose, board);
	for (size_t k = 0; k < view->n; k++) {
		const struct calib_point *point = &problem->point[view->first + k];

		calib_board_point(&problem->board, bend, point->i, point->j, m->board[k].xyz);
		transform(board, m->board[k].xyz, m->first[k].xyz);
		transform(device, m->first[k].xyz, m->device[k].xyz);
	}
	mrcal_project(m->pixel, derivatives ? m->by_point : NULL,
	    derivatives ? m->by_intrinsics : NULL, m->device, (int)view->n,
	    &models[problem->device[view->device].model],
	    r->parameter + calib_parameter_intrinsics(problem, view->device));
}

void
residuals_evaluate(struct residuals *r, double *x, int *begin, int *state, double *value)
{
	const struct calib_problem *problem = r->problem;
	size_t at = 0;

	r->evaluations++;
	for (size_t v = 0; v < problem->views; v++) {
		const struct calib_view *view = &problem->view[v];
		struct posed device, board;
		struct view_memory m;

		project_view(r, view, begin, &device, &board, &m);
		for (size_t k = 0; k < view->n; k++)
			for (size_t c = 0; c < 2; c++) {
				size_t i = 2 * (view->first + k) + c;
				const struct calib_point *point = &problem->point[view->first + k];
				struct row row = { r, state + at, value + at, 0, r->weight[i] };

				x[i] = r->weight[i] *
				    (m.pixel[k].xy[c] - (c ? point->v : point->u));
				if (!begin)
					continue;
				begin[i] = (int)at;
				put_row(&row, view, &device, &board, &m, k, c);
				at += row.n;
			}
	}
	if (begin)
		begin[2 * problem->points] = (int)at;
}

void
calib_pose_from(const double *rt, struct calib_pose *out)
{
	static const double nothing[6];
	const double *from = rt ? rt : nothing;

	mrcal_R_from_r(out->R, NULL, from);
	memcpy(out->T, from + 3, sizeof(out->T));
}

void
calib_project(const struct calib_problem *problem, const struct calib_solution *solution,
    size_t device, const double X[3], double uv[2], double *by_point, double *by_intrinsics)
{
	const struct calib_pose *pose = &solution->device[device];
	mrcal_point3_t point, gradient[2];
	double by[2 * CALIB_INTRINSICS];
	size_t n = calib_intrinsics_count(problem->device[device].model);

	for (size_t i = 0; i < 3; i++)
		point.xyz[i] = pose->R[3 * i] * X[0] + pose->R[3 * i + 1] * X[1] +
		    pose->R[3 * i + 2] * X[2] + pose->T[i];
	mrcal_project((mrcal_point2_t *)uv, gradient, by, &point, 1,
	    &models[problem->device[device].model], solution->intrinsics[device]);
	for (size_t c = 0; c < 2 && by_point; c++)
		for (size_t k = 0; k < 3; k++) {
			by_point[3 * c + k] = 0;
			for (size_t i = 0; i < 3; i++)
				by_point[3 * c + k] += gradient[c].xyz[i] * pose->R[3 * i + k];
		}
	if (by_intrinsics)
		memcpy(by_intrinsics, by, 2 * n * sizeof(*by));
}
