/* Linear algebra of a few unknowns: symmetric systems and vectors of three numbers. */
#ifndef LINEAR_H
#define LINEAR_H

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

#endif
