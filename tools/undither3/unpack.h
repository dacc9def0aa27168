/* The bits of a picture. */
#ifndef UNDITHER3_UNPACK_H
#define UNDITHER3_UNPACK_H

#include "undither3.h"

/* -1 after fail() where a sample can be none of three bits a pixel: it has been through a lossy
 * format, or is something else. */
int unpack_check(const struct priv *priv, const struct frame *in);
/* The bits of plane c, 0 or 1, of n pixels of row y from x on. */
void unpack_row(const struct priv *priv, const struct frame *in, size_t c, size_t y, size_t x,
    size_t n, float *restrict out);

#endif
