/*
 * Planes, spheres and cylinders: the signed orthogonal distance of a point, its derivatives, and
 * least squares of them (methods §11 for the plane; Gauss-Newton with Levenberg's damping). All
 * lengths are in one unit, coordinates about a point near the shape's points.
 */
#ifndef FITSHAPE_SHAPE_H
#define FITSHAPE_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

enum shape_kind { SHAPE_PLANE, SHAPE_SPHERE, SHAPE_CYLINDER };
#define SHAPE_UNKNOWNS 5

struct shape {
	enum shape_kind kind;
	bool fixed;		/* the radius is given, not fitted */
	double centre[3];	/* of a plane or a cylinder's axis: the point nearest to 0 */
	double axis[3];		/* unit: a plane's normal, a cylinder's axis */
	double radius;
};

/* How many numbers are fitted: 3 of a plane; 4 of a sphere, 5 of a cylinder, one less if fixed. */
size_t shape_unknowns(const struct shape *);
/* Positive outside of a sphere or cylinder, and on the side of a plane where its normal points. */
double shape_distance(const struct shape *, const double x[3]);

/*
 * The unknowns: two tilts of the axis (of a plane and a cylinder), in rad times `reach`, about the
 * point of it that is nearest to 0; the centre's movement (a sphere: x y z; a cylinder: across the
 * axis; a plane: along the normal); the radius.
 */
struct shape_tangent {
	struct shape shape;
	double u[3], v[3];	/* unit, across the axis */
	double reach;
};

/* The unknowns' directions at a shape. */
void shape_tangent(const struct shape *, double reach, struct shape_tangent *);
/* Unit normal of the shape's surface at x, outwards. */
void shape_normal(const struct shape *, const double x[3], double normal[3]);

struct run;

struct shape_points {
	struct run *run;		/* whose threads help; NULL: none */
	const double (*x)[3];
	const double *weight;		/* NULL: 1 */
	size_t n;
};

struct shape_normals {		/* normal equations at a shape: J'WJ, J'Wd, d'Wd and sum of W */
	double a[SHAPE_UNKNOWNS * SHAPE_UNKNOWNS], g[SHAPE_UNKNOWNS], squares, weight;
};

/* Sums in a fixed order, whatever the number of threads. -1 after fail_memory(). */
int shape_normals(const struct shape_points *, const struct shape_tangent *,
    struct shape_normals *);
/* Root mean square distance of the points from 0: the reach. */
double shape_reach(const struct shape_points *);
/*
 * Least squares from a start. 0; 1 where the normal equations become singular, or the radius grows
 * beyond 1e7 times the points' reach; -1 after fail().
 */
int shape_fit(const struct shape_points *, struct shape *);

#endif
