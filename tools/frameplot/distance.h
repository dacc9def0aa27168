/* How far the points of a section lie along it. */
#ifndef DISTANCE_H
#define DISTANCE_H

#include <stddef.h>

/*
 * The section seen from above: each point's x, y projected onto the straight line that fits them
 * best, by least squares of the distances from it, from the first one that is finite towards the
 * last. So noise does not add up to a longer way, as it does along the points, and a plot of z over
 * it has the object's own widths and slopes. NaN where a point is. -1 after fail() where all points
 * are at one place.
 */
int distance_along(const double (*point)[2], size_t n, double *distance);

#endif
