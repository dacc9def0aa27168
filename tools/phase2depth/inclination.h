/*
 * How far a surface is turned away from the camera and from the projector, taken as a whole. A
 * plane in space has 1/z = a + b x/z + c y/z, in the camera's frame; the one from which points
 * differ least in the sum of absolute values is found from the points of a coarse grid.
 */
#ifndef INCLINATION_H
#define INCLINATION_H

#include <stdbool.h>
#include <stddef.h>

#include "optics/calib.h"

/* One of the points: x/z, y/z, 1/z in the camera's frame; NaN: none. */
struct inclination_point {
	float x, y, inverse;
};

/* A point of the world; x may be NaN. */
struct inclination_point inclination_point(const struct pinhole *camera, const double X[3]);
/*
 * Degrees between the plane's normal and the mean of the rays: 0 faces the device, more than 90
 * shows it its back. n points; false where there are too few to tell. point[] is reordered.
 */
bool inclination_find(struct inclination_point *point, size_t n, const struct calib *,
    double *camera_deg, double *projector_deg);

#endif
