/* A surface seen by the camera: every pixel shows itself. A map. */
#ifndef SHADE_PIXELS_H
#define SHADE_PIXELS_H

#include "shade.h"

/* Rows y0 .. y1 - 1, for the body of a map. */
void pixels_rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0,
    size_t y1, const struct row_scratch *);

#endif
