/*
 * Does every phase begin one of its images early or late? Then all lie beside the projector's
 * columns by the same angle, beats do not change, nor do the orders; the absolute phase is off by
 * that angle, and another phase beside it by a part of that, 1 less the ratio of the periods.
 * Pixels on a coarse grid are kept, by row, so that the answer does not depend on threads or bands.
 */
#ifndef OFFSET_CHECK_H
#define OFFSET_CHECK_H

#include <stdbool.h>

#include "frame/frame.h"
#include "image/coarse_grid.h"
#include "temporal.h"

struct offset_check {
	bool on;		/* orders come from phases, the result is one of them: set by the
				 * caller */
	bool late;		/* how many images a phase has is known */
	bool off;		/* no warning: another one was given. The caller sets it. */
	size_t steps;		/* images of every phase */
	size_t others;		/* phases beside the one that is unwrapped, */
	size_t channel[UNWRAP_PHASES_MOST];	/* their channels */
	double ratio[UNWRAP_PHASES_MOST];	/* and its period over theirs */
	struct coarse_grid grid;
	/* [row][column]: the absolute phase, then how far each other one lies beside it, in turns;
	 * NaN: none */
	float *kept;
	size_t frames;		/* judged so far: OFFSET_CHECK_FRAMES are */
};

#define OFFSET_CHECK_FRAMES 4	/* patterns do not change */

/* For frames of this head. -1 after fail(). */
int offset_check_plan(struct offset_check *, const struct temporal *, const struct frame_head *);
void offset_check_free(struct offset_check *);
/* Of check->kept. */
size_t offset_check_bytes(const struct offset_check *);
/* Looks at row y of the absolute phase, which was made of row y of `in`. */
void offset_check_row(const struct offset_check *, const struct frame *in, const float *absolute,
    size_t y);
/* All rows are made: warns, once in a run, where all are off by the same angle. Begins the next
 * frame. */
void offset_check_warn(struct offset_check *);

#endif
