/* Where the camera of an ordered frame of points stands. */
#ifndef SPLAT_EYE_H
#define SPLAT_EYE_H

#include "splat_view.h"

/* Its centre in the frame of the points themselves; NaN where no pinhole saw them in this order. -1
 * after fail(). */
int splat_eye_find(const struct splat_source *, double eye[3]);
/* Up to 2500 of its points, X Y Z and column and row each; the caller frees them in either case. -1
 * after fail(). */
int splat_eye_sample(const struct splat_source *, double (**sample)[5], size_t *n);

#endif
