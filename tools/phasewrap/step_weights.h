/* Least squares over phase steps (methods §2): weights that turn images into A, B cos, B sin. */
#ifndef STEP_WEIGHTS_H
#define STEP_WEIGHTS_H

#include "fringe/capture_set.h"

/* Of one image: A = I_0 + sum mean (I - I_0) / n, B cos phi = sum c (I - I_0), and
 * B sin phi = sum s (I - I_0). */
struct steps_weight {
	float mean, c, s;
};

/* weight[i] belongs to plane[i] of the fringe set. */
struct steps {
	size_t n;
	struct steps_weight *weight;
};

/*
 * For I = A + B cos(phi + origin + sign * shift); any shifts that determine a phase, equal or not.
 * *out is overwritten; free with steps_free, also after a failure. -1 after fail().
 */
int steps_solve(const struct capture_fringe *, double sign, double origin_rad, struct steps *out);
void steps_free(struct steps *);

#endif
