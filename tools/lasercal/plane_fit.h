/* A plane through points of many views, without those that are wrong. */
#ifndef LASERCAL_PLANE_FIT_H
#define LASERCAL_PLANE_FIT_H

#include <stdbool.h>
#include <stddef.h>

struct plane_point {
	double X[3];
	size_t view;
};

struct plane_fit {
	double plane[4];	/* A B C D, (A B C) a unit vector, C > 0 (or B, or A) */
	double rms;		/* distances of the points that count */
	size_t used;
	double singular[3];	/* of the centred points that count, falling */
	/* By leaving out one view after the other: of the normal, and of the distance at the middle
	 * of the points. NaN for one view. */
	double sd_rad, sd_mm;
	double limit;		/* points farther off were left out; INFINITY: all count */
};

enum plane_method {
	PLANE_ROBUST,	/* points farther off than 5 MAD do not count */
	PLANE_WITHIN,	/* points farther off than a given limit do not count */
	PLANE_PLAIN	/* all points count */
};

/*
 * Singular vectors of the centred points. Unless plain, from the plane of three points that has the
 * least median distance (in three quarters of the views), or most points within the limit, of 500
 * threes: of it the points that count; then those of the plane at hand, for 5 MAD by Tukey's
 * weights, until it stays, three times at least (methods §11; a MAD is 1.4826 medians, the standard
 * deviation of normal noise). limit: of PLANE_WITHIN. -1 after fail(): fewer than 3 points, no
 * memory.
 */
int plane_fit(const struct plane_point *, size_t n, size_t views, enum plane_method, double limit,
    struct plane_fit *);
double plane_distance(const double plane[4], const double X[3]);

#endif
