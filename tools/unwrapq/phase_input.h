/* What unwrapq looks at before it begins: whether the samples can be a wrapped phase. */
#ifndef UNWRAPQ_PHASE_INPUT_H
#define UNWRAPQ_PHASE_INPUT_H

#include "run/stage.h"

/* Warns where a channel that is said to be in rad looks as if it were in turns. -1 after fail()
 * where it is wider than a turn; warns, too, where it lies beyond one, spans little or nothing.
 * turn: NaN where the user gave none. */
int phase_input_check(struct run *, const struct frame *, size_t channel, double turn);

#endif
