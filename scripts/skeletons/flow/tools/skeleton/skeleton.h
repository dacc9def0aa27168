/* The loops of skeleton. */
#pragma once

#include <stddef.h>

#include "base/cpu_level.h"

struct skeleton_rows {
	/* Adds w samples to their sum, and counts them; NaN is left out. */
	void (*add)(const float *restrict value, float *restrict sum, float *restrict count,
	    size_t w);
	/* The mean of w sums, in their place; NaN where nothing was counted. */
	void (*divide)(float *restrict sum, const float *restrict count, size_t w);
};
LEVELS_OF(skeleton_rows)
