/*
 * Beside a jump a pixel's bits may happen to be those that the surface on the other side would
 * have, carried on to it. A decoder would then take it for part of that one. Such pixels are
 * marked: one or both bits of the fringes are turned over, so that the surface beyond the jump ends
 * there for sure. The pixel itself is lost.
 */
#ifndef DITHER3_MARK_H
#define DITHER3_MARK_H

#include "dither3.h"

/* Bits of R (DITHER_BIT(0)) and G (DITHER_BIT(1)) to be turned over, for each pixel of the frame:
 * priv->mark. -1 after fail(). */
int mark_find(struct run *, const struct frame *in);
/* Turns them over in n pixels of a row. */
void mark_row(const unsigned char *restrict mark, unsigned char *restrict red,
    unsigned char *restrict green, unsigned char *restrict stair, size_t n);

#endif
