#include "feature/board_search.h"

#include <stdlib.h>

size_t
board_least(const struct board *board)
{
	size_t all = board->w * board->h, quarter = (all + 3) / 4;

	return quarter > 24 ? 24 : quarter > 9 ? quarter : 9;
}

void
board_search_free(struct board_search *s)
{
	free(s->point);
	grid_free(&s->grid);
}

int
board_kernels_init(const struct board_options *options, double sigma,
    struct derivative_kernels *kernels)
{
	if (derivative_kernels_init(kernels, sigma, 0) < 0)
		return -1;
	if (options->row)
		kernels->row = options->row;
	return 0;
}
