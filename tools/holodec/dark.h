/* Pixels so dark that they may be background, which a lossy format mixes with the surface. */
#ifndef HOLODEC_DARK_H
#define HOLODEC_DARK_H

#include "growing.h"

/* A sample of the pixel, as a level. */
float dark_sample(const struct frame *frame, size_t channel, const struct pixel *pixel);
/* The same of growing->in; c: 0 sine, 1 cosine, 2 stair. */
float dark_level(const struct growing *growing, size_t c, const struct pixel *pixel);
/* What JPEG codes at full resolution: luma, in the layout yuv the stair. */
float dark_luma(const struct growing *growing, const struct pixel *pixel);
/* May the pixel be background? Asks growing->state for background beside it. */
bool dark_is(const struct growing *growing, const struct pixel *pixel);
/* Sets the marks of row y's pixels within REACH of the picture's border that are darker than any
 * surface. Of a background of one row or column there no colour of half the resolution has a black
 * sample, so that it looks as smooth as the surface. */
void dark_note(const struct reading *reading, const struct frame *in, size_t y,
    unsigned char *mark);

#endif
