#include "polyfit.h"

#include <math.h>

void
polyfit_add(struct polyfit *fit, double d, double z)
{
	double power = d;

	for (size_t k = 1; k <= 2 * POLYFIT_MOST; k++, power *= d) {
		if (k <= POLYFIT_MOST)
			fit->with_z[k] += z * power;
		fit->moment[k] += power;
	}
	fit->zz += z * z;
	fit->n++;
}

void
polyfit_join(struct polyfit *fit, const struct polyfit *more)
{
	for (size_t k = 1; k <= 2 * POLYFIT_MOST; k++)
		fit->moment[k] += more->moment[k];
	for (size_t k = 1; k <= POLYFIT_MOST; k++)
		fit->with_z[k] += more->with_z[k];
	fit->zz += more->zz;
	fit->n += more->n;
}

/* Normal equations by Cholesky, d in units of its root mean square: powers up to the eighth would
 * otherwise differ by too many orders of magnitude. */
bool
polyfit_solve(const struct polyfit *fit, size_t degree, double *c)
{
	double scale = sqrt(fit->moment[2] / (double)fit->n), l[POLYFIT_MOST][POLYFIT_MOST];

	if (fit->n < degree || !(scale > 0))
		return false;
	for (size_t i = 0; i < degree; i++) {
		c[i] = fit->with_z[i + 1] / pow(scale, (double)(i + 1));
		for (size_t j = 0; j <= i; j++) {
			double sum = fit->moment[i + j + 2] / pow(scale, (double)(i + j + 2));

			for (size_t k = 0; k < j; k++)
				sum -= l[i][k] * l[j][k];
			if (i == j && !(sum > 1e-12 * (double)fit->n))
				return false;
			l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
		}
		for (size_t k = 0; k < i; k++)
			c[i] -= l[i][k] * c[k];
		c[i] /= l[i][i];
	}
	for (size_t i = degree; i-- > 0;) {
		for (size_t k = i + 1; k < degree; k++)
			c[i] -= l[k][i] * c[k];
		c[i] /= l[i][i];
	}
	for (size_t i = 0; i < degree; i++)
		c[i] /= pow(scale, (double)(i + 1));
	return true;
}

double
polyfit_rms(const struct polyfit *fit, size_t degree, const double *c)
{
	double sum = fit->zz;

	for (size_t i = 0; i < degree; i++) {
		sum -= 2 * c[i] * fit->with_z[i + 1];
		for (size_t j = 0; j < degree; j++)
			sum += c[i] * c[j] * fit->moment[i + j + 2];
	}
	return sqrt(fmax(sum, 0) / (double)fit->n);
}
