/* Registration of point clouds: poses, rigid steps, iterated closest points. */
#pragma once

#include "points/cloud.h"
#include "points/ordered_view.h"
#include "run/run.h"

/* ---- rigid motions, and text files of them ---- */

/* A point X goes to R X + T. */
struct pose {
	double R[9], T[3];		/* row-major; T in the unit of the points */
};

struct pose_list {
	struct pose *v;
	size_t n;
};

extern const struct pose pose_identity;

void pose_apply(const struct pose *, const double X[3], double to[3]);
/* The motion `first`, then the motion `then`. to may be one of them. */
void pose_compose(const struct pose *then, const struct pose *first, struct pose *to);
void pose_invert(const struct pose *, struct pose *to);
/* A rotation by the vector turn_rad (axis times angle) about the point `center`, then the shift. */
void pose_from_twist(const double turn_rad[3], const double shift[3], const double center[3],
    struct pose *to);
/* The vector turn_rad of its rotation; angles up to pi. */
void pose_turn(const struct pose *, double turn_rad[3]);
/* Makes R the orthonormal matrix next to it. */
void pose_orthonormalize(struct pose *);
/*
 * Reads every pose of a text file: numbers separated by blanks, commas, semicolons or brackets; #
 * begins a comment. A pose is a 4x4 matrix, the 3x4 matrix R|T row by row, or the nine numbers of R
 * row by row and then the three of T (a bar between them is allowed). The number of numbers and the
 * rotations tell which. An entry may be off by 2e-4 from a rotation's, as of four digits; R becomes
 * the next one. *to is overwritten; the caller calls pose_list_free(). 0, or -1 after fail(path,
 * ...): also for what is no rigid motion, naming the pose and what it does instead.
 */
int pose_list_load(const char *path, struct pose_list *to);
void pose_list_free(struct pose_list *);

/*
 * One step of fitting points to a surface by a rigid motion, point to plane, robust (methods §10's
 * cut: 3 sigma by the MAD), and which motions the surface leaves free.
 */

/* A point, the unit normal of the surface where it belongs, and its distance below the surface
 * along that normal: normal . (foot - point). NaN residual: no pair. */
struct rigid_pair {
	float point[3], normal[3], residual;
};

struct rigid_step {
	struct pose motion;		/* of the points: it takes the residuals away */
	double turn_rad, shift;		/* how far: the angle, and the shift of `center` */
	double center[3], radius;	/* of the pairs in use: mean, rms distance from it */
	size_t pairs, used;		/* all with a residual; those within the cut */
	double median, sigma;		/* of the residuals; sigma is 1.4826 MAD */
	double rms;			/* of those in use, about 0 */
};

/*
 * The step: least squares over the pairs within 3 sigma of the median. Motions that the pairs leave
 * free are not made. cut: no pair beyond it is in use, whatever sigma is (INFINITY: none). The
 * result does not depend on the number of threads; run may be NULL (one thread). 0, or -1 after
 * fail(): memory, or fewer than 6 pairs.
 */
int rigid_step_solve(struct run *run, const struct rigid_pair *pair, size_t n, double cut,
    struct rigid_step *step);

/* What the surface leaves undetermined. */
struct rigid_freedom {
	double eigenvalue[6];	/* of the 6x6 normal matrix, turns as shifts at `radius`; falling */
	size_t free;		/* how many motions are free: the last ones */
	char motion[160];	/* the freest in words: "the shift along (1.00, 0.00, 0.00)" */
};

#define RIGID_STEP_FREE 1e-6	/* of the largest eigenvalue, below which a motion is free */

/* The motions that the pairs in use (those within the cut of `step`) leave free. */
void rigid_step_freedom(struct run *run, const struct rigid_pair *pair, size_t n,
    const struct rigid_step *step, struct rigid_freedom *freedom);

/*
 * Rigid motions of several views of one surface: iterated closest points, point to plane, of all
 * views at once (the cut: methods §10).
 */

/* Points of a cloud in cubes twice as wide as partners are sought. */
struct icp_level {
	size_t n;
	double spacing;
	float *at[3], *normal[3];
	struct grid grid;
};

/* A view: an ordered picture, which finds partners by projection, or points with normals. Either
 * all are ordered or none. */
struct icp_view {
	char name[80];			/* begins messages */
	struct pose pose;		/* to the world: the start, then the result */
	size_t points;
	double noise, pitch;		/* of the points along the normal; their distance */
	struct ordered_view ordered;	/* pixel NULL: a cloud */
	struct icp_level level[2];	/* of a cloud: a few of its points, all */
	bool sided;			/* its normals look to the side that was seen */
	/* of the fit, to the view whose points it shares most */
	size_t partner;
	double overlap;			/* share of its points that agree within the cut */
	double rms;			/* of those, along the normal */
	double expected;		/* the rms that the noise of both views explains */
	double moved;			/* from the start, in standard errors, rms of six motions */
};

/* After cloud_normals() by the others; the cloud may go then. noise is the caller's. -1 after
 * fail(): few points; icp_view_free() in either case. */
int icp_view_take_cloud(struct run *, const struct cloud *, struct icp_view *);
/*
 * Fits all views to each other; the first one stays. On few points, then on all, until a step turns
 * by less than 1e-6 rad and shifts by less than 1e-4 of the points' unit, or by a twentieth of what
 * the noise leaves uncertain, or 16 steps in all by a fifth of that. ring: only neighbours meet,
 * and the last and the first. max_rms: NaN, or the rms that is accepted. The result does not depend
 * on the number of threads. 0, or -1 after fail(): fewer than 1000 common points, overlaps that
 * leave a motion free, no rest after 100 steps, or a fit that is none: rms above max_rms, else
 * above 3 times what the noise explains.
 */
int icp_fit(struct run *run, struct icp_view *view, size_t views, bool ring, double max_rms,
    size_t *steps);
void icp_view_free(struct icp_view *);
