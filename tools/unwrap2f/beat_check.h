/*
 * Do the periods of two phases fit their beat? Where a period is slightly wrong (65 for 66 px), the
 * residual grows in proportion to the position, by a turn where the order goes wrong by one. The
 * slope is that of the number of fringes in a beat, so that the period that would fit can be named.
 * Pixels on a coarse grid are kept, by row, so that the answer does not depend on threads or bands.
 */
#ifndef BEAT_CHECK_H
#define BEAT_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/coarse_grid.h"

struct beat_check {
	bool on;		/* a beat of two phases orders one of them; the caller sets it */
	double span;		/* fringes of the phase in a beat, by the periods */
	double period_px;	/* of that phase */
	bool shorter;		/* it is the one of the shorter period */
	struct coarse_grid grid;
	float (*kept)[2];	/* [row][column]: absolute phase, residual; NaN: none */
	size_t frames;		/* judged so far */
	bool warned;
};

/* For frames of w x h pixels. -1 after fail(). */
int beat_check_plan(struct beat_check *, size_t w, size_t h);
void beat_check_free(struct beat_check *);
/* Is row y looked at? */
bool beat_check_wanted(const struct beat_check *, size_t y);
/* Keeps n pixels of row y from column x on; bad: those of no use, NULL: none. */
void beat_check_add(const struct beat_check *, size_t x, size_t y, const float *absolute,
    const float *residual, const uint32_t *bad, size_t n);
/* All rows are made: warns, once in a run, where the residual grows with the position. Begins the
 * next frame. */
void beat_check_warn(struct beat_check *);

#endif
