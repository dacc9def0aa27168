/*
 * Has an absolute phase steps, as of whole numbers in a picture, or zeros for holes? Neighbours of
 * a phase that was measured hardly ever have the same number. Pixels on a coarse grid are kept, row
 * by row, so that the warning does not depend on threads or bands.
 */
#ifndef PHASE_STEPS_H
#define PHASE_STEPS_H

#include <stdbool.h>
#include <stddef.h>

#include "frame/frame.h"
#include "image/coarse_grid.h"
#include "run/run.h"

struct phase_steps {
	struct coarse_grid grid;
	float *value;		/* of each pixel of the grid, */
	float *next;		/* its right neighbour, NaN where the row does not vary */
	bool off;		/* no more warnings: one was given */
};

/* Memory for frames of this size. -1 after fail(). */
int phase_steps_plan(struct phase_steps *, const struct frame_head *);
void phase_steps_free(struct phase_steps *);
/* For plan: what rows keep of a frame. -1 after fail(). */
int phase_steps_frame_memory(struct phase_steps *, struct run *);
/* Looks at row y of the absolute phase; any threads at a time. */
void phase_steps_row(const struct phase_steps *, const float *phase, size_t w, size_t y);
/* All rows are made: warns, once in a run. True after a warning. Begins the next frame. */
bool phase_steps_warn(struct phase_steps *);

#endif
