/* What is planned for a frame, and the two ways: rows on the processor, passes on the device. */
#ifndef RECTIFY_H
#define RECTIFY_H

#include "source_map.h"

enum rectify_kind { RECTIFY_PLAIN, RECTIFY_WRAPPED, RECTIFY_SIGMA, RECTIFY_NEAREST };

/* How a channel is interpolated. */
struct rectify_channel {
	enum rectify_kind kind;
	float max_step, saturated;	/* INFINITY: no limit */
};

struct rectify {
	struct stereo stereo;
	struct source_map map;
	struct rectify_channel *channel;	/* of the frame */
	size_t channels;
	struct frame_head out;
	bool cubic;
	bool checked;			/* the calibration and the first frame */
	bool warned;			/* of these, or of what falls outside */
};

/* Sets channel[]; max_step: that of the command line, NaN where it is not given. -1 after fail().
 */
int rectify_plan_channels(struct rectify *, const struct frame_head *in, double max_step);
/* All of a frame: `out` has its pixels. -1 after fail(). */
int rectify_frame(struct run *, const struct rectify *, const struct frame *in,
    struct frame *out);
/* The same on the device, if one is demanded and can: *out is then a new frame, else NULL. -1 after
 * fail(). */
int rectify_frame_on_device(struct run *, const struct rectify *, struct frame *in,
    struct frame **out);
/* struct body's `passes`. */
int rectify_passes(struct run *, struct passes *);

#endif
