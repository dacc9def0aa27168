/* The camera of an ordered frame of points, fitted to these points. */
#ifndef ORDERED_CAMERA_H
#define ORDERED_CAMERA_H

#include "points/ordered_view.h"

/* n points, X Y Z u v each. -1 after fail() only where memory is short; camera->rms_px says how
 * good it is: INFINITY where there is none. */
int ordered_camera_fit(const double (*sample)[5], size_t n, struct ordered_camera *);
bool ordered_camera_project(const struct ordered_camera *, const double X[3], double uv[2]);

#endif
