/* Solves and inverts small systems of equations, row-major, in double. */
#include "base/linear.h"

double
vector_dot(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

double
matrix3_determinant(const double m[9])
{
	return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
	    m[2] * (m[3] * m[7] - m[4] * m[6]);
}

bool
symmetric_factor(size_t n, double *a, double least)
{
	for (size_t j = 0; j < n; j++) {
		double diagonal = a[j * n + j];

		for (size_t k = 0; k < j; k++)
			a[j * n + j] -= a[j * n + k] * a[j * n + k];
		if (!(a[j * n + j] > least * diagonal) || !isfinite(a[j * n + j]))
			return false;
		a[j * n + j] = sqrt(a[j * n + j]);
		for (size_t i = j + 1; i < n; i++) {
			for (size_t k = 0; k < j; k++)
				a[i * n + j] -= a[i * n + k] * a[j * n + k];
			a[i * n + j] /= a[j * n + j];
		}
	}
	return true;
}

void
symmetric_solve(size_t n, const double *L, double *b, size_t m)
{
	for (size_t c = 0; c < m; c++) {
		for (size_t i = 0; i < n; i++) {
			for (size_t k = 0; k < i; k++)
				b[i * m + c] -= L[i * n + k] * b[k * m + c];
			b[i * m + c] /= L[i * n + i];
		}
		for (size_t i = n; i-- > 0;) {
			for (size_t k = i + 1; k < n; k++)
				b[i * m + c] -= L[k * n + i] * b[k * m + c];
			b[i * m + c] /= L[i * n + i];
		}
	}
}

bool
symmetric_invert(size_t n, double *a)
{
	if (!symmetric_factor(n, a, 0))
		return false;
	/* L becomes its inverse M, then a^-1 = M' M. */
	for (size_t j = 0; j < n; j++) {
		a[j * n + j] = 1 / a[j * n + j];
		for (size_t i = j + 1; i < n; i++) {
			double sum = 0;

			for (size_t k = j; k < i; k++)
				sum -= a[i * n + k] * a[k * n + j];
			a[i * n + j] = sum / a[i * n + i];
		}
	}
	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++) {
			double sum = 0;

			for (size_t k = j; k < n; k++)
				sum += a[k * n + i] * a[k * n + j];
			a[i * n + j] = sum;
		}
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			a[i * n + j] = a[j * n + i];
	return true;
}

/* One of Jacobi's rotations: a[p][q] becomes 0. */
static void
rotate(size_t n, double *a, double *vector, size_t p, size_t q)
{
	double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
	double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1));
	double c = 1 / sqrt(t * t + 1), s = t * c;

	for (size_t k = 0; k < n; k++) {
		double x = a[k * n + p], y = a[k * n + q];

		a[k * n + p] = c * x - s * y;
		a[k * n + q] = s * x + c * y;
	}
	for (size_t k = 0; k < n; k++) {
		double x = a[p * n + k], y = a[q * n + k];

		a[p * n + k] = c * x - s * y;
		a[q * n + k] = s * x + c * y;
		x = vector[p * n + k];
		y = vector[q * n + k];
		vector[p * n + k] = c * x - s * y;
		vector[q * n + k] = s * x + c * y;
	}
}

void
symmetric_eigen(size_t n, double *a, double *value, double *vector)
{
	for (size_t i = 0; i < n * n; i++)
		vector[i] = i % (n + 1) == 0;
	for (int sweep = 0; sweep < 60; sweep++) {
		double off = 0;

		for (size_t p = 0; p < n; p++)
			for (size_t q = p + 1; q < n; q++) {
				double small = 1e-17 * sqrt(fabs(a[p * n + p] * a[q * n + q]));

				if (!(fabs(a[p * n + q]) > small))
					continue;
				off += fabs(a[p * n + q]);
				rotate(n, a, vector, p, q);
			}
		if (off == 0)
			break;
	}
	for (size_t i = 0; i < n; i++)
		value[i] = a[i * n + i];
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++) {
			double swapped = value[i];

			if (value[j] <= value[i])
				continue;
			value[i] = value[j];
			value[j] = swapped;
			for (size_t k = 0; k < n; k++) {
				swapped = vector[i * n + k];
				vector[i * n + k] = vector[j * n + k];
				vector[j * n + k] = swapped;
			}
		}
}

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

/* Middle and 1/size of points, so that sums of powers stay near 1. */
static void
scale_of(const struct homography_pair *pair, size_t n, bool to, double mid[2], double *scale)
{
	double size = 0;

	mid[0] = mid[1] = 0;
	for (size_t k = 0; k < 2 * n; k++)
		mid[k % 2] += (to ? pair[k / 2].to : pair[k / 2].from)[k % 2] / (double)n;
	for (size_t k = 0; k < 2 * n; k++)
		size += fabs((to ? pair[k / 2].to : pair[k / 2].from)[k % 2] - mid[k % 2]) /
		    (double)n;
	*scale = size > 0 ? 1 / size : 1;
}

bool
homography_fit(const struct homography_pair *pair, size_t n, double H[9], double *rms)
{
	double a[8 * 9] = { 0 }, mid[2][2], scale[2], inner[9], half[9], sum = 0;

	scale_of(pair, n, false, mid[0], &scale[0]);
	scale_of(pair, n, true, mid[1], &scale[1]);
	for (size_t k = 0; k < n; k++) {
		double x = (pair[k].from[0] - mid[0][0]) * scale[0];
		double y = (pair[k].from[1] - mid[0][1]) * scale[0];

		for (int i = 0; i < 2; i++) {
			double u = (pair[k].to[i] - mid[1][i]) * scale[1];
			double row[9] = { i ? 0 : x, i ? 0 : y, i ? 0 : 1, i ? x : 0, i ? y : 0,
				i ? 1 : 0, -u * x, -u * y, u };

			for (int p = 0; p < 8; p++)
				for (int q = 0; q < 9; q++)
					a[9 * p + q] += row[p] * row[q];
		}
	}
	if (!linear_solve(a, 8))
		return false;
	for (int k = 0; k < 8; k++)
		inner[k] = a[9 * k + 8];
	inner[8] = 1;
	matrix3_product(inner, (double[9]){ scale[0], 0, -scale[0] * mid[0][0], 0, scale[0],
	    -scale[0] * mid[0][1], 0, 0, 1 }, half);
	matrix3_product((double[9]){ 1 / scale[1], 0, mid[1][0], 0, 1 / scale[1], mid[1][1], 0, 0,
	    1 }, half, H);
	for (size_t k = 0; k < n; k++) {
		double uv[2];

		homography_apply(H, pair[k].from, uv);
		sum += (uv[0] - pair[k].to[0]) * (uv[0] - pair[k].to[0]) +
		    (uv[1] - pair[k].to[1]) * (uv[1] - pair[k].to[1]);
	}
	*rms = sqrt(sum / (2 * (double)n));
	return isfinite(*rms);
}
