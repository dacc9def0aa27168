/* The distance of two faces as parallel planes. */
#ifndef FITSHAPE_LENGTH_H
#define FITSHAPE_LENGTH_H

#include "measure.h"

/* Of parts whose planes are fitted: distance, distance_sd, normal, angle_deg. */
void length_find(struct measurement *);
/* Likewise, of points with weights: the distance along the common normal. */
struct length_points {
	const struct cloud *cloud;
	const double *weight;
};
double length_between(const struct length_points *a, const struct length_points *b,
    double normal[3]);

#endif
