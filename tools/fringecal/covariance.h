/* How well a solve determines its parameters. */
#ifndef COVARIANCE_H
#define COVARIANCE_H

#include "residuals.h"

struct normal {
	size_t n;		/* shared states of the residuals: without the board's poses */
	double *matrix;		/* n x n, the poses eliminated */
	double *diagonal;	/* what its diagonal were if the poses were known */
	double square;		/* the sum of squares */
	double decrease;	/* of it, that one more step of Newton promises */
	double condition;	/* of the matrix over the diagonal; INFINITY: singular */
	double *weakest;	/* the combination of states that is determined least */
};

/* At the residuals' parameters. 0, or -1 after fail(). */
int normal_make(struct residuals *, struct normal *);
/* The covariance of the problem's parameters, for residuals of variance 1; false where the normal
 * equations are singular. The matrix is overwritten. */
bool normal_covariance(const struct residuals *, struct normal *, double *covariance);
void normal_free(struct normal *);

#endif
