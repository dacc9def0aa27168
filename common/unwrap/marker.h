/* Marker fringes, from images or as a channel. */
#ifndef MARKER_H
#define MARKER_H

#include "unwrap/regions.h"

/*
 * A marker makes components absolute: a bright stripe on black that the projector shows in an
 * image of its own, half a fringe wide at most, along the fringes. So its pixels have one phase,
 * which is known: a component of the right turns has the stripe where its phase says, of other
 * turns nowhere.
 *
 * A pixel's image of the marker is compared with its own fringes, of mean A and amplitude B: white
 * is A + B, black A - B, whatever the surface sends back and whatever other light is there.
 */

struct marker {
	const struct frame *frame;
	size_t channel;              /* the marker's image */
	size_t texture, modulation;  /* of the fringes: A + B and B/A */
	double turns, width_turns;   /* of the phase: where its middle is, and how wide it is */
};

/* Gives every component that shows the marker at one place, and at no other, its turns. Warns of
 * those that show it twice, or are bright where they should be dark. */
void marker_place(struct components *, const struct marker *);

/* Where a stage finds the image of a marker, and where the marker is: options --marker and
 * --marker-at, else the input's channel marker and its keys. */

struct marker_options {
	const char *file;  /* --marker, of type OPT_FRAME; NULL: not given */
	struct numbers at; /* --marker-at: its middle and its width; n = 0: not given */
};

#define MARKER_OPTIONS(file_at, numbers_at)                                                        \
	{ 0, "marker", "FILE", OPT_FRAME, file_at, NULL, 0, 0, NULL,                               \
	    "image of the marker; the channel marker if not given", NULL },                        \
	{ 0, "marker-at", "PX[,WIDTH]", OPT_NUMBERS, numbers_at, NULL, 0, 1e6,                     \
	    "projector px", "where the marker's middle is, and its width", NULL }

/*
 * For plan: the channels and the place for a phase of this period (NaN: not known) along the axis
 * that the key of `phase` names. marker->channel is NO_CHANNEL where no image of a marker is there.
 * marker->frame is left to the caller. -1 after fail().
 */
int marker_input_plan(const struct run *, const struct marker_options *,
    const struct frame_head *in, const struct meta *phase, double period_px, struct marker *out);

#endif
