/* Small symmetric systems and matrices, row-major. */
#ifndef SYMMETRIC_H
#define SYMMETRIC_H

#include <stdbool.h>
#include <stddef.h>

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
