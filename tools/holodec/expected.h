/* The levels that a pixel has if its neighbours' surface runs on through it. */
#ifndef HOLODEC_EXPECTED_H
#define HOLODEC_EXPECTED_H

#include "growing.h"

struct levels {
	float sine, cosine, stair;
	float luma;	/* what JPEG codes at full resolution; of the layout yuv the stair */
};

/* The median of n turns, which are sorted; NaN of none. */
float expected_median(float *turns, size_t n);
struct levels expected_levels(const struct reading *reading, float turns);

#endif
