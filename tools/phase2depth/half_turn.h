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
	double most_beyond;	/* of a frame's pixels that may be whole turns off */
	unsigned char *beyond;	/* which ones those of this frame are, w x h; NULL: none */
};

/* The channels of the phase and, of a measured reference, of its phase (else NO_CHANNEL): absphase
 * of both or, wrapped, phase of both. -1 after fail(). */
int half_turn_channels(const struct run *, const struct frame_head *, bool wrapped, size_t *phase,
    size_t *ref);
/* Looks at a frame whose phases are wrapped, and for pixels that may be whole turns off: -1 after
 * fail() where they cannot be. */
int half_turn_survey(struct run *, const struct frame *, const struct depthfit *,
    struct half_turn_jumps *);
/* Row y of that frame's depth, w pixels: NaN where it may be whole turns off. */
void half_turn_row(const struct half_turn_jumps *, float *depth, size_t w, size_t y);
void half_turn_free(struct half_turn_jumps *);
/* The run is over: warns where the difference jumped. */
void half_turn_warn(const struct half_turn_jumps *);

#endif
