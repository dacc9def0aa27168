/*
 * Does the absolute phase jump by whole turns from a pixel to the next? Where a fringe order is
 * wrong it does, and the wrapped phase goes on: at the edge of an object it does not, so that its
 * jumps are of any size. Pairs of neighbours in some rows are counted, by the product of their
 * squared amplitudes where modulation and texture are there, so that the dark, where all phases
 * are noise, does not count, nor pixels that differ from both neighbours alone. Sums are kept by
 * row, so that the warning does not depend on threads or bands. Neighbours lie in a row, or for
 * phases that vary along y in a column.
 *
 * Where the field is wider than the beat that begins the sequence, the absolute phase falls by as
 * many turns as a beat has, once in a row and nowhere else: such jumps count by themselves.
 */
#ifndef JUMP_CHECK_H
#define JUMP_CHECK_H

#include <stdbool.h>

#include "frame/frame.h"

struct jump_sums {
	double all;		/* pairs, weighted */
	double up, down;	/* by one turn */
	double far;		/* by more, a whole number */
	double loose;		/* by half a turn or more, no whole number */
	double pairs;		/* number of those that jump by whole turns */
	double beat_up, beat_down;	/* number of those, further apart, that jump by a beat */
};

struct jump_check {
	size_t step;		/* every step-th row is looked at */
	size_t rows, w;
	bool along_y;
	/* along y: [row that is looked at][absolute phase, amplitude][four rows from it on][w] */
	float *kept;
	size_t modulation, texture;	/* the input's channels, or NO_CHANNEL */
	struct jump_sums *row;
	double beat_turns;	/* turns in the beat that begins the sequence; 0: none. */
	double beat_px;		/* its period. The caller sets both, */
	bool field_tells;	/* and whether a field, which nothing states, would tell. */
	bool off, warned;
};

/* For frames of this head that vary along `axis`. -1 after fail(). */
int jump_check_plan(struct jump_check *, const struct frame_head *, char axis);
void jump_check_free(struct jump_check *);
/* Of check->kept. */
size_t jump_check_kept_bytes(const struct jump_check *);
/* Is row y looked at? */
bool jump_check_wanted(const struct jump_check *, size_t y);
/* Looks at such a row of the absolute phase, which was made of row y of `in`. */
void jump_check_row(const struct jump_check *, const struct frame *in, const float *absolute,
    size_t y);
/* All rows are made: warns, once in a run, where too many neighbours jump; `gray`: the orders are
 * those of a Gray code. Begins the next frame. */
void jump_check_warn(struct jump_check *, bool gray);

#endif
