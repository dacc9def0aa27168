/* The fit: turns of all pixels, what is kept of them, and their levels. */
#ifndef UNDITHER3_FIT_H
#define UNDITHER3_FIT_H

#include "undither3.h"

/* Fills the channels of out that are levels, and that of certainty. -1 after fail(). */
int fit(struct run *run, const struct frame *in, struct frame *out);
/* Turns, NaN in the background, and which are trusted, on a device, as planes with their margin;
 * *turns is NULL where none is demanded. -1 after fail(). */
int fit_turns_on_device(struct run *, const struct frame *in, struct frame **turns);
/* What it does there, for the body's passes. */
int fit_passes(struct run *, struct passes *);

#endif
