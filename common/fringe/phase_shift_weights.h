/* Least squares over phase steps (methods §2): weights that turn images into A, B cos, B sin. */
#ifndef PHASE_SHIFT_WEIGHTS_H
#define PHASE_SHIFT_WEIGHTS_H

#include "fringe/capture_set.h"

/* Of one image: A = I_0 + sum mean (I - I_0) / n, B cos phi = sum c (I - I_0), and
 * B sin phi = sum s (I - I_0). */
struct phase_shift_weights {
	float mean, c, s;
};

/* Of one image: I = A + B cos phi cosine + B sin phi sine. */
struct phase_shift_model {
	float cosine, sine;
};

/* weights[i] and model[i] belong to plane[i] of the fringe set. */
struct phase_shift_fit {
	size_t n;
	struct phase_shift_weights *weights;
	struct phase_shift_model *model;
};

/*
 * For I = A + B cos(phi + origin + sign * shift); any shifts that determine a phase, equal or not.
 * *out is overwritten; free with phase_shift_weights_free, also after a failure. -1 after fail().
 */
int phase_shift_weights_solve(const struct capture_fringe *, double sign, double origin_rad,
    struct phase_shift_fit *out);
void phase_shift_weights_free(struct phase_shift_fit *);
/* The inverse of a symmetric 3x3 matrix, as normal equations have one; its determinant, 0 where
 * there is no inverse. */
double phase_shift_invert(double m[3][3], double inverse[3][3]);

#endif
