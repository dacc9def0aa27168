/* Least squares for z = c1 d + c2 d^2 + ... + cn d^n: no constant term, since d = 0 means z = 0. */
#ifndef POLYFIT_H
#define POLYFIT_H

#include <stdbool.h>
#include <stddef.h>

#define POLYFIT_MOST 4		/* degree */

/* Sums over the samples; start with zeros. */
struct polyfit {
	size_t n;
	double moment[2 * POLYFIT_MOST + 1];	/* sum of d^k, k from 2 */
	double with_z[POLYFIT_MOST + 1];	/* sum of z d^k, k from 1 */
	double zz;
};

void polyfit_add(struct polyfit *, double d, double z);
void polyfit_join(struct polyfit *, const struct polyfit *more);
/* c[0] = c1 ...; false where the samples do not determine them. */
bool polyfit_solve(const struct polyfit *, size_t degree, double *c);
/* Root of the mean squared difference between z and its polynomial. */
double polyfit_rms(const struct polyfit *, size_t degree, const double *c);

#endif
