/* Pixels so near to the background that a lossy format has mixed them with it. */
#ifndef HOLODEC_BACKGROUND_H
#define HOLODEC_BACKGROUND_H

#include "tile.h"

#define BACKGROUND_REACH_MOST 64 /* px */

/* Drops pixels of channel z with background in the square of `reach` around them, in rows
 * y0 .. y1 - 1 of n columns from x on. Outside the image is none. */
void background_drop(const struct reading *reading, size_t reach, const struct frame *in,
    struct frame *out, size_t z, size_t x, size_t n, size_t y0, size_t y1);

#endif
