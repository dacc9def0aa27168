/* The points of an ordered frame, their neighbours and tangents. */
#ifndef VISIBLE_POINTS_H
#define VISIBLE_POINTS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "frame/frame.h"

/* Neighbours are linked up to so many times the median distance of neighbours. */
#define VISIBLE_LINK 8.0
/* A step so many times longer than the one beside it is an edge. */
#define VISIBLE_STEP 2.5

/* Points of a frame of floats, in the camera's world. */
struct visible_points {
	const struct frame *frame;
	size_t channel[3];	/* x y z */
	double spacing;		/* median distance of neighbours; 0: there are none */
	double noise;		/* standard deviation of a point, from second differences */
};

static inline double
visible_points_distance(const double a[3], const double b[3])
{
	double d[3] = { a[0] - b[0], a[1] - b[1], a[2] - b[2] };

	return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

/* Measures spacing and noise. -1 after fail(). */
int visible_points_init(struct visible_points *, const struct frame *, const size_t channel[3]);
/* The point of a pixel; false where one of its coordinates is not finite. */
bool visible_points_at(const struct visible_points *, size_t x, size_t y, double X[3]);
/* Its differences to neighbours along the row and along the column, per pixel: central where both
 * neighbours are linked, to the nearer one where the other is VISIBLE_STEP times farther off. False
 * where there is none. */
bool visible_points_tangents(const struct visible_points *, size_t x, size_t y, double along_x[3],
    double along_y[3]);

#endif
