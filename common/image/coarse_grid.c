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
