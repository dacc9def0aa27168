/*
 * Temporal unwrapping: which beats of the measured phases order which (methods §5; Liu 2015 eq
 * 4-5).
 *
 * A *signal* is a phase, or a sum of phases with whole weights (a beat is shorter minus longer
 * period); its period follows from theirs. A *ladder* leads from a signal that is unambiguous over
 * the field down to the phase that is to be unwrapped: every signal's absolute phase tells the
 * fringe order of the next.
 */
#ifndef BEAT_LADDER_H
#define BEAT_LADDER_H

#include <stddef.h>

#define LADDER_PHASES_MOST 16

struct ladder_signal {
	int weight[LADDER_PHASES_MOST];	/* of every phase */
	double period_px;
};

struct ladder {
	size_t n;
	struct ladder_signal signal[LADDER_PHASES_MOST + 1];	/* the unambiguous one first */
	/* Scatter of the fringe order, in radians per radian of scatter of a phase, of the worst
	 * rung. */
	double noise;
};

enum ladder_signals {
	LADDER_PHASES = 1,	/* starts from one of the phases (hierarchical) */
	LADDER_BEATS = 2	/* starts from, and goes over, beats (heterodyne) */
};

/*
 * The ladder with the least scatter of its worst rung that ends in phase `target` (from 0) of n.
 * field_px: what the first signal must span; 0: not known, the longest period that is still of use
 * is taken. -1 after fail() if there is none.
 */
int ladder_find(const double *period_px, size_t n, size_t target, double field_px, unsigned signals,
    struct ladder *out);
/* The same, but starting from phase `first`, whose fringe order is known otherwise. */
int ladder_find_from(const double *period_px, size_t n, size_t target, size_t first,
    struct ladder *out);

#endif
