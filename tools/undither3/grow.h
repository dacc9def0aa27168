/*
 * Surfaces grown into what is not trusted: a pixel beside trusted ones is asked whether its bits
 * are those of their surface, carried on to it by a straight line. Where all neighbours whose
 * surface it can be agree, it is taken, and asks others in the next round; rounds become less and
 * less strict. Where jumps are marked, the greater number decides in the end where neighbours
 * disagree. What was taken late, or has untaken pixels beside it, is less certain.
 */
#ifndef UNDITHER3_GROW_H
#define UNDITHER3_GROW_H

#include "growing.h"

/* Of planes->turns and planes->trusted; makes planes->certainty: 1 for what was trusted, 0.5 for
 * what remains. bits: thresholds are known and the stair is slow; else nothing is grown. -1 after
 * fail(). */
int grow(struct run *run, struct job *job, bool bits);

#endif
