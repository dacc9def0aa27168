/*
 * Beside a jump a pixel's bits may happen to be those that the surface on the other side would
 * have, carried on to it. A decoder might then take it for part of that one. Such pixels are
 * marked: one or both bits of the fringes are turned over, so that the surface beyond the jump ends
 * there for sure; if possible so that its own surface still gives them, else the pixel is lost.
 * First where another surface lies in front, then where one lies behind that is not lost itself: a
 * wall of one pixel will do.
 *
 * A hole so narrow that a decoder may close it gets bits that contradict the surface around.
 */
#ifndef DITHER3_MARK_H
#define DITHER3_MARK_H

#include "dither3.h"

/* Bits of R (DITHER_BIT(0)), G and, in holes, the stair to be turned over, for each pixel of the
 * frame: priv->mark. -1 after fail(). */
int mark_find(struct run *, const struct frame *in);
/* Turns them over in n pixels of a row. */
void mark_row(const unsigned char *restrict mark, unsigned char *restrict red,
    unsigned char *restrict green, unsigned char *restrict stair, size_t n);

#endif
