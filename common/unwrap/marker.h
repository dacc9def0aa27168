/*
 * A marker makes components absolute: a bright stripe on black that the projector shows in an
 * image of its own, half a fringe wide at most, along the fringes. So its pixels have one phase,
 * which is known: a component of the right turns has the stripe where its phase says, of other
 * turns nowhere.
 *
 * A pixel's image of the marker is compared with its own fringes, of mean A and amplitude B: white
 * is A + B, black A - B, whatever the surface sends back and whatever other light is there.
 */
#ifndef MARKER_H
#define MARKER_H

#include "unwrap/components.h"

struct marker {
	const struct frame *frame;
	size_t channel;              /* the marker's image */
	size_t texture, modulation;  /* of the fringes: A + B and B/A */
	double turns, width_turns;   /* of the phase: where its middle is, and how wide it is */
};

/* Gives every component that shows the marker at one place, and at no other, its turns. Warns of
 * those that show it twice, or are bright where they should be dark. -1 after fail(). */
int marker_place(struct components *, const struct marker *);

#endif
