#include "jacobian.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/symmetric.h"
#include "optics/rotation.h"

double
jacobian_variance(const double *C, size_t n, const double *row)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		double column = 0;

		for (size_t j = 0; j < n; j++)
			column += C[i * n + j] * row[j];
		sum += row[i] * column;
	}
	return fmax(0, sum);
}

int
jacobian_new(struct jacobian *rows, size_t n, size_t parameters)
{
	rows->n = n;
	rows->parameters = parameters;
	rows->J = calloc(n * parameters + 1, sizeof(*rows->J));
	rows->M = calloc(n + 1, sizeof(*rows->M));
	rows->fits = calloc(n + 1, sizeof(*rows->fits));
	if (!rows->J || !rows->M || !rows->fits)
		return fail_memory();
	for (size_t r = 0; r < n; r++)
		rows->fits[r] = true;
	return 0;
}

void
jacobian_free(struct jacobian *rows)
{
	free(rows->J);
	free(rows->M);
	free(rows->fits);
}

int
jacobian_project_out(struct jacobian *rows)
{
	size_t p = rows->parameters;
	double A[36] = { 0 }, scale[6] = { 0 }, *b = calloc(6 * p + 1, sizeof(*b));
	bool solved;

	if (!b)
		return fail_memory();
	for (size_t r = 0; r < rows->n; r++)
		for (size_t i = 0; i < 6 && !isnan(rows->M[r][0]); i++)
			scale[i] += rows->M[r][i] * rows->M[r][i];
	for (size_t r = 0; r < rows->n; r++)
		for (size_t i = 0; i < 6 && !isnan(rows->M[r][0]); i++) {
			rows->M[r][i] /= sqrt(scale[i] > 0 ? scale[i] : 1);
		}
	for (size_t r = 0; r < rows->n; r++)
		for (size_t i = 0; i < 6 && rows->fits[r] && !isnan(rows->M[r][0]); i++) {
			for (size_t j = 0; j < 6; j++)
				A[6 * i + j] += rows->M[r][i] * rows->M[r][j];
			for (size_t k = 0; k < p; k++)
				b[i * p + k] += rows->M[r][i] * rows->J[r * p + k];
		}
	solved = symmetric_factor(6, A, 1e-14);
	if (solved)
		symmetric_solve(6, A, b, p);
	for (size_t r = 0; r < rows->n && solved; r++)
		for (size_t i = 0; i < 6; i++)
			for (size_t k = 0; k < p; k++)
				rows->J[r * p + k] -= rows->M[r][i] * b[i * p + k];
	free(b);
	return solved ? 0 : fail(NULL, "the uncertainty is not determined: all points lie on a "
	    "line");
}

void
jacobian_of_pixel(const struct calib_problem *problem, const struct calib_solution *solution,
    size_t device, const double X[3], double *J, double D[6])
{
	size_t count = calib_intrinsics_count(problem->device[device].model);
	size_t at = calib_parameter_intrinsics(problem, device), p = solution->parameters;
	double uv[2], lens[2 * CALIB_INTRINSICS];

	calib_project(problem, solution, device, X, uv, D, lens);
	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; k < count; k++)
			J[i * p + at + k] = lens[i * count + k];
	if (device > 0) {
		const double *R = solution->device[device].R;
		double turn[9], in_device[6] = { 0 };	/* by the point in the device's frame */

		at = calib_parameter_pose(problem, device);
		rotation_derivative(R, X, turn);
		for (size_t i = 0; i < 2; i++)
			for (size_t j = 0; j < 3; j++)
				for (size_t k = 0; k < 3; k++)
					in_device[3 * i + j] += D[3 * i + k] * R[3 * j + k];
		for (size_t i = 0; i < 2; i++)
			for (size_t j = 0; j < 3; j++) {
				J[i * p + at + 3 + j] = in_device[3 * i + j];
				for (size_t k = 0; k < 3; k++)
					J[i * p + at + j] += in_device[3 * i + k] *
					    turn[3 * k + j];
			}
	}
}
