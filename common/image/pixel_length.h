/* How long a pixel is, for scale bars. */
#ifndef PIXEL_LENGTH_H
#define PIXEL_LENGTH_H

#include "frame/frame.h"

/*
 * The frame's spacing of columns; where it has none and float channels x y, the median distance in
 * x and y of neighbours in a row, NaN where no two of them have points. *unit: of it, or NULL
 * where that is not known; it lives as long as the frame. -1 after fail("--scale-bar", ...).
 */
int pixel_length_of(const struct frame *, double *length, const char **unit);

#endif
