/* Solves small systems of linear equations by elimination with pivots. */
#include "feature/linear_solve.h"

#include <math.h>

bool
linear_solve(double *a, size_t n)
{
	size_t m = n + 1;

	for (size_t k = 0; k < n; k++) {
		size_t best = k;

		for (size_t i = k + 1; i < n; i++)
			if (fabs(a[i * m + k]) > fabs(a[best * m + k]))
				best = i;
		if (!(fabs(a[best * m + k]) > 1e-12))
			return false;
		for (size_t c = 0; c < m && best != k; c++) {
			double swap = a[k * m + c];

			a[k * m + c] = a[best * m + c];
			a[best * m + c] = swap;
		}
		for (size_t i = 0; i < n; i++) {
			double factor = i == k ? 0 : a[i * m + k] / a[k * m + k];

			for (size_t c = k; c < m; c++)
				a[i * m + c] -= factor * a[k * m + c];
		}
	}
	for (size_t k = 0; k < n; k++)
		a[k * m + n] /= a[k * m + k];
	return true;
}
