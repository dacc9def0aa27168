/* Small symmetric systems, row-major. */
#ifndef LINEAR_H
#define LINEAR_H

#include <stdbool.h>
#include <stddef.h>

/* A = L L' in place, L in the lower triangle; false where A is not positive definite. */
bool linear_cholesky(double *A, size_t n);
/* b becomes the solution of L L' x = b. */
void linear_solve(const double *L, double *b, size_t n);
/* A positive definite becomes its inverse; false where it is not. */
bool linear_invert(double *A, size_t n);
/* Eigenvalues in rising order and their vectors, one a row, by Jacobi's rotations. A is
 * overwritten. */
void linear_eigen(double *A, size_t n, double *value, double *vector);

#endif
