/* The two balls of a ball bar among all points of a frame. */
#ifndef FITSHAPE_FIND_BALLS_H
#define FITSHAPE_FIND_BALLS_H

#include "cloud.h"

/*
 * The points of a ball of each of these diameters. It is the sphere of that diameter, within 5 %,
 * that most points lie near to, fitted to those near to it; its points are those that lie within 10
 * standard deviations (1.4826 medians) of it, and a tenth of its radius. The second one is looked
 * for without the points within the first. Unless the diameters differ, a is the ball farther left
 * (of smaller x, then y, then z). -1 after fail(): there are none.
 */
int find_balls(const struct cloud *, const double diameter[2], const char *unit, struct cloud *a,
    struct cloud *b);

#endif
