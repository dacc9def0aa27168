/* The pixels that checks look at: every step-th one of every step-th row. */
#ifndef COARSE_GRID_H
#define COARSE_GRID_H

#include <stddef.h>

struct coarse_grid {
	size_t step;
	size_t columns, rows;		/* of the pixels that are looked at */
};

/* The step, 1 at least, with which about so many pixels of a w x h image are looked at. */
size_t coarse_grid_step(size_t w, size_t h, size_t pixels);
/* How many of n rows, or columns, those are: 0, step, 2 step ... */
size_t coarse_grid_count(size_t n, size_t step);
/* The one of about so many pixels. */
struct coarse_grid coarse_grid(size_t w, size_t h, size_t pixels);

/* Where row y may begin, so that not all rows look at the same columns, which would see upright
 * fringes at few phases. */
size_t coarse_grid_shift(const struct coarse_grid *, size_t y);

static inline size_t
coarse_grid_pixels(const struct coarse_grid *grid)
{
	return grid->columns * grid->rows;
}

/* Row by row: the place among them of the first pixel of row y, a multiple of the step. */
static inline size_t
coarse_grid_row(const struct coarse_grid *grid, size_t y)
{
	return y / grid->step * grid->columns;
}

#endif
