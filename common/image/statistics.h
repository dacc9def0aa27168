/* Numbers about samples, in double and in a fixed order: they depend on no thread count. */
#ifndef STATISTICS_H
#define STATISTICS_H

#include "run/stage.h"

struct statistics {		/* of the finite samples */
	size_t n, nan, infinite;
	double min, max;	/* inf and -inf where n = 0 */
	double mean, squares;	/* sum of (sample - mean)^2 */
};

/* Of every channel, into all[0 .. c - 1]. -1 after fail(). */
int statistics_of(struct run *, const struct frame *, struct statistics *all);
/* Standard deviation of the samples about their mean; NaN where there are none. */
double statistics_sd(const struct statistics *);
/* The smallest v of which at least a share q of all n are no larger; NaN if n = 0. Reorders v. */
double statistics_quantile(double *v, size_t n, double q);
/* The one of rank k < n, from 0 on. Reorders v. */
double statistics_ranked(double *v, size_t n, size_t k);

#endif
