/* Inverses of symmetric matrices. */
#ifndef NORMAL_EQUATIONS_H
#define NORMAL_EQUATIONS_H

#include <stdbool.h>
#include <stddef.h>

/* Replaces the n x n matrix m, which is symmetric and positive definite, by its inverse. False
 * where it has none: a pivot is below 1e-9 of its diagonal element. */
bool normal_equations_invert(double *m, size_t n);

#endif
