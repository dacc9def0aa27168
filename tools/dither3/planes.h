/* Rows of a picture on their way to one bit, and these bits packed. */
#ifndef DITHER3_PLANES_H
#define DITHER3_PLANES_H

#include "dither3.h"

/* Levels of n pixels of row y from x on, as shares of full scale. */
void planes_shares(const struct frame *in, size_t c, size_t y, size_t x, size_t n, float *out);
/* 1 where a pixel is background. */
void planes_find_black(const float *restrict sine, const float *restrict cosine,
    unsigned char *restrict black, size_t n);
/* Moves R and G to the circle of fringes, where a pixel is no background: pairs of levels that were
 * rounded to the nearest angle lie off it, and their angle says more than their levels. */
void planes_to_circle(float *restrict sine, float *restrict cosine,
    const unsigned char *restrict black, size_t n);
/* The same of one of them, beside the other as it was. */
void planes_one_to_circle(float *restrict share, const float *restrict other,
    const unsigned char *restrict black, size_t n);
/* 1 where a level reaches the threshold of its place in the tile. */
void planes_compare(const float *restrict share, const float *restrict threshold,
    unsigned char *restrict bit, size_t n);
/* Bits of the background become 0. */
void planes_blacken(const unsigned char *restrict black, unsigned char *restrict bit, size_t n);
/* The bits of the first `planes` planes, by thresholds, and what they are made of; planes without a
 * channel stay as they are. */
void planes_bits(const struct priv *priv, const struct frame *in, size_t planes, size_t y, size_t x,
    size_t n, float share[][PIECE], unsigned char black[PIECE], unsigned char bits[][PIECE]);
/* The bits of n pixels of row y from x on, into a row that is zero there. w: of the input. */
void planes_pack(const unsigned char *const bit[4], const struct dither_keys *keys,
    struct frame *out, size_t y, size_t x, size_t n, size_t w);
/* An 8-bit texture goes through as it is; n: PIECE at most. */
void planes_pass_texture(const struct priv *, const struct frame *in, struct frame *out, size_t y,
    size_t x, size_t n);
void planes_clear_row(struct frame *out, size_t y);

#endif
