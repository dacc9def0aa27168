/* The length of a pixel on the object. */
#ifndef PIXEL_LENGTH_H
#define PIXEL_LENGTH_H

#include "base/numbers.h"
#include "frame/frame.h"
#include "frame/head.h"

/* ---- the option --pixel beside the distance of pixels that a frame states itself ---- */

/* Warns where an option of one or two numbers is another distance than the frame's spacings by more
 * than a hundredth; the option counts. False where it gave no warning. */
bool pixel_option_differs(const struct numbers *option, const struct frame_head *);

/* ---- how long a pixel is, for scale bars ---- */

/*
 * The frame's spacing of columns; where it has none and float channels x y, the median distance in
 * x and y of neighbours in a row, NaN where no two of them have points. *unit: of it, or NULL
 * where that is not known; it lives as long as the frame. -1 after fail("--scale-bar", ...).
 */
int pixel_length_of(const struct frame *, double *length, const char **unit);

#endif
