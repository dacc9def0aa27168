/* Images as tables of points (frame(5)). */
#ifndef FRAMECAT_POINTS_H
#define FRAMECAT_POINTS_H

#include "run/stage.h"

/*
 * The pixels of an image whose first channel is not NaN, row by row: all channels as float, and
 * behind them `column` and `row`, the pixel's from 0. A table stays as it is. Replaces *frame;
 * after a failure, -1, *frame is as it was and still the caller's.
 */
int points_tabulate(struct run *, struct frame **frame);

#endif
