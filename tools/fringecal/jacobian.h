/*
 * Rows of a Jacobian by the parameters of a calibration, beside the six rigid motions that change
 * the same quantities.
 */
#ifndef JACOBIAN_H
#define JACOBIAN_H

#include <stdbool.h>

#include "calib_problem.h"

struct jacobian {
	size_t n, parameters;
	double *J;		/* n rows of `parameters` */
	double (*M)[6];		/* n rows; NaN in the first place: there is no such row */
	bool *fits;		/* n: the motions are fitted to this row; all at first */
};

/* n rows of zeros. -1 after fail(). */
int jacobian_new(struct jacobian *, size_t n, size_t parameters);
void jacobian_free(struct jacobian *);
/* Takes the motions out of all rows of J that M fits best to those that count; M becomes another
 * base of the same. -1 after fail(). */
int jacobian_project_out(struct jacobian *);
/* row C row', C being n x n. */
double jacobian_variance(const double *C, size_t n, const double *row);

/* Derivatives of a device's pixel u, v at a point: by all parameters, J[2][parameters] (zeros at
 * first), and by the point, D[6]. */
void jacobian_of_pixel(const struct calib_problem *, const struct calib_solution *, size_t device,
    const double X[3], double *J, double D[6]);

#endif
