#include "image/coarse_grid.h"

#include <math.h>

size_t
coarse_grid_step(size_t w, size_t h, size_t pixels)
{
	double step = sqrt((double)w * (double)h / (double)pixels);

	return step > 1 ? (size_t)step : 1;
}

size_t
coarse_grid_count(size_t n, size_t step)
{
	return (n + step - 1) / step;
}

struct coarse_grid
coarse_grid(size_t w, size_t h, size_t pixels)
{
	size_t step = coarse_grid_step(w, h, pixels);

	return (struct coarse_grid){ step, coarse_grid_count(w, step), coarse_grid_count(h, step) };
}

size_t
coarse_grid_shift(const struct coarse_grid *grid, size_t y)
{
	double part = 0.618 * (double)(y / grid->step);

	return (size_t)((part - floor(part)) * (double)grid->step);
}
