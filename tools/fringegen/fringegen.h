/* The levels of fringegen's patterns, which fringegen_rows.c computes. */
#pragma once

#include <math.h>

#include "base/cpu_level.h"
#include "fringe/patterns.h"

struct tone {
	double mean, amplitude;		/* of fringes, shares of full scale */
};

/* The loops of fringegen_rows.c. */
struct fringegen_rows {
	/* Levels along the axis of a pattern, as shares of full scale. */
	void (*make_levels)(const struct pattern *, const struct tone *, float *level, size_t n);
};
LEVELS_OF(fringegen_rows)
