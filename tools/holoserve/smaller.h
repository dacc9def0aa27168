/* A frame made smaller by a box filter. */
#ifndef HOLOSERVE_SMALLER_H
#define HOLOSERVE_SMALLER_H

#include "base/opt.h"
#include "frame/frame.h"

/* So many columns and rows become one, so that w x h fits into the size; 1 where it does, or where
 * there is no size. */
size_t smaller_step(const struct opt_size *, size_t w, size_t h);
/*
 * Channels depth and texture (NO_CHANNEL: without) of a frame of floats, as channels 0 and 1:
 * means over step x step pixels; NaN where fewer than half of them have a value. Columns and rows
 * that fill no box are left out. The metadata stay. -1 after fail().
 */
int smaller_make(const struct frame *, size_t depth, size_t texture, size_t step,
    struct frame **out);

#endif
