/* Levels, as shares of full scale, become samples. */
#ifndef LEVELS_H
#define LEVELS_H

#include "run/stage.h"

enum dither {
	DITHER_NONE = -1,	/* rounded */
	DITHER_BAYER,		/* ordered, 8 x 8 */
	DITHER_FS,		/* Floyd and Steinberg */
	DITHER_FS_SERPENTINE	/* the same, odd rows from the right with the kernel mirrored */
};

/*
 * Channel c of a frame from the levels of its columns, or of its rows (down), on all threads;
 * dithered to 0 and full if wanted (methods §13; thesis ch.8). Full is 255, 65535, or 1 for float
 * and where the key `bits` is 1. -1 after fail().
 */
int levels_fill(struct run *, struct frame *, size_t c, const float *level, bool down,
    enum dither);

#endif
