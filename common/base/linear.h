/* Linear algebra of a few unknowns: vectors of three numbers, 3 x 3 matrices, small systems. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- products of vectors of three numbers ---- */

/* In hot loops: inline. */
static inline double
vector3_dot(const double a[3], const double b[3])
{
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* out is neither a nor b. */
static inline void
vector3_cross(const double a[3], const double b[3], double out[3])
{
	for (int k = 0; k < 3; k++)
		out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static inline double
vector3_length(const double a[3])
{
	return sqrt(vector3_dot(a, a));
}

/* a becomes a unit vector. */
static inline void
vector3_normalise(double a[3])
{
	double length = vector3_length(a);

	for (int k = 0; k < 3; k++)
		a[k] /= length;
}

/* Of n numbers. */
double vector_dot(const double *a, const double *b, size_t n);

/* ---- 3 x 3 matrices, row-major; out is none of the factors ---- */

static inline void
matrix3_apply(const double A[9], const double x[3], double out[3])
{
	for (int i = 0; i < 3; i++)
		out[i] = A[3 * i] * x[0] + A[3 * i + 1] * x[1] + A[3 * i + 2] * x[2];
}

/* A x + t */
static inline void
matrix3_apply_add(const double A[9], const double x[3], const double t[3], double out[3])
{
	matrix3_apply(A, x, out);
	for (int i = 0; i < 3; i++)
		out[i] += t[i];
}

/* A' x */
static inline void
matrix3_apply_transposed(const double A[9], const double x[3], double out[3])
{
	for (int i = 0; i < 3; i++)
		out[i] = A[i] * x[0] + A[3 + i] * x[1] + A[6 + i] * x[2];
}

static inline void
matrix3_product(const double A[9], const double B[9], double out[9])
{
	for (int i = 0; i < 9; i++)
		out[i] = A[i / 3 * 3] * B[i % 3] + A[i / 3 * 3 + 1] * B[3 + i % 3] +
		    A[i / 3 * 3 + 2] * B[6 + i % 3];
}

static inline void
matrix3_transpose(const double A[9], double out[9])
{
	for (int i = 0; i < 9; i++)
		out[i] = A[3 * (i % 3) + i / 3];
}

double matrix3_determinant(const double A[9]);

/* ---- small symmetric systems and matrices, row-major ---- */

/*
 * Cholesky: a = L L' in place, L in the lower triangle, the upper one neither read nor written.
 * False where a is not positive definite: a pivot is not more than `least` of the diagonal element
 * that it came from, or is not finite.
 */
bool symmetric_factor(size_t n, double *a, double least);
/* b, n x m, becomes the solution x of L L' x = b. */
void symmetric_solve(size_t n, const double *L, double *b, size_t m);
/* A positive definite matrix becomes its inverse, both triangles; false where it is not. */
bool symmetric_invert(size_t n, double *a);
/*
 * Eigenvalues in falling order and their unit vectors: vector[i n ..] is that of value[i]. Jacobi's
 * rotations until nothing is left off the diagonal; a is overwritten.
 */
void symmetric_eigen(size_t n, double *a, double *value, double *vector);
/*
 * Any n equations: a is n x (n + 1), its last column the right side and, on return, the solution
 * (Gauss and Jordan's elimination, rows exchanged). False where a pivot is below 1e-12: scale the
 * unknowns to about 1.
 */
bool linear_solve(double *a, size_t n);

/* ---- homographies: 3 x 3 matrices that take x, y, 1 to a multiple of u, v, 1 ---- */

struct homography_pair {
	double from[2], to[2];
};

static inline void
homography_apply(const double H[9], const double xy[2], double uv[2])
{
	double z = H[6] * xy[0] + H[7] * xy[1] + H[8];

	uv[0] = (H[0] * xy[0] + H[1] * xy[1] + H[2]) / z;
	uv[1] = (H[3] * xy[0] + H[4] * xy[1] + H[5]) / z;
}

/*
 * Of n pairs, 4 at least: least squares of the equations without denominators, points scaled about
 * their middles, which must not lie on the line that goes to infinity. *rms: of u and of v, in the
 * unit of `to`. False where the pairs do not determine it.
 */
bool homography_fit(const struct homography_pair *, size_t n, double H[9], double *rms);
