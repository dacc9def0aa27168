#include "feature/board_search.h"

#include <stdio.h>
#include <stdlib.h>

static int
compare(const void *a, const void *b)
{
	const struct corner *p = a, *q = b;

	if (p->j != q->j)
		return p->j < q->j ? -1 : 1;
	return p->i < q->i ? -1 : p->i > q->i;
}

/* Sorts by j, then i. */
static void
corners_sort(struct corners *corners)
{
	qsort(corners->corner, corners->n, sizeof(*corners->corner), compare);
}

static int
search(struct board_search *s, struct corners *corners, char reason[BOARD_REASON])
{
	const struct board *board = s->board;
	size_t least = board_least(board), all = board->w * board->h;
	bool chess = board->kind == BOARD_CHESS;
	const char *points = chess ? "corners" : "circles";
	struct placement placement;
	int status = chess ? board_chess_grid(s) : board_circles_grid(s);

	if (status < 0)
		return -1;
	if (s->grid.n < least) {
		if (s->grid.n)
			snprintf(reason, BOARD_REASON, "the largest grid of %s has %zu of %zu",
			    points, s->grid.n, all);
		else
			snprintf(reason, BOARD_REASON, "there is no grid of %s", points);
		return 1;
	}
	status = board_place(board, s->point, s->points, &s->grid, (double)s->gray->head.w,
	    (double)s->gray->head.h, &placement, reason);
	if (status == 0)
		status = chess ? board_chess_measure(s, &placement, corners) :
		    board_circles_measure(s, &placement, corners);
	if (status == 0 && corners->n < least) {
		snprintf(reason, BOARD_REASON, "only %zu of %zu %s can be measured", corners->n,
		    all, points);
		return 1;
	}
	return status;
}

int
board_find(const struct board *board, const struct board_options *options, const struct frame *gray,
    struct corners *corners, char reason[BOARD_REASON])
{
	struct board_search s = { .board = board, .options = options, .gray = gray };
	int status;

	*corners = (struct corners){ 0 };
	*reason = '\0';
	status = search(&s, corners, reason);
	board_search_free(&s);
	if (status != 0)
		corners_free(corners);
	else
		corners_sort(corners);
	return status;
}
