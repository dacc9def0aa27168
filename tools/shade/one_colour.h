/* Does --range leave more than one colour? Counts values, and warns at the end of the run. */
#ifndef ONE_COLOUR_H
#define ONE_COLOUR_H

#include "shade.h"

/* Looks at some pixels of rows y0 to y1 - 1 of a frame; several threads may. Nothing without
 * --range. */
void one_colour_look(const struct run *, const struct frame *in, size_t y0, size_t y1);
/* After the last frame. A body's `end`; 0. */
int one_colour_end(struct run *);

#endif
