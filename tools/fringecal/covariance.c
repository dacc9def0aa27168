/* Normal equations of a calibration with the board's poses eliminated, one 6 x 6 block each. */
#include "covariance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/symmetric.h"

struct rows {
	double *x;
	int *begin, *state;
	double *value;
};

struct pose_block {		/* of one pose */
	double D[36], g[6];	/* its own equations */
	double *B;		/* n x 6, with the shared states */
};

static int
rows_make(struct residuals *r, struct rows *rows)
{
	size_t n = 2 * r->problem->points;

	rows->x = calloc(n + 1, sizeof(*rows->x));
	rows->begin = calloc(n + 1, sizeof(*rows->begin));
	rows->state = calloc(r->elements + 1, sizeof(*rows->state));
	rows->value = calloc(r->elements + 1, sizeof(*rows->value));
	if (!rows->x || !rows->begin || !rows->state || !rows->value)
		return fail_memory();
	residuals_evaluate(r, rows->x, rows->begin, rows->state, rows->value);
	return 0;
}

static void
rows_free(struct rows *rows)
{
	free(rows->x);
	free(rows->begin);
	free(rows->state);
	free(rows->value);
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

/* work: 2 n x n */
static void
find_condition(struct normal *normal, double *work, double *value)
{
	size_t n = normal->n;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			work[i * n + j] = normal->matrix[i * n + j] /
			    sqrt(normal->diagonal[i] * normal->diagonal[j]);
	normal->condition = 1;
	if (n == 0)
		return;
	symmetric_eigen(n, work, value, work + n * n);
	normal->condition = value[n - 1] > 0 ? value[0] / value[n - 1] : INFINITY;
	memcpy(normal->weakest, work + n * n + n * (n - 1), n * sizeof(*normal->weakest));
}

static void
find_decrease(struct normal *normal, double *work, double *g)
{
	size_t n = normal->n;

	memcpy(work, normal->matrix, n * n * sizeof(*work));
	memcpy(work + n * n, g, n * sizeof(*g));
	if (!symmetric_factor(n, work, 0))
		return;
	symmetric_solve(n, work, work + n * n, 1);
	for (size_t i = 0; i < n; i++)
		normal->decrease += g[i] * work[n * n + i];
}

int
normal_make(struct residuals *r, struct normal *normal)
{
	size_t n = r->shared_states, poses = r->problem->poses;
	struct pose_block *block = calloc(poses + 1, sizeof(*block));
	double *B = calloc(poses * n + 1, 6 * sizeof(*B));
	double *g = calloc(n + 1, sizeof(*g)), *work = calloc(2 * n * n + 1, sizeof(*work));
	struct rows rows = { 0 };
	int status;

	*normal = (struct normal){ .n = n };
	normal->matrix = calloc(n * n + 1, sizeof(*normal->matrix));
	normal->diagonal = calloc(n + 1, sizeof(*normal->diagonal));
	normal->weakest = calloc(n + 1, sizeof(*normal->weakest));
	if (!block || !B || !g || !work || !normal->matrix || !normal->diagonal ||
	    !normal->weakest)
		status = fail_memory();
	else
		status = rows_make(r, &rows);
	if (status == 0) {
		for (size_t p = 0; p < poses; p++)
			block[p].B = B + 6 * n * p;
		accumulate(r, &rows, normal, block, g);
		find_decrease(normal, work, g);
		find_condition(normal, work, g);
	} else {
		normal_free(normal);
	}
	rows_free(&rows);
	free(block);
	free(B);
	free(g);
	free(work);
	return status;
}

bool
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

void
normal_free(struct normal *normal)
{
	free(normal->matrix);
	free(normal->diagonal);
	free(normal->weakest);
	*normal = (struct normal){ 0 };
}
