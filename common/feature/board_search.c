#include "feature/board_search.h"

#include <stdlib.h>

#define FIRST_SIDE 1024	/* px: the longer side of the picture that is looked at first */

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

size_t
board_candidates(const struct board_search *s)
{
	return 4 * s->board->w * s->board->h + 200;
}

size_t
board_first_bin(const struct board_search *s)
{
	size_t w = s->gray->head.w, h = s->gray->head.h, longer = w > h ? w : h, first = 1;

	while (longer / first > FIRST_SIDE)
		first *= 2;
	return first;
}

int
board_search_at(struct board_search *s, size_t bin, double sigma, size_t side_most,
    board_candidates_find *find)
{
	size_t all = s->board->w * s->board->h, n = 0;
	struct derivative_kernels kernels;
	struct derivative_plane plane;
	struct grid_point *point = NULL;
	struct frame *binned;
	struct grid grid = { 0 };
	double size = (double)bin;
	int status;

	if (derivative_kernels_init(&kernels, sigma, 0) < 0 ||
	    board_binned(s->gray, bin, &binned) < 0)
		return -1;
	if (s->options->row)
		kernels.row = s->options->row;
	plane = board_plane(binned);
	status = find(s, &plane, &kernels, &point, &n);
	for (size_t k = 0; k < n && status == 0; k++) {
		point[k].x = (point[k].x + 0.5) * size - 0.5;
		point[k].y = (point[k].y + 0.5) * size - 0.5;
	}
	if (status == 0)
		status = grid_find(point, n, all, side_most, &grid);
	if (status == 0 && grid.n > s->grid.n) {
		board_search_free(s);
		s->point = point;
		s->points = n;
		s->grid = grid;
	} else {
		free(point);
		grid_free(&grid);
	}
	frame_free(binned);
	return status;
}
