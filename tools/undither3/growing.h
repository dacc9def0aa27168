/* What grow(), islands_find() and settle() share: the pixels that are not trusted, and which are
 * background. */
#ifndef UNDITHER3_GROWING_H
#define UNDITHER3_GROWING_H

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

/* Has a pixel no bits, although a surface of these turns would have some there? */
bool growing_is_background(const struct job *job, size_t at, size_t place, float turns);

#endif
