/* Where a stage finds the image of a marker, and where the marker is: options --marker and
 * --marker-at, else the input's channel marker and its keys. */
#ifndef MARKER_INPUT_H
#define MARKER_INPUT_H

#include "unwrap/marker.h"

struct marker_options {
	const char *file;  /* --marker, of type OPT_FRAME; NULL: not given */
	struct numbers at; /* --marker-at: its middle and its width; n = 0: not given */
};

#define MARKER_OPTIONS(file_at, numbers_at)                                                        \
	{ 0, "marker", "FILE", OPT_FRAME, file_at, NULL, 0, 0, NULL,                               \
	    "image of the marker; the channel marker if not given", NULL },                        \
	{ 0, "marker-at", "PX,WIDTH", OPT_NUMBERS, numbers_at, NULL, 0, 1e6,                       \
	    "projector px", "where the marker's middle is, and its width", NULL }

/* For init: -1 after fail_usage(). */
int marker_input_check(const struct marker_options *);
/*
 * For plan: the channels and the place for a phase of this period (NaN: not known) along the axis
 * that the key of `phase` names. marker->channel is NO_CHANNEL where no image of a marker is there.
 * marker->frame is left to the caller. -1 after fail().
 */
int marker_input_plan(const struct run *, const struct marker_options *,
    const struct frame_head *in, const struct meta *phase, double period_px, struct marker *out);

#endif
