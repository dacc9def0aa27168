/* What skeleton plans for a frame, and its loops. */
#pragma once

#include "base/cpu_level.h"
#include "frame/frame.h"

struct row_scratch;
struct run;

struct skeleton {
	float gain;
};

struct skeleton_rows {
	/* A body's `rows`. */
	void (*scale)(const struct run *, const struct frame *in, struct frame *out, size_t y0,
	    size_t y1, const struct row_scratch *);
};
LEVELS_OF(skeleton_rows)
