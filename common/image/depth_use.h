/*
 * How much of the range that an encoder lays its levels over the depths use. One that is far too
 * wide, of another unit or of a few stray depths, leaves steps that are as large as the surface.
 */
#ifndef IMAGE_DEPTH_USE_H
#define IMAGE_DEPTH_USE_H

#include "run/run.h"

#define DEPTH_USE_PARTS 4096

struct depth_use {			/* all zero before the first frame */
	size_t last;			/* run_inputs() of the last frame that was counted, + 1 */
	size_t depths;			/* so far, within the range */
	size_t count[DEPTH_USE_PARTS];	/* of them, in each part of the range */
	double low, high;		/* of the last frame */
	bool above;			/* some depth is not the range's least */
};

/* Counts depths of a frame, on a coarse grid. */
void depth_use_add(struct depth_use *, const struct frame *, size_t channel, double low,
    double high);
/* The same, once a frame. */
void depth_use_count(struct depth_use *, const struct run *, const struct frame *, size_t channel,
    double low, double high);
/* At the end: one line where nearly all of them lie within a small share of the range. step: about
 * what lies between two depths that the code tells from each other. */
void depth_use_conclude(const struct depth_use *, double step);
/* Of one frame whose own depths, all of them, go from low to high: one line where that holds, as of
 * a few stray depths. Was it printed? */
bool depth_use_warn_stray(const struct frame *, size_t channel, double low, double high,
    double step);

#endif
