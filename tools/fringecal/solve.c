/*
 * The joint solve: libdogleg's trust-region steps on sparse equations, for points by mrcal's
 * projection. mrcal_optimize() itself holds all intrinsics or none, knows one lens model for all
 * devices and one grid of corners, and does not say whether it converged.
 *
 * From top to bottom: residuals and their derivatives; normal equations and covariance; weights;
 * the points' noise; centres of circles; the result and whether to trust it; the solve.
 */
#include "fringecal.h"

#include <dogleg.h>
#include <float.h>
#include <mrcal/mrcal.h>
#include <omp.h>

/* ---- residuals: from the board to the first device, to the device, to its pixels ---- */

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

void
residuals_init(struct residuals *r, const struct calib_problem *problem)
{
	*r = (struct residuals){ .problem = problem };
	r->shared = calib_parameters(problem);
	r->parameters = r->shared + 6 * problem->poses;
	for (size_t v = 0; v < problem->views; v++)
		r->most = problem->view[v].n > r->most ? problem->view[v].n : r->most;
	r->parameter = must_alloc(r->parameters, sizeof(*r->parameter));
	r->state = must_alloc(r->parameters, sizeof(*r->state));
	r->scale = must_alloc(r->parameters, sizeof(*r->scale));
	r->weight = must_alloc(problem->points, 2 * sizeof(*r->weight));
	r->memory = must_alloc(r->most, 5 * sizeof(double[3]) + sizeof(double[2]) +
	    2 * CALIB_INTRINSICS * sizeof(double));
	assign_states(r);
	for (size_t i = 0; i < r->parameters; i++)
		r->scale[i] = 1;
	for (size_t i = 0; i < 2 * problem->points; i++)
		r->weight[i] = problem->equal_weights ? 1 : 1 / problem->point[i / 2].sigma[i % 2];
	for (size_t v = 0; v < problem->views; v++)
		r->elements += 2 * problem->view[v].n * row_elements(r, &problem->view[v]);
}

void
residuals_free(struct residuals *r)
{
	free_all(r->parameter, r->state, r->scale, r->weight, r->memory);
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
set_pose(const double *rt, struct posed *posed)
{
	mrcal_R_from_r(posed->R, posed->by, rt);
	posed->t = rt + 3;
}

static void
transform(const struct posed *posed, const double *X, double *out)
{
	matrix3_apply(posed->R, X, out);
	for (size_t i = 0; i < 3; i++)
		out[i] += posed->t[i];
}

static void
project_view(const struct residuals *r, const struct calib_view *view, bool derivatives,
    struct view_memory *m)
{
	static const double nothing[6];
	const struct calib_problem *problem = r->problem;
	const double *bend = problem->warp ? r->parameter + r->shared - 2 : nothing;

	m->board = r->memory;
	m->first = m->board + r->most;
	m->device = m->first + r->most;
	m->by_intrinsics = (double *)(m->device + r->most);
	m->pixel = (double (*)[2])(m->by_intrinsics + 2 * CALIB_INTRINSICS * r->most);
	m->by_point = (double (*)[2][3])(m->pixel + r->most);
	set_pose(view->device ? r->parameter + calib_parameter_pose(problem, view->device) :
	    nothing, &m->of_device);
	set_pose(r->parameter + r->shared + 6 * view->pose, &m->of_board);
	for (size_t k = 0; k < view->n; k++) {
		const struct calib_point *point = &problem->point[view->first + k];

		calib_board_point(&problem->board, bend, point->i, point->j, m->board[k]);
		transform(&m->of_board, m->board[k], m->first[k]);
		transform(&m->of_device, m->first[k], m->device[k]);
	}
	mrcal_project((mrcal_point2_t *)m->pixel, derivatives ? (mrcal_point3_t *)m->by_point :
	    NULL, derivatives ? m->by_intrinsics : NULL, (mrcal_point3_t *)m->device, (int)view->n,
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
		struct view_memory m;

		project_view(r, view, begin, &m);
		at = fringecal_rows()->residual_rows(r, view, &m, at, x, begin, state, value);
	}
	if (begin)
		begin[2 * problem->points] = (int)at;
}

/* Of a rotation vector and a translation. */
static void
calib_pose_from(const double rt[6], struct calib_pose *out)
{
	mrcal_R_from_r(out->R, NULL, rt);
	memcpy(out->T, rt + 3, sizeof(out->T));
}

void
calib_project(const struct calib_problem *problem, const struct calib_solution *solution,
    size_t device, const double X[3], double uv[2], double *by_point, double *by_intrinsics)
{
	const struct calib_pose *pose = &solution->device[device];
	mrcal_point3_t point, gradient[2];
	double by[2 * CALIB_INTRINSICS];
	size_t n = calib_intrinsics_count(problem->device[device].model);

	calib_pose_apply(pose, X, point.xyz);
	mrcal_project((mrcal_point2_t *)uv, gradient, by, &point, 1,
	    &models[problem->device[device].model], solution->intrinsics[device]);
	for (size_t c = 0; c < 2 && by_point; c++)
		matrix3_apply_transposed(pose->R, gradient[c].xyz, by_point + 3 * c);
	if (by_intrinsics)
		memcpy(by_intrinsics, by, 2 * n * sizeof(*by));
}

/* ---- normal equations, with the board's poses eliminated: one 6 x 6 block each ---- */

/* How well a solve determines its parameters. */
struct normal {
	size_t n;		/* shared states of the residuals: without the board's poses */
	double *matrix;		/* n x n, the poses eliminated */
	double *diagonal;	/* its diagonal if the poses were known */
	double square;		/* the sum of squares */
	double decrease;	/* of it, that one more step of Newton promises */
	double condition;	/* of the matrix over the diagonal; INFINITY: singular */
	double *weakest;	/* the combination of states that is determined least */
};

struct rows {
	double *x;
	int *begin, *state;
	double *value;
};

struct pose_block {		/* of one pose */
	double D[36], g[6];	/* its own equations */
	double *B;		/* n x 6, with the shared states */
};

static void
rows_make(struct residuals *r, struct rows *rows)
{
	size_t n = 2 * r->problem->points;

	rows->x = must_alloc(n + 1, sizeof(*rows->x));
	rows->begin = must_alloc(n + 1, sizeof(*rows->begin));
	rows->state = must_alloc(r->elements + 1, sizeof(*rows->state));
	rows->value = must_alloc(r->elements + 1, sizeof(*rows->value));
	residuals_evaluate(r, rows->x, rows->begin, rows->state, rows->value);
}

static void
rows_free(struct rows *rows)
{
	free_all(rows->x, rows->begin, rows->state, rows->value);
}

/* Adds one row's part; its last six elements are the pose's. */
static void
add_row(struct normal *normal, struct pose_block *block, double *g, const int *state,
    const double *value, size_t n, double x)
{
	const double *of_pose = value + n - 6;

	for (size_t a = 0; a < n - 6; a++) {
		size_t row = (size_t)state[a] * normal->n;

		g[state[a]] += value[a] * x;
		for (size_t b = 0; b <= a; b++)
			normal->matrix[row + (size_t)state[b]] += value[a] * value[b];
		for (size_t k = 0; k < 6; k++)
			block->B[6 * (size_t)state[a] + k] += value[a] * of_pose[k];
	}
	for (size_t k = 0; k < 6; k++) {
		block->g[k] += of_pose[k] * x;
		for (size_t l = 0; l < 6; l++)
			block->D[6 * k + l] += of_pose[k] * of_pose[l];
	}
}

/* Takes the pose out. A pose that its points do not determine tells nothing. */
static void
eliminate(struct normal *normal, struct pose_block *block, double *g)
{
	size_t n = normal->n;
	double reduced[6];

	if (!symmetric_factor(6, block->D, 0))
		return;
	memcpy(reduced, block->g, sizeof(reduced));
	symmetric_solve(6, block->D, reduced, 1);
	for (size_t k = 0; k < 6; k++)
		normal->decrease += block->g[k] * reduced[k];
	for (size_t i = 0; i < n; i++) {
		double row[6];
		bool any = false;

		memcpy(row, block->B + 6 * i, sizeof(row));
		for (size_t k = 0; k < 6; k++) {
			any |= row[k] != 0;
			g[i] -= row[k] * reduced[k];
		}
		if (!any)
			continue;
		symmetric_solve(6, block->D, row, 1);
		for (size_t j = 0; j <= i; j++)
			for (size_t k = 0; k < 6; k++)
				normal->matrix[i * n + j] -= row[k] * block->B[6 * j + k];
	}
}

static void
accumulate(const struct residuals *r, const struct rows *rows, struct normal *normal,
    struct pose_block *block, double *g)
{
	const struct calib_problem *problem = r->problem;

	for (size_t v = 0; v < problem->views; v++) {
		const struct calib_view *view = &problem->view[v];

		for (size_t i = 2 * view->first; i < 2 * (view->first + view->n); i++) {
			size_t at = (size_t)rows->begin[i];

			normal->square += rows->x[i] * rows->x[i];
			add_row(normal, &block[view->pose], g, rows->state + at, rows->value + at,
			    (size_t)rows->begin[i + 1] - at, rows->x[i]);
		}
	}
	for (size_t i = 0; i < normal->n; i++)
		normal->diagonal[i] = normal->matrix[i * normal->n + i];
	for (size_t p = 0; p < problem->poses; p++)
		eliminate(normal, &block[p], g);
	for (size_t i = 0; i < normal->n; i++)
		for (size_t j = 0; j < i; j++)
			normal->matrix[j * normal->n + i] = normal->matrix[i * normal->n + j];
}

/* At the residuals' parameters. */
static void
normal_make(struct residuals *r, struct normal *normal)
{
	size_t n = r->shared_states, poses = r->problem->poses;
	struct pose_block *block = must_alloc(poses, sizeof(*block));
	double *g = must_alloc(n, sizeof(*g)), *work = must_alloc(2 * n * n, sizeof(*work));
	double *B = must_alloc(poses * n + 1, 6 * sizeof(*B)), *step = work + n * n;
	struct rows rows = { 0 };

	rows_make(r, &rows);
	*normal = (struct normal){ .n = n, .condition = 1 };
	normal->matrix = must_alloc(n * n, sizeof(*normal->matrix));
	normal->diagonal = must_alloc(n, sizeof(*normal->diagonal));
	normal->weakest = must_alloc(n, sizeof(*normal->weakest));
	for (size_t p = 0; p < poses; p++)
		block[p].B = B + 6 * n * p;
	accumulate(r, &rows, normal, block, g);
	memcpy(work, normal->matrix, n * n * sizeof(*work));
	memcpy(step, g, n * sizeof(*g));
	if (symmetric_factor(n, work, 0)) {
		symmetric_solve(n, work, step, 1);
		for (size_t i = 0; i < n; i++)
			normal->decrease += g[i] * step[i];
	}
	for (size_t i = 0; i < n * n; i++)
		work[i] = normal->matrix[i] /
		    sqrt(normal->diagonal[i / n] * normal->diagonal[i % n]);
	if (n > 0) {
		symmetric_eigen(n, work, g, work + n * n);	/* g: the values */
		normal->condition = g[n - 1] > 0 ? g[0] / g[n - 1] : INFINITY;
		memcpy(normal->weakest, work + n * n + n * (n - 1),
		    n * sizeof(*normal->weakest));
	}
	rows_free(&rows);
	free_all(block, B, g, work);
}

/* The covariance of the problem's parameters, for residuals of variance 1; false where the normal
 * equations are singular. The matrix is overwritten. */
static bool
normal_covariance(const struct residuals *r, struct normal *normal, double *covariance)
{
	const struct calib_problem *problem = r->problem;
	size_t n = normal->n, shared = r->shared;

	if (!symmetric_invert(n, normal->matrix))
		return false;
	for (size_t i = 0; i < shared; i++)
		for (size_t j = 0; j < shared; j++) {
			long a = r->state[i], b = r->state[j];

			covariance[i * shared + j] = a < 0 || b < 0 ? 0 :
			    normal->matrix[(size_t)a * n + (size_t)b] * r->scale[a] * r->scale[b];
		}
	for (size_t d = 0; d < problem->devices; d++) {
		size_t fx = calib_parameter_intrinsics(problem, d), fy = fx + 1;

		if (!problem->device[d].square)
			continue;
		for (size_t i = 0; i < shared; i++)
			covariance[fy * shared + i] = covariance[fx * shared + i];
		for (size_t i = 0; i < shared; i++)
			covariance[i * shared + fy] = covariance[i * shared + fx];
	}
	return true;
}

/* ---- the state of a solve, and the weights of its points by their residuals ---- */

struct solve {
	struct calib_problem *problem;
	struct residuals residuals;
	double *x, *state, *base, *scratch;	/* base: weights without loss and rejection */
	double *scale;			/* of each device: robust sd of a weighted residual */
	double *excess, *device_excess;	/* of each view and device, px: noise_find_excess() */
	bool *rejected;
	size_t *holding;		/* points of each pose that are not rejected */
};

#define CAUCHY 2.385		/* scales at which a point counts half */
#define FEWEST_HOLDING 6	/* points that a pose of the board needs */
#define HOLDING_WEIGHT 1e-5	/* of rejected points that alone hold a pose of the board */

/* Residuals of all points in x, in units of the base weights, and the scale of each device. */
static void
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
		calib_sort(solve->scratch, n);
		solve->scale[d] = n ? 1.4826 * solve->scratch[n / 2] : 1;
	}
}

/* Sets the weights of all points: by Cauchy's loss of x, or 0 for what is rejected. */
static void
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
			    solve->holding[view->pose] < FEWEST_HOLDING ? HOLDING_WEIGHT : 0;

			weight[2 * i] = solve->base[2 * i] * factor;
			weight[2 * i + 1] = solve->base[2 * i + 1] * factor;
		}
	}
}

/* ---- noise: what residuals tell of the standard deviations of points ---- */

#define MORE_THAN_CHANCE 3	/* standard deviations */
#define BISECTIONS 40
#define SAME_EXCESS 0.01	/* smaller relative changes of the excess are none */

/* Where the points of one of several devices have no sigma it is what the residuals say; returns
 * whether weights changed. */
static bool
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
	return n + MORE_THAN_CHANCE * sqrt(2 * n);
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

/* A residual (2 i: u, 2 i + 1: v of point i) in standard deviations of its device's points: what a
 * wrong point is known by. */
static double
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

	if ((double)large - (double)n / 2 <= MORE_THAN_CHANCE * sqrt((double)n / 4))
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

	if (fabs(e - solve->excess[v]) <= SAME_EXCESS * fmax(e, solve->excess[v]))
		return false;
	solve->excess[v] = e;
	for (size_t i = 2 * view->first; i < 2 * (view->first + view->n); i++)
		solve->base[i] = 1 / sqrt(variance_of(solve, i, e));
	return true;
}

/*
 * Errors that sigma does not know (the print of the board, its shape, a blurred picture, a lens
 * that the model does not have) come on top of it: an excess in px is added to it in quadrature.
 * That of a device makes the median of all its residuals what it should be. A view whose residuals
 * within `most` standard deviations of the device's (INFINITY: all) have a mean square that differs
 * from theirs gets its own. Wants what solve_measure() left; returns whether weights changed, and
 * residuals and scales are those of the new weights then.
 */
static bool
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

/*
 * ---- centres of circles ----
 *
 * The ellipse that a circle is seen as has another centre than the circle's image: perspective
 * shortens its far half, and the lens bends both. Where the board's plane goes to pixels by
 * p(X + r e) = p(X) + J r e + q(e), e on the unit circle, the ellipse that is fitted to the edge
 * has its centre at 2 mean(e (e . (J r)^-1 (p(X + r e) - p(X)) - 1)), in radii on the board. Of a
 * pinhole this is the centre of the conic to the third order in r over the distance.
 */

#define EDGE_POINTS 24		/* of a circle */
#define DERIVATIVE_STEP 0.01	/* of the radius */

struct circle {
	const struct calib_problem *problem;
	const struct calib_solution *solution;
	const struct calib_pose *board;
	double X[3];		/* its centre on the board */
	double radius;
};

/* The pixel of a device where the point is seen that lies by so many radii from the centre. */
static void
project_circle(const struct circle *c, size_t device, double ex, double ey, double uv[2])
{
	double X[3] = { c->X[0] + c->radius * ex, c->X[1] + c->radius * ey, c->X[2] }, first[3];

	calib_pose_apply(c->board, X, first);
	calib_project(c->problem, c->solution, device, first, uv, NULL, NULL);
}

/* Its derivatives at the centre, row-major. */
static void
derive_circle(const struct circle *c, size_t device, double J[4])
{
	double low[2], high[2];

	for (size_t k = 0; k < 2; k++) {
		project_circle(c, device, k ? 0 : -DERIVATIVE_STEP, k ? -DERIVATIVE_STEP : 0, low);
		project_circle(c, device, k ? 0 : DERIVATIVE_STEP, k ? DERIVATIVE_STEP : 0, high);
		J[k] = (high[0] - low[0]) / (2 * DERIVATIVE_STEP);
		J[2 + k] = (high[1] - low[1]) / (2 * DERIVATIVE_STEP);
	}
}

/* The point of the board, in radii from the circle's centre, that is seen at its ellipse's. */
static void
find_shift(const struct circle *c, size_t device, double shift[2])
{
	double J[4], middle[2], determinant;

	derive_circle(c, device, J);
	project_circle(c, device, 0, 0, middle);
	determinant = J[0] * J[3] - J[1] * J[2];
	shift[0] = shift[1] = 0;
	for (size_t k = 0; k < EDGE_POINTS; k++) {
		double angle = 2 * M_PI * (double)k / EDGE_POINTS;
		double e[2] = { cos(angle), sin(angle) };
		double uv[2], du, dv, beyond;

		project_circle(c, device, e[0], e[1], uv);
		du = uv[0] - middle[0];
		dv = uv[1] - middle[1];
		beyond = (e[0] * (J[3] * du - J[1] * dv) + e[1] * (J[0] * dv - J[2] * du)) /
		    determinant - 1;
		shift[0] += 2.0 / EDGE_POINTS * beyond * e[0];
		shift[1] += 2.0 / EDGE_POINTS * beyond * e[1];
	}
}

/*
 * Takes perspective and lens out of all points, which are the centres of ellipses, by a solution
 * that is nearly right: point->shift is what it takes off. The board has a diameter.
 */
static void
centres_correct(struct calib_problem *problem, const struct calib_solution *solution)
{
	for (size_t v = 0; v < problem->views; v++) {
		const struct calib_view *view = &problem->view[v];
		struct circle c = { problem, solution, &solution->board[view->pose], { 0 },
			problem->board.diameter / 2 };

		for (size_t k = view->first; k < view->first + view->n; k++) {
			struct calib_point *point = &problem->point[k];
			double J[4], shift[2], to[2];

			calib_board_point(&problem->board, solution->bend, point->i, point->j, c.X);
			find_shift(&c, view->through, shift);
			derive_circle(&c, view->device, J);
			to[0] = J[0] * shift[0] + J[1] * shift[1];
			to[1] = J[2] * shift[0] + J[3] * shift[1];
			if (!isfinite(to[0]) || !isfinite(to[1]))
				continue;
			point->u += point->shift[0] - to[0];
			point->v += point->shift[1] - to[1];
			point->shift[0] = to[0];
			point->shift[1] = to[1];
		}
	}
}

/* ---- the result: parameters, residuals, covariance, and whether to trust them ---- */

#define SOLVE_STEPS 100		/* of the last descent, at most */

#define MOST_CONDITION 1e10	/* beyond it something is not determined */
#define MOST_FOCAL_SD 0.05	/* of a focal length, as a share of it */
#define SUSPECT_PX 2

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
		double rt[6] = { 0 };

		if (d)
			memcpy(rt, parameter + calib_parameter_pose(problem, d), sizeof(rt));
		calib_pose_from(rt, &s->device[d]);
		memcpy(s->rotation[d], rt, sizeof(s->rotation[d]));
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
	normal_make(r, &normal);
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
	free_all(normal.matrix, normal.diagonal, normal.weakest);
	return status < 0 || check_places(problem, s) < 0 ? -1 : check_focal(problem, s);
}

/* The solution, which is 0 but for what calib_solution_free() frees; -1 after fail(). */
static int
solve_result(struct solve *solve, struct calib_solution *s)
{
	const struct calib_problem *problem = solve->problem;
	size_t n = calib_parameters(problem), devices = problem->devices, views = problem->views;

	*s = (struct calib_solution){ .devices = devices, .poses = problem->poses, .parameters = n,
		.evaluations = solve->residuals.evaluations,
		.intrinsics = must_alloc(devices, sizeof(*s->intrinsics)),
		.device = must_alloc(devices, sizeof(*s->device)),
		.rotation = must_alloc(devices, sizeof(*s->rotation)),
		.board = must_alloc(problem->poses, sizeof(*s->board)),
		.view_rms = must_alloc(views, sizeof(*s->view_rms)),
		.view_excess = must_alloc(views, sizeof(*s->view_excess)),
		.view_used = must_alloc(views, sizeof(*s->view_used)),
		.device_rms = must_alloc(devices, sizeof(*s->device_rms)),
		.device_scale = must_alloc(devices, sizeof(*s->device_scale)),
		.device_excess = must_alloc(devices, sizeof(*s->device_excess)),
		.device_used = must_alloc(devices, sizeof(*s->device_used)),
		.covariance = must_alloc(n, n * sizeof(*s->covariance)),
		.residual = must_alloc(problem->points, sizeof(*s->residual)) };
	get_parameters(solve, s);
	get_residuals(solve, s);
	return get_covariance(solve, s);
}

void
calib_solution_free(struct calib_solution *solution)
{
	free_all(solution->intrinsics, solution->device, solution->rotation, solution->board,
	    solution->residual, solution->view_rms, solution->view_excess, solution->view_used,
	    solution->device_rms, solution->device_used, solution->device_scale,
	    solution->device_excess, solution->covariance);
	*solution = (struct calib_solution){ 0 };
}

/* ---- the solve ---- */

#define REJECTION_ROUNDS 8	/* at most */
#define LEAST_PX 1e-3		/* no point that is nearer is rejected */
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
static void
scale_states(struct solve *solve)
{
	struct residuals *r = &solve->residuals;
	double *sum = must_alloc(r->states, sizeof(*sum));
	struct rows rows = { 0 };

	rows_make(r, &rows);
	for (int e = 0; e < rows.begin[2 * r->problem->points]; e++)
		sum[rows.state[e]] += rows.value[e] * rows.value[e];
	for (size_t i = 0; i < r->states; i++)
		r->scale[i] = sum[i] > 0 && isfinite(sum[i]) ? 1 / sqrt(sum[i]) : 1;
	rows_free(&rows);
	free(sum);
}

/* A view most of whose points are wrong is wrong. Returns the number of its good points. */
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

/* Rejects points that are too far off; returns whether that changed anything. */
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
	for (size_t round = 0; round < REJECTION_ROUNDS; round++) {
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
	for (size_t round = 0; round < REJECTION_ROUNDS; round++) {
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

static void
allocate_solve(struct solve *solve)
{
	const struct calib_problem *problem = solve->problem;
	size_t n = 2 * problem->points;

	residuals_init(&solve->residuals, problem);
	solve->x = must_alloc(n + 1, sizeof(*solve->x));
	solve->base = must_alloc(n + 1, sizeof(*solve->base));
	solve->scratch = must_alloc(n + 1, sizeof(*solve->scratch));
	solve->rejected = must_alloc(problem->points + 1, sizeof(*solve->rejected));
	solve->state = must_alloc(solve->residuals.states, sizeof(*solve->state));
	solve->scale = must_alloc(problem->devices, sizeof(*solve->scale));
	solve->excess = must_alloc(problem->views, sizeof(*solve->excess));
	solve->device_excess = must_alloc(problem->devices, sizeof(*solve->device_excess));
	solve->holding = must_alloc(problem->poses, sizeof(*solve->holding));
	memcpy(solve->base, solve->residuals.weight, n * sizeof(*solve->base));
}

static void
free_solve(struct solve *solve)
{
	residuals_free(&solve->residuals);
	free_all(solve->x, solve->base, solve->scratch, solve->state, solve->scale, solve->excess,
	    solve->device_excess, solve->rejected, solve->holding);
}

/* From the start values, which `start` finds, to the parameters. `more`: steps of a descent that is
 * enough where nothing is rejected; 0: to the end. */
static int
solve_from(struct solve *solve, int (*start)(struct calib_problem *, double *), int steps)
{
	allocate_solve(solve);
	if (start(solve->problem, solve->residuals.parameter) < 0)
		return -1;
	scale_states(solve);
	return solve->problem->reject > 0 ? solve_robustly(solve) :
	    steps ? descend(solve, steps) : solve_plainly(solve);
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
	const double *solved;
	int status;

	simple.device = must_alloc(problem->devices, sizeof(*simple.device));
	for (size_t d = 0; d < problem->devices; d++) {
		simple.device[d] = problem->device[d];
		if (simple.device[d].model == CALIB_OPENCV8)
			simple.device[d].model = CALIB_OPENCV5;
	}
	status = solve_from(&solve, calib_start, 20);
	solved = solve.residuals.parameter;
	for (size_t d = 0; d < problem->devices && status == 0; d++)
		memcpy(parameter + calib_parameter_intrinsics(problem, d),
		    solved + calib_parameter_intrinsics(&simple, d),
		    calib_intrinsics_count(simple.device[d].model) * sizeof(double));
	if (status == 0)
		memcpy(parameter + calib_parameter_pose(problem, 1),
		    solved + calib_parameter_pose(&simple, 1), sizeof(double) *
		    (solve.residuals.parameters - calib_parameter_pose(&simple, 1)));
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
	status = solve_from(&solve, staged ? start_simpler : calib_start, 0);
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
