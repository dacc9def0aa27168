/* The range of a frame's depths, found on all threads. */
#ifndef HOLOENC_RANGE_H
#define HOLOENC_RANGE_H

#include "run/stage.h"

/* The smallest and largest finite sample of a float channel; low > high where there is none. */
void range_find(struct run *run, const struct frame *frame, size_t channel, float *low,
    float *high);
/* The share of the finite samples of a coarse grid that lie outside low to high; 0 where there are
 * none. *least and *most: of these samples. */
double range_outside(const struct frame *, size_t channel, double low, double high, float *least,
    float *most);

#endif
