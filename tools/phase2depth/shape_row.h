/* Coordinates, where the camera's rays meet the projector's columns or rows. */
#ifndef SHAPE_ROW_H
#define SHAPE_ROW_H

#include "phase2depth.h"

/* x y z of row y, the output's first three channels. */
void shape_row(const struct phase2depth *, const struct frame *in, struct frame *out, size_t y);

#endif
