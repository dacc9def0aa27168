/* The part of space that a calibration's board took in. */
#ifndef CALIB_VOLUME_H
#define CALIB_VOLUME_H

#include <stddef.h>

#include "optics/calib.h"

#define CALIB_VOLUME_ACROSS 5
#define CALIB_VOLUME_DEEP 3
#define CALIB_VOLUME_POINTS (CALIB_VOLUME_ACROSS * CALIB_VOLUME_ACROSS * CALIB_VOLUME_DEEP)

/*
 * A grid of 5 x 5 x 3 points that the camera, the frame's own, sees from u0 to u1 and v0 to v1
 * (pixels) at distances from z0 to z1 along its axis. Returns how many: pixels beyond the fold of
 * its lens have none.
 */
size_t calib_volume_points(const struct pinhole *camera, const double uvz[3][2],
    double X[CALIB_VOLUME_POINTS][3]);

#endif
