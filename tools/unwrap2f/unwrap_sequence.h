/*
 * Temporal unwrapping: which beats of the measured phases order which (methods §5; Liu 2015 eq
 * 4-5).
 *
 * A *signal* is a phase, or a sum of phases with whole weights (a beat is shorter minus longer
 * period); its period follows from theirs. A *sequence* leads from a signal that is unambiguous
 * over the field down to the phase that is to be unwrapped: every signal's absolute phase gives
 * the fringe order of the next.
 */
#ifndef UNWRAP_SEQUENCE_H
#define UNWRAP_SEQUENCE_H

#include <stddef.h>

#define UNWRAP_PHASES_MOST 16

struct unwrap_signal {
	int weight[UNWRAP_PHASES_MOST];	/* of every phase */
	double period_px;
};

struct unwrap_sequence {
	size_t n;
	struct unwrap_signal signal[UNWRAP_PHASES_MOST + 1];	/* the unambiguous one first */
	/* Scatter of the fringe order, in radians per radian of scatter of a phase, of the worst
	 * step. */
	double noise;
};

enum unwrap_signals {
	UNWRAP_PHASES = 1,	/* starts from one of the phases (hierarchical) */
	UNWRAP_BEATS = 2	/* starts from, and goes over, beats (heterodyne) */
};

/*
 * The sequence with the least scatter of its worst step that ends in phase `target` (from 0) of n.
 * field_px: what the first signal must span; 0: not known, the longest period that is still of use
 * is taken. -1 after fail() if there is none.
 */
int unwrap_sequence_find(const double *period_px, size_t n, size_t target, double field_px,
    unsigned signals, struct unwrap_sequence *out);
/* The same, but starting from phase `first`, whose fringe order is known otherwise. */
int unwrap_sequence_find_from(const double *period_px, size_t n, size_t target, size_t first,
    struct unwrap_sequence *out);

#endif
