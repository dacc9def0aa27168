/*
 * A result without a single valid pixel, out of an input that has some, is worth a word: a
 * forgotten --origin or a limit that is too strict has no other sign. The runner looks at the first
 * channel of what a map reads and makes, row by row, until it finds a valid pixel in each; so it
 * costs nothing where there is one. It does the same with the whole frames that a flow takes and
 * emits.
 * An input without any is worth a word where it enters the chain, one empty frame among others too.
 * Where no frame of a run has a valid pixel, or no input, the run fails.
 */
#ifndef ALL_INVALID_H
#define ALL_INVALID_H

#include <stdbool.h>

#include "frame/frame.h"

struct all_invalid {			/* zeroed at the beginning of a run */
	/* A valid pixel of this frame was seen: in the first channel of the input, in another one,
	 * in the first channel of the output. Set by any thread. */
	bool in, others, out;
	bool whole;		/* an input's samples were whole numbers; set by any thread */
	bool warned, warned_empty;	/* of a result; of an input */
	bool inputs;			/* an input had a valid pixel, */
	bool concluded, results;	/* a frame was complete; one with a valid pixel */
	size_t frames;			/* taken by a flow, completed by a map */
};

/* Begins a frame. handed_on: the first channel is the input's own, so there is nothing to warn
 * about. */
void all_invalid_begin(struct all_invalid *, bool handed_on);
/* Rows y0 <= y < y1 of `out` are made; those of `in` can be read, whose channels from `own` on are
 * second inputs. */
void all_invalid_scan(struct all_invalid *, const struct frame *in, size_t own,
    const struct frame *out, size_t y0, size_t y1);
/* A flow takes a whole frame, without second inputs. */
void all_invalid_take(struct all_invalid *, const struct frame *in);
/* A flow emits a whole frame. */
void all_invalid_emit(struct all_invalid *, const struct frame *out);
/* All rows are made and the frame is counted, or one is emitted: warns, once in a run of each.
 * hint: the options to look at, may be NULL; first: the input is the chain's own. */
void all_invalid_warn(struct all_invalid *, const struct frame_head *out, const char *hint,
    bool first);

#endif
