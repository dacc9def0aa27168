#include "fringe/phase_shift_weights.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"

/* Row i of the design matrix for the unknowns A, B cos phi, B sin phi. */
static void
design_row(const struct capture_fringe *fringe, double sign, double origin_rad, size_t i,
    double row[3])
{
	double shift = sign * fringe->shift_rad[i] + origin_rad;
	bool flat = fringe->two_plus_one && i == 2;

	row[0] = 1;
	row[1] = flat ? 0 : cos(shift);
	row[2] = flat ? 0 : -sin(shift);
}

double
phase_shift_invert(double m[3][3], double inverse[3][3])
{
	double determinant = 0;

	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++) {
			int a = (i + 1) % 3, b = (i + 2) % 3, c = (k + 1) % 3, d = (k + 2) % 3;

			inverse[k][i] = m[a][c] * m[b][d] - m[a][d] * m[b][c];
		}
	for (int i = 0; i < 3; i++)
		determinant += m[0][i] * inverse[i][0];
	for (int i = 0; i < 3 && determinant != 0; i++)
		for (int k = 0; k < 3; k++)
			inverse[i][k] /= determinant;
	return determinant;
}

/* Rounding in the angles leaves 1e-16 where the weight is 0, and where it is 1. */
static float
tidy(double v)
{
	double whole = round(v);

	return (float)(fabs(v - whole) < 1e-12 ? whole + 0.0 : v);
}

/* Would the numbers, taken for radians instead of degrees, be spread over half a turn and more? */
static bool
are_radians(const struct capture_fringe *fringe)
{
	double least = INFINITY, most = -INFINITY;

	for (size_t i = 0; i < fringe->n && !fringe->two_plus_one; i++) {
		least = fmin(least, fringe->shift_rad[i]);
		most = fmax(most, fringe->shift_rad[i]);
	}
	return (most - least) * 180 / M_PI > M_PI && (most - least) * 180 / M_PI < 2 * M_PI;
}

int
phase_shift_weights_solve(const struct capture_fringe *fringe, double sign, double origin_rad,
    struct phase_shift_fit *out)
{
	double normal[3][3] = { { 0 } }, inverse[3][3], row[3];
	double n = (double)fringe->n, determinant;
	char name[CAPTURE_SET_NAME_SIZE];

	out->n = fringe->n;
	out->weights = calloc(fringe->n, sizeof(*out->weights));
	out->model = calloc(fringe->n, sizeof(*out->model));
	if (!out->weights || !out->model)
		return fail_memory();
	for (size_t i = 0; i < fringe->n; i++) {
		design_row(fringe, sign, origin_rad, i, row);
		for (int a = 0; a < 3; a++)
			for (int b = 0; b < 3; b++)
				normal[a][b] += row[a] * row[b];
	}
	determinant = phase_shift_invert(normal, inverse);
	if (!(determinant > 1e-6 * n * n * n))
		return fail(NULL, "the shifts of %s do not determine a phase%s",
		    capture_set_name(fringe, name), are_radians(fringe) ?
		    ": they look like radians, --shift takes degrees" : "");
	for (size_t i = 0; i < fringe->n; i++) {
		double weight[3] = { 0 };

		design_row(fringe, sign, origin_rad, i, row);
		for (int a = 0; a < 3; a++)
			for (int b = 0; b < 3; b++)
				weight[a] += inverse[a][b] * row[b];
		out->weights[i] = (struct phase_shift_weights){ tidy(n * weight[0]),
			tidy(weight[1]), tidy(weight[2]) };
		out->model[i] = (struct phase_shift_model){ tidy(row[1]), tidy(row[2]) };
	}
	return 0;
}

void
phase_shift_weights_free(struct phase_shift_fit *fit)
{
	free(fit->weights);
	free(fit->model);
	fit->weights = NULL;
	fit->model = NULL;
	fit->n = 0;
}
