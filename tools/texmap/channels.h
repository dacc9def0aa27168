#ifndef TEXMAP_CHANNELS_H
#define TEXMAP_CHANNELS_H

/* The channels of a frame with colours. */
#include "frame/frame.h"

/* The first `own` channels of a frame but r g b, as floats. -1 after fail(). */
int channels_keep(const struct frame *in, size_t own, struct frame **kept);
/* A frame of the kept channels with r g b behind them, whose pixels `colours` holds; the caller
 * fills these, and frees both, also after a failure. -1 after fail(). */
int channels_begin(const struct frame *kept, double white, struct frame **colours,
    struct frame **out);

#endif
