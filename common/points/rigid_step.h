/*
 * One step of fitting points to a surface by a rigid motion, point to plane, robust (methods §10's
 * cut: 3 sigma by the MAD), and which motions the surface leaves free.
 */
#ifndef RIGID_STEP_H
#define RIGID_STEP_H

#include <stdbool.h>

#include "points/pose.h"
#include "run/run.h"

/* A point, the unit normal of the surface where it belongs, and its distance below the surface
 * along that normal: normal . (foot - point). NaN residual: no pair. */
struct rigid_pair {
	float point[3], normal[3], residual;
};

struct rigid_step {
	struct pose motion;		/* of the points: it takes the residuals away */
	double turn_rad, shift;		/* how far: the angle, and the shift of `center` */
	double standard_errors;		/* how far in those that the residuals leave the step */
	double center[3], radius;	/* of the pairs in use: mean, rms distance from it */
	size_t pairs, used;		/* all with a residual; those within the cut */
	double median, sigma;		/* of the residuals; sigma is 1.4826 MAD */
	double rms;			/* of those in use, about 0 */
	double matrix[36];		/* the normal matrix, turns as shifts at `radius` */
};

/*
 * The step: least squares over the pairs within 3 sigma of the median. Motions that the pairs leave
 * free are not made. cut: no pair beyond it is in use, whatever sigma is (INFINITY: none). The
 * result does not depend on the number of threads; run may be NULL (one thread). 0, or -1 after
 * fail(): memory, or fewer than 6 pairs.
 */
int rigid_step_solve(struct run *run, const struct rigid_pair *pair, size_t n, double cut,
    struct rigid_step *step);

/*
 * The same for measured surfaces, whose normals have noise: other[n] is a second normal for each
 * pair, NaN where there is none, whose noise is independent of the first one's. What is free is
 * found as in rigid_step_freedom(): noise does not let a plane slide.
 */
int rigid_step_solve_noisy(struct run *run, const struct rigid_pair *pair, const float (*other)[3],
    size_t n, double cut, struct rigid_step *step);

/* How far a small motion goes, in the standard errors that the residuals of `step` leave. */
double rigid_step_standard_errors(const struct rigid_step *step, const struct pose *motion);

#define RIGID_STEP_FREE 1e-6	/* of the largest eigenvalue, below which a motion is free */

/* What the surface leaves undetermined. */
struct rigid_freedom {
	double eigenvalue[6];	/* of the 6x6 normal matrix, turns as shifts at `radius`; falling */
	size_t free;		/* how many motions are free: the last ones */
	char motion[160];	/* the freest in words: "the shift along (1.00, 0.00, 0.00)" */
};

/*
 * The motions that the pairs in use (those within the cut of `step`) leave free: whose eigenvalue
 * is below 1e-6 of the largest. other[n], or NULL: a second normal for each pair whose noise is
 * independent of the first one's; the matrix is then made of both, so that the noise of normals
 * does not pass for shape, and a motion is also free if its eigenvalue is not 10 times what noise
 * alone gives. 0 or -1 after fail().
 */
int rigid_step_freedom(struct run *run, const struct rigid_pair *pair, const float (*other)[3],
    size_t n, const struct rigid_step *step, struct rigid_freedom *freedom);
/* The same with another bound than RIGID_STEP_FREE. */
int rigid_step_freedom_below(struct run *run, const struct rigid_pair *pair,
    const float (*other)[3], size_t n, const struct rigid_step *step, double least,
    struct rigid_freedom *freedom);

#endif
