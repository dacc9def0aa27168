/* Was the picture made one of few colours, as GIF and PNG with a palette are? */
#ifndef HOLODEC_PALETTE_H
#define HOLODEC_PALETTE_H

#include <stdbool.h>

#include "frame/frame.h"

/* Warns where the first three channels of every row_step-th row, of 8 bits, have no more colours
 * than a palette holds. Sets *warned then, and does nothing where it is set. */
void palette_warn(const struct frame *, size_t row_step, bool *warned);

#endif
