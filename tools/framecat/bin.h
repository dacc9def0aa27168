/* Frames of larger pixels. */
#ifndef FRAMECAT_BIN_H
#define FRAMECAT_BIN_H

#include "run/stage.h"

/*
 * Means of n x n samples, integers rounded; NaN takes no part. Columns and rows that fill no whole
 * cell are dropped. Keeps origin_px, bin and the spacings. Replaces *frame; after a failure, -1,
 * *frame is as it was and still the caller's.
 */
int bin_frame(struct run *, struct frame **frame, size_t n);

#endif
