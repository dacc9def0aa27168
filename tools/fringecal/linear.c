/* Small symmetric systems. */
#include "linear.h"

#include <math.h>
#include <string.h>

bool
linear_cholesky(double *A, size_t n)
{
	for (size_t j = 0; j < n; j++) {
		for (size_t k = 0; k < j; k++)
			A[j * n + j] -= A[j * n + k] * A[j * n + k];
		if (!(A[j * n + j] > 0) || !isfinite(A[j * n + j]))
			return false;
		A[j * n + j] = sqrt(A[j * n + j]);
		for (size_t i = j + 1; i < n; i++) {
			for (size_t k = 0; k < j; k++)
				A[i * n + j] -= A[i * n + k] * A[j * n + k];
			A[i * n + j] /= A[j * n + j];
		}
	}
	return true;
}

void
linear_solve(const double *L, double *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++)
			b[i] -= L[i * n + k] * b[k];
		b[i] /= L[i * n + i];
	}
	for (size_t i = n; i-- > 0;) {
		for (size_t k = i + 1; k < n; k++)
			b[i] -= L[k * n + i] * b[k];
		b[i] /= L[i * n + i];
	}
}

bool
linear_invert(double *A, size_t n)
{
	if (!linear_cholesky(A, n))
		return false;
	/* L becomes its inverse M, then A^-1 = M' M. */
	for (size_t j = 0; j < n; j++) {
		A[j * n + j] = 1 / A[j * n + j];
		for (size_t i = j + 1; i < n; i++) {
			double sum = 0;

			for (size_t k = j; k < i; k++)
				sum -= A[i * n + k] * A[k * n + j];
			A[i * n + j] = sum / A[i * n + i];
		}
	}
	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++) {
			double sum = 0;

			for (size_t k = j; k < n; k++)
				sum += A[k * n + i] * A[k * n + j];
			A[i * n + j] = sum;
		}
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			A[i * n + j] = A[j * n + i];
	return true;
}

/* Turns rows and columns p and q so that A[p, q] is 0. */
static void
rotate(double *A, double *vector, size_t n, size_t p, size_t q)
{
	double theta = (A[q * n + q] - A[p * n + p]) / (2 * A[p * n + q]);
	double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1));
	double c = 1 / sqrt(t * t + 1), s = t * c;

	for (size_t k = 0; k < n; k++) {
		double a = A[k * n + p], b = A[k * n + q];

		A[k * n + p] = c * a - s * b;
		A[k * n + q] = s * a + c * b;
	}
	for (size_t k = 0; k < n; k++) {
		double a = A[p * n + k], b = A[q * n + k];

		A[p * n + k] = c * a - s * b;
		A[q * n + k] = s * a + c * b;
		a = vector[p * n + k];
		b = vector[q * n + k];
		vector[p * n + k] = c * a - s * b;
		vector[q * n + k] = s * a + c * b;
	}
}

void
linear_eigen(double *A, size_t n, double *value, double *vector)
{
	memset(vector, 0, n * n * sizeof(*vector));
	for (size_t i = 0; i < n; i++)
		vector[i * n + i] = 1;
	for (size_t sweep = 0; sweep < 30; sweep++) {
		bool changed = false;

		for (size_t p = 0; p < n; p++)
			for (size_t q = p + 1; q < n; q++)
				if (fabs(A[p * n + q]) > 1e-17 *
				    sqrt(fabs(A[p * n + p] * A[q * n + q]))) {
					rotate(A, vector, n, p, q);
					changed = true;
				}
		if (!changed)
			break;
	}
	for (size_t i = 0; i < n; i++)
		value[i] = A[i * n + i];
	for (size_t i = 0; i < n; i++) {
		size_t least = i;

		for (size_t k = i + 1; k < n; k++)
			if (value[k] < value[least])
				least = k;
		for (size_t k = 0; k < n && least != i; k++) {
			double swapped = vector[i * n + k];

			vector[i * n + k] = vector[least * n + k];
			vector[least * n + k] = swapped;
		}
		double swapped = value[i];

		value[i] = value[least];
		value[least] = swapped;
	}
}
