/* Small systems of linear equations. */
#ifndef LINEAR_SOLVE_H
#define LINEAR_SOLVE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Solves n equations: a is n x (n + 1), row-major, its last column the right side and, on return,
 * the solution (Gauss and Jordan's elimination, rows exchanged). False where a pivot is below
 * 1e-12: scale the unknowns to about 1.
 */
bool linear_solve(double *a, size_t n);

#endif
