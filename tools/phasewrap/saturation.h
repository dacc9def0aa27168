/*
 * Do 16-bit captures end at the largest number of fewer bits? A 12-bit camera saturates at 4095, or
 * at 65520 where its bits stand above, and a test for 65535 never sees it. Pixels on a coarse grid
 * are looked at, row by row, so that the warning does not depend on threads or bands.
 */
#ifndef SATURATION_H
#define SATURATION_H

#include <stdint.h>

#include "frame/frame.h"
#include "fringe/capture_set.h"

struct saturation {
	size_t step;		/* every step-th pixel of every step-th row is looked at */
	size_t rows;
	uint64_t *top;		/* of each of these: largest value << 32 | pixels that have it */
	uint64_t pixels;	/* looked at */
	bool off;		/* no warning: given already, or the largest value is known */
};

/* known: the largest value is given. planes: about how many are fringe images. -1 after fail(). */
int saturation_plan(struct saturation *, const struct frame_head *, bool known, size_t planes);
void saturation_free(struct saturation *);
/* Looks at row y of all fringe images. */
void saturation_row(const struct saturation *, const struct capture_set *, const struct frame *,
    size_t y);
/* All rows are made: warns, once in a run, where many pixels are exactly the largest number of 8 to
 * 15 bits and none is more. Begins the next frame. */
void saturation_warn(struct saturation *);

#endif
