/* What unwrapq looks at before it begins: whether the samples can be a wrapped phase, what a
 * quality counts. */
#ifndef UNWRAPQ_PHASE_INPUT_H
#define UNWRAPQ_PHASE_INPUT_H

#include "run/stage.h"

/* Warns where a channel that is said to be in rad looks as if it were in turns. -1 after fail()
 * where it is wider than a turn. turn: NaN where the user gave none. */
int phase_input_check(struct run *, const struct frame *, size_t channel, double turn);
/* The median of a quality where it is above 0, of every so many pixels; 1 where it nowhere is. -1
 * after fail(). */
int phase_input_quality(const struct frame *, size_t channel, double *median);

#endif
