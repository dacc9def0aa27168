#include "normal_equations.h"

#define LEAST_PIVOT 1e-9

/* One pivot of Gauss and Jordan, in place. */
static void
eliminate(double *m, size_t n, size_t k)
{
	double pivot = 1 / m[k * n + k];

	m[k * n + k] = 1;
	for (size_t j = 0; j < n; j++)
		m[k * n + j] *= pivot;
	for (size_t i = 0; i < n; i++) {
		double factor = m[i * n + k];

		if (i == k)
			continue;
		m[i * n + k] = 0;
		for (size_t j = 0; j < n; j++)
			m[i * n + j] -= factor * m[k * n + j];
	}
}

bool
normal_equations_invert(double *m, size_t n)
{
	double whole[256];

	if (n > sizeof(whole) / sizeof(*whole))
		return false;
	for (size_t i = 0; i < n; i++)
		whole[i] = m[i * n + i];
	for (size_t k = 0; k < n; k++) {
		if (!(m[k * n + k] > LEAST_PIVOT * whole[k]))
			return false;
		eliminate(m, n, k);
	}
	return true;
}
