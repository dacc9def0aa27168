/* What kalman filters, and the two ways: rows on the processor, a pass on the device. */
#ifndef KALMAN_H
#define KALMAN_H

#include "channels.h"
#include "frame_clock.h"
#include "kalman.block.h"
#include "noise.h"

struct passes;
struct row_scratch;
struct run;

#define KALMAN_STATES 3		/* planes beside the values: variance, time away, outliers */

/* What is planned for a frame. */
struct kalman {
	struct channels channels;
	struct frame_clock clock;
	struct noise noise;
	struct kalman_block block;
	char *scale;		/* the keys that the values' scale hangs on, of the last plan */
	size_t input;		/* number of the last frame, from 1; 0: none */
	size_t w, h;		/* of the last plan */
	bool warned, repeated;	/* about sigma, about a frame that comes twice, */
	bool warned_image;	/* about images of patterns */
	bool warned_zeros, warned_motion;
	size_t lags;		/* frames, one behind another, of more motion than was given */
};

/* struct body's `rows` and `passes`. */
void kalman_rows(const struct run *, const struct frame *in, struct frame *out, size_t y0,
    size_t y1, const struct row_scratch *);
int kalman_passes(struct run *, struct passes *);

#endif
