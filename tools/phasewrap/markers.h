/* Images of markers beside the phase. */
#ifndef MARKERS_H
#define MARKERS_H

#include "fringe/capture_set.h"
#include "frame/frame.h"

/* Row y of the markers' levels as they are, into the channels before those of the codes. */
void markers_copy_row(const struct capture_set *, const struct frame *in, struct frame *out,
    size_t y);

#endif
