/* The time from frame to frame: by the key time_s, else a unit a frame. */
#ifndef FRAME_CLOCK_H
#define FRAME_CLOCK_H

#include "frame/head.h"

#define FRAME_CLOCK_INTERVALS 64	/* of which the median is the usual one */

struct frame_clock {
	bool started, timed, warned;
	double last_s;
	double interval[FRAME_CLOCK_INTERVALS];		/* the last ones */
	size_t n;			/* intervals so far */
	double usual;			/* time from one frame to the next, of most; 1 untimed */
};

/*
 * The next frame, so many frames behind the last one (lost ones make that more than 1). *elapsed:
 * time since that one, more than 0; as for one frame where it is the first. A list of times, of the
 * images of a measurement, counts as its mean. Warns once where time does not rise. -1 after
 * fail(): only some frames have a time, or it is no number.
 */
int frame_clock_step(struct frame_clock *, const struct frame_head *, size_t frames,
    double *elapsed);

#endif
