/* The option --pixel beside the distance of pixels that a frame states itself. */
#ifndef PIXEL_OPTION_H
#define PIXEL_OPTION_H

#include "base/numbers.h"
#include "frame/head.h"

/* Warns where an option of one or two numbers is another distance than the frame's spacings by more
 * than a hundredth; the option counts. False where it gave no warning. */
bool pixel_option_differs(const struct numbers *option, const struct frame_head *);

#endif
