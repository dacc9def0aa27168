/* The levels of fringegen's patterns, which fringegen_rows.c computes. */
#ifndef FRINGEGEN_H
#define FRINGEGEN_H

#include "base/cpu_level.h"
#include "fringe/patterns.h"

struct tone {
	double mean, amplitude;		/* of fringes, shares of full scale */
	long stair_levels;		/* height of a step of a composite's stair, of 0 .. 255 */
};

/* The loops of fringegen_rows.c. */
struct fringegen_rows {
	/* Levels along the axis, of channel c of a pattern, as shares of full scale. */
	void (*make_levels)(const struct pattern *, size_t c, const struct tone *, float *level,
	    size_t n);
};
LEVELS_OF(fringegen_rows)

#endif
