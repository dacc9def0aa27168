/*
 * Depths that mean none. Depth cameras and other programs write a number where they have no depth,
 * 0 or 65535 for instance; an encoder takes it for a surface.
 */
#ifndef IMAGE_HOLE_VALUE_H
#define IMAGE_HOLE_VALUE_H

#include "frame/frame.h"

struct hole_value {	/* all zero before the first frame */
	bool judged;
};

/*
 * Looks at the first frame that has enough depths, on a coarse grid: one line where many of them
 * are exactly such a number, which lies within low to high, far beyond all others. towards: depth
 * grows towards the camera, so that 0 may be a plane behind all else.
 */
void hole_value_judge(struct hole_value *, const struct frame *, size_t channel, double low,
    double high, bool towards);

#endif
