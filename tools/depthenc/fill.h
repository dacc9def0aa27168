/*
 * Holes filled smoothly, so that a video codec has no edge to code: push-pull [Gortler et al. 1996,
 * The Lumigraph, sec. 3.4.2]. Each coarser level has the means of the pixels that have a value, and
 * each pixel without one takes it from the next coarser level between its four nearest pixels.
 */
#ifndef DEPTHENC_FILL_H
#define DEPTHENC_FILL_H

#include "depthcode/depthcode.px.h"
#include "run/stage.h"

#define FILL_LEVELS 40

struct fill {
	size_t levels;			/* level 0 is the frame itself, and has no values here */
	size_t w[FILL_LEVELS], h[FILL_LEVELS];
	float *value[FILL_LEVELS];
	size_t room;			/* floats in value[1] and those behind it */
};

/* Makes all levels for a frame's channel of depths, normalised; 1/2 where there is none at all. -1
 * after fail(). */
int fill_frame(struct run *, struct fill *, const struct depthcode_code *, const struct frame *,
    size_t channel);
/* What pixels x to x + n - 1 of row y are filled with; x is even. */
void fill_row(const struct fill *, size_t y, size_t x, size_t n, float *out);
void fill_free(struct fill *);

#endif
