/* Measured minus computed points of a calibration, weighted, and their derivatives. */
#ifndef RESIDUALS_H
#define RESIDUALS_H

#include "calib_problem.h"

/*
 * All parameters: those of the solution, then rotation vector and translation of each pose of the
 * board. The states are those that are free, in the same order.
 */
struct residuals {
	const struct calib_problem *problem;
	size_t shared, parameters, states, shared_states, elements;
	double *parameter;
	long *state;		/* of a parameter; -1: it is held, or goes with the one before */
	double *scale;		/* a state times this is the parameter */
	double *weight;		/* of u and v of each point; 0: it does not count */
	size_t evaluations;
	/* Of one view at a time. */
	void *memory;
	size_t most;		/* points of a view */
};

/* 0, or -1 after fail(). The parameters are unset, weights 1 over sigma, scales 1. */
int residuals_init(struct residuals *, const struct calib_problem *);
void residuals_free(struct residuals *);
/* Parameters of these states. */
void residuals_set(struct residuals *, const double *state);
void residuals_get(const struct residuals *, double *state);
/* x[2 n], weighted, computed minus measured; the derivatives of row r by the states, of elements
 * begin[r] .. begin[r + 1] - 1, where begin is not NULL. */
void residuals_evaluate(struct residuals *, double *x, int *begin, int *state, double *value);
/* Of a rotation vector and a translation; NULL: no motion. */
void calib_pose_from(const double *rt, struct calib_pose *);

#endif
