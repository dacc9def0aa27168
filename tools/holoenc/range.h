/* The range of a frame's depths, found on all threads. */
#ifndef HOLOENC_RANGE_H
#define HOLOENC_RANGE_H

#include "run/stage.h"

/* The smallest and largest finite sample of a float channel; low > high where there is none. */
void range_find(struct run *run, const struct frame *frame, size_t channel, float *low,
    float *high);

#endif
