/* Images of markers beside the phase. */
#ifndef MARKERS_H
#define MARKERS_H

#include "frame/frame.h"
#include "phasewrap.h"

/* Row y of the markers' levels as they are, into their channels. */
void markers_copy_row(const struct phasewrap *, const struct frame *in, struct frame *out,
    size_t y);

#endif
