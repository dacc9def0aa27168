/* Coarse grids of pixels, and statistics over them. */
#pragma once

#include "run/stage.h"

/* ---- the pixels that checks look at: every step-th one of every step-th row ---- */

struct coarse_grid {
	size_t step;
	size_t columns, rows;		/* of the pixels that are looked at */
};

/* The step, 1 at least, with which about so many pixels of a w x h image are looked at. */
size_t coarse_grid_step(size_t w, size_t h, size_t pixels);
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

/* Numbers about samples, in double and in a fixed order: they depend on no thread count. */

struct statistics {		/* of the finite samples */
	size_t n, nan, infinite;
	double min, max;	/* inf and -inf where n = 0 */
	double mean, squares;	/* sum of (sample - mean)^2 */
};

/* Of every channel, into all[0 .. c - 1]. */
void statistics_of(struct run *, const struct frame *, struct statistics *all);
/* The smallest v of which at least a share q of all n are no larger; NaN if n = 0. Reorders v. */
double statistics_quantile(double *v, size_t n, double q);
/* The one of rank k < n, from 0 on. Reorders v. */
double statistics_ranked(double *v, size_t n, size_t k);
