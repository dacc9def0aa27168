/* The pixels that checks look at: every step-th one of every step-th row. */
#ifndef COARSE_GRID_H
#define COARSE_GRID_H

#include <stddef.h>

/* The step, 1 at least, with which about so many pixels of a w x h image are looked at. */
size_t coarse_grid_step(size_t w, size_t h, size_t pixels);
/* How many of n rows, or columns, those are: 0, step, 2 step ... */
size_t coarse_grid_count(size_t n, size_t step);

#endif
