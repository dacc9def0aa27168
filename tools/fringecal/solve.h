/* The state of a solve, and what is made of it. */
#ifndef SOLVE_H
#define SOLVE_H

#include "residuals.h"

#define SOLVE_STEPS 100		/* of the last descent, at most */

struct solve {
	struct calib_problem *problem;
	struct residuals residuals;
	double *x, *state, *base, *scratch;	/* base: weights without loss and rejection */
	double *scale;			/* of each device: robust sd of a weighted residual */
	double *excess, *device_excess;	/* of each view and device, px: see noise.h */
	bool *rejected;
	size_t *holding;		/* points of each pose that are not rejected */
};

/* Residuals of all points in x, in units of the base weights, and the scale of each device. */
void solve_measure(struct solve *);
/* Sets the weights of all points: by Cauchy's loss of x, or 0 for what is rejected. */
void solve_weigh(struct solve *, bool cauchy);
/* The solution, which is 0 but for what calib_solution_free() frees; -1 after fail(). */
int solve_result(struct solve *, struct calib_solution *);

#endif
