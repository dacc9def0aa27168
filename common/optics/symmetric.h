/* Small symmetric matrices, row-major, n <= SYMMETRIC_MOST. */
#ifndef SYMMETRIC_H
#define SYMMETRIC_H

#include <stddef.h>

#define SYMMETRIC_MOST 16

/*
 * Eigenvalues in falling order and their unit vectors: vector[i n ..] is that of value[i]. Jacobi's
 * rotations until nothing is left off the diagonal.
 */
void symmetric_eigen(size_t n, const double *a, double *value, double *vector);
/* Solves a x = b for a positive definite a (Cholesky), which is overwritten; b becomes x. -1
 * without a message where a is not positive definite. */
int symmetric_solve(size_t n, double *a, double *b);

#endif
