/* Depth above a reference plane. */
#ifndef DEPTH_ROWS_H
#define DEPTH_ROWS_H

#include "phase2depth.h"

/* PHI - PHI_ref of row y. */
void depth_rows_above(const struct depthfit *, const struct frame *, float *out, size_t y);
/* The depth of rows y0 <= y < y1. */
void depth_rows(const struct phase2depth *, const struct frame *in, struct frame *out, size_t y0,
    size_t y1);

#endif
