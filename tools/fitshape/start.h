/* Where a fit starts: shapes near to the points, without a guess of the user's. */
#ifndef FITSHAPE_START_H
#define FITSHAPE_START_H

#include "shape.h"

/* The median of |distance| of n values; v is overwritten. */
double start_median(float *v, size_t n);

/*
 * From all points, linearly: the plane of the largest two principal axes; the sphere of least
 * squares of |x - c|^2 - r^2; the cylinder of least squares among axes in all directions. 0; 1
 * where the points give none; -1 after fail().
 */
int start_all(const struct shape_points *, struct shape *);
/*
 * The shape of a few points of all that has the least median distance (methods §11): of 1000 threes
 * (plane) or fours (sphere), or of threes seen along axes in all directions (cylinder). The same.
 */
int start_robust(const struct shape_points *, struct shape *);
/* The sphere through four points, false where there is none. */
bool start_sphere_through(const double *const p[4], struct shape *);

#endif
