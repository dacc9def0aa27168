/*
 * Surfaces grown into what is not trusted: a pixel beside trusted ones is asked whether its bits
 * are those of their surface, carried on to it by a straight line. Where all neighbours whose
 * surface it can be agree, it is taken, and asks others in the next round; rounds become less and
 * less strict. Where jumps are marked, the greater number decides in the end where neighbours
 * disagree. What was taken late, or has untaken pixels beside it, is less certain.
 */
#ifndef UNDITHER3_GROW_H
#define UNDITHER3_GROW_H

#include "undither3.h"

#define GROW_PIXELS 256	/* that a thread takes at a time */
#define GROW_ALIKE 3	/* neighbours of eight: a pixel with fewer is where two surfaces mix */

/* A pixel that was not trusted. */
struct waiting {
	size_t at;		/* in the planes */
	size_t place;		/* in the tile of thresholds */
	float turns;
	int round;		/* in which it was taken; 0: not yet */
	bool taken;		/* in this round */
	bool hole;		/* may be background: it has no bits, nor has a surface near by */
	float low, high, next;	/* for settle() */
};

struct growing {
	struct job *job;
	struct waiting *waiting;
	size_t n;
	size_t rule;		/* of rounds */
	int island;		/* the round that takes islands */
	size_t trusted;		/* pixels, before anything has grown */
};

/* Of planes->turns and planes->trusted; makes planes->certainty: 1 for what was trusted, 0.5 for
 * what remains. bits: thresholds are known and the stair is slow; else nothing is grown. -1 after
 * fail(). */
int grow(struct run *run, struct job *job, bool bits);
/* Has a pixel no bits, although a surface of these turns would have some there? */
bool grow_is_background(const struct job *job, size_t at, size_t place, float turns);

#endif
