/* From readings to turns and depths: pieces of rows, without regions. */
#ifndef HOLODEC_DECODE_H
#define HOLODEC_DECODE_H

#include "medians.h"

/* A quarter of a turn beyond the faces, in normalised depth. */
float decode_slack(const struct holo_code *code);
/* Rests and orders to turns, the order rounded and held to 0 .. most. */
void decode_nearest_turns(const float *restrict rest, const float *restrict order,
    float *restrict turns, size_t n, float most);
/* Turns to depth; NaN where that is farther than slack (normalised) outside of the cube. */
void decode_to_depth(const float *restrict turns, float *restrict out, size_t x, size_t n,
    const struct holo_code *code, float slack);
/* Depths of n pixels of row y from x on, each by itself; the tile keeps the readings. */
void decode_nearest(const struct reading *reading, const struct frame *in, size_t y, size_t x,
    size_t n, struct tile *tile, float *out);
/* The same as the papers decode, with whole turns off the median of five taken out. */
void decode_plain(
    const struct reading *reading, const struct frame *in, size_t y, size_t x, size_t n,
    float *out);
/* Rows y0 .. y1 - 1 of n columns from x on into channel z, by the medians around each pixel. */
void decode_median(const struct reading *reading, const struct frame *in, struct frame *out,
    size_t z, size_t x, size_t n, size_t y0, size_t y1);

#endif
