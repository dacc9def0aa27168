/*
 * Do captures end below the largest number of their type? A 12-bit camera saturates at 4095, or at
 * 65520 where its bits stand above, and one of 8 bits may at 235; a test for 65535 or 255 never
 * sees it, nor any test of floats. Pixels on a coarse grid are looked at, row by row, so that the
 * warning does not depend on threads or bands.
 */
#ifndef SATURATION_H
#define SATURATION_H

#include <stdint.h>

#include "frame/frame.h"
#include "fringe/capture_set.h"
#include "image/coarse_grid.h"
#include "image_names.h"

#define SATURATION_BELOW 8

/* The largest value, and how many samples have it, one less, and so on. */
struct saturation_top {
	uint32_t value, n[SATURATION_BELOW + 1];
};

/* The largest values, and the smallest ones of pixels with fringes, counted from the type's most
 * downwards; for floats the largest one. */
struct saturation_ends {
	struct saturation_top top, bottom;
	float most;
};

struct saturation {
	struct coarse_grid grid;
	size_t w;
	struct saturation_ends *ends;	/* of each of these, not of 8 bits: */
	uint8_t *kept;		/* [row][fringe image][stride]: the samples looked at, then 0 */
	size_t planes, stride, bytes;	/* how many images, bytes of a row, and in all */
	uint64_t pixels;	/* looked at */
	enum sample type;
	bool off;		/* no warning: given already, or the largest value is known */
};

/* known: the largest value is given; warns where it is that of more bits than the samples have.
 * planes: how many are fringe images. -1 after fail(). */
int saturation_plan(struct saturation *, const struct frame_head *, bool known, float max_value,
    size_t planes);
void saturation_free(struct saturation *);
/* Looks at row y of all fringe images. */
void saturation_row(const struct saturation *, const struct capture_set *, const struct frame *,
    size_t y);
/* All rows are made: warns, once in a run, where many pixels are exactly the largest number of 8 to
 * 15 bits and none is more, or many more are exactly the largest value than are next to it, or than
 * have any other one. Begins the next frame. */
void saturation_warn(struct saturation *, const struct capture_set *, const struct image_names *);

#endif
