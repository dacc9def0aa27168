/* The standard deviation of a depth, from that of the phase. */
#ifndef DEPTH_SIGMA_H
#define DEPTH_SIGMA_H

#include "phase2depth.h"

/* Channel sigma, of the input and of a measured reference, if they have one. */
void depth_sigma_plan(const struct frame_head *, struct phase2depth *);
/* Row y of the output, whose depth, or x y z, is made. */
void depth_sigma_row(const struct phase2depth *, const struct frame *in, struct frame *out,
    size_t y);

#endif
