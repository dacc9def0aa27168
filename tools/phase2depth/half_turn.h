/*
 * Wrapped phases over a wrapped reference: their difference, taken into (-pi, pi], is depth as long
 * as it stays below half a turn (methods §8). What the images show of that.
 */
#ifndef HALF_TURN_H
#define HALF_TURN_H

#include "run/stage.h"

struct depthfit;

/* Of the frames of a run so far. */
struct half_turn_jumps {
	size_t frames, jumping;	/* all; those with jumps of a whole turn between neighbours */
	double worst;		/* the largest share of a frame's neighbours */
};

/* The channels of the phase and, of a measured reference, of its phase (else NO_CHANNEL): absphase
 * of both or, wrapped, phase of both. -1 after fail(). */
int half_turn_channels(const struct run *, const struct frame_head *, bool wrapped, size_t *phase,
    size_t *ref);
/* Looks at a frame whose phases are wrapped: -1 after fail() where they cannot be. */
int half_turn_survey(struct run *, const struct frame *, const struct depthfit *,
    struct half_turn_jumps *);
/* The run is over: warns where the difference jumped. */
void half_turn_warn(const struct half_turn_jumps *);

#endif
