/* The papers' Gaussian of 7 x 7 over a plane of bits: levels. A map. */
#ifndef UNDITHER3_SMOOTH_H
#define UNDITHER3_SMOOTH_H

#include "undither3.h"

/* The Gaussian of n samples along one axis, whose neighbours are `step` apart; at least
 * SMOOTH_REACH of them are there on both sides. */
void smooth_line(const float *restrict in, float *restrict out, size_t step, size_t n,
    const float *restrict kernel);
/* Rows y0 .. y1 - 1 of a plane of bits into channel c. */
void smooth_rows(const struct priv *priv, const struct frame *in, size_t plane, struct frame *out,
    size_t c, size_t y0, size_t y1);
/* The texture, of one bit or of eight. */
void smooth_texture(const struct priv *priv, const struct frame *in, struct frame *out, size_t y0,
    size_t y1);
/* The same on a device, for the body's passes: sums along rows, then down columns. */
int smooth_passes(struct run *, struct passes *);

#endif
