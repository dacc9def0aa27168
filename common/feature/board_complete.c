/* Whether a grid has all points of a board that is partly out of the picture. */
#include <limits.h>
#include <stdlib.h>

#include "feature/board_search.h"

struct complete {
	const struct board_search *search;
	const struct grid_node **at;	/* `side` x `side`, NULL where there is none */
	long low[2], side[2];
};

static const struct grid_node *
node_at(const struct complete *c, long i, long j)
{
	i -= c->low[0];
	j -= c->low[1];
	return i < 0 || j < 0 || i >= c->side[0] || j >= c->side[1] ? NULL :
	    c->at[j * c->side[0] + i];
}

/* From a node to where the next one is to be expected, by its own line, else by those beside it.
 * False: nothing tells. */
static bool
expect_next(const struct complete *c, const struct grid_node *node, const long step[2],
    double next[2])
{
	const struct grid_point *point = c->search->point, *here = &point[node->point];

	for (long beside = 0; beside <= 2; beside++) {
		long across = beside == 2 ? -1 : beside, back = beside == 0;
		long i = node->i + across * step[1] - back * step[0];
		long j = node->j + across * step[0] - back * step[1];
		const struct grid_node *from = node_at(c, i, j);
		const struct grid_node *to = node_at(c, i + step[0], j + step[1]);

		if (from && to) {
			next[0] = here->x + point[to->point].x - point[from->point].x;
			next[1] = here->y + point[to->point].y - point[from->point].y;
			return true;
		}
	}
	return false;
}

/* Does the line of nodes that ends at this one leave the picture there? */
static bool
ends_outside(const struct complete *c, const struct grid_node *node, const long step[2],
    double margin)
{
	const struct frame_head *head = &c->search->gray->head;
	double next[2];

	return expect_next(c, node, step, next) &&
	    !(next[0] > margin && next[1] > margin && next[0] < (double)head->w - 1 - margin &&
	    next[1] < (double)head->h - 1 - margin);
}

/* A line has no gaps, and as many nodes as the board, or an end outside of the picture. */
static bool
line_complete(const struct complete *c, size_t axis, long line, long most, double margin)
{
	const long ahead[2] = { axis == 0, axis == 1 }, behind[2] = { -ahead[0], -ahead[1] };
	const struct grid_node *first = NULL, *last = NULL;
	long n = 0;

	for (long k = 0; k < c->side[axis]; k++) {
		long at = c->low[axis] + k;
		const struct grid_node *node = axis == 0 ? node_at(c, at, line) :
		    node_at(c, line, at);

		if (!node)
			continue;
		first = first ? first : node;
		last = node;
		n++;
	}
	if (!first || n == most)
		return n == most;
	return n == (axis == 0 ? last->i - first->i : last->j - first->j) + 1 &&
	    (ends_outside(c, first, behind, margin) || ends_outside(c, last, ahead, margin));
}

bool
board_complete(const struct board_search *s, double margin)
{
	struct complete c = { .search = s, .low = { LONG_MAX, LONG_MAX } };
	long high[2] = { LONG_MIN, LONG_MIN }, most[2] = { (long)s->board->w, (long)s->board->w };
	bool complete;

	if (s->grid.n < board_least(s->board))
		return false;
	for (size_t k = 0; k < s->grid.n; k++) {
		const long at[2] = { s->grid.node[k].i, s->grid.node[k].j };

		for (size_t a = 0; a < 2; a++) {
			c.low[a] = at[a] < c.low[a] ? at[a] : c.low[a];
			high[a] = at[a] > high[a] ? at[a] : high[a];
			c.side[a] = high[a] - c.low[a] + 1;
		}
	}
	for (size_t a = 0; a < 2; a++)	/* the longer side may be only one of them */
		if (c.side[a] > (long)s->board->h)
			most[!a] = (long)s->board->h;
	c.at = calloc((size_t)(c.side[0] * c.side[1]), sizeof(*c.at));
	complete = c.at;
	for (size_t k = 0; k < s->grid.n && complete; k++) {
		const struct grid_node *node = &s->grid.node[k];

		c.at[(node->j - c.low[1]) * c.side[0] + node->i - c.low[0]] = node;
	}
	for (size_t a = 0; a < 2 && complete; a++)
		for (long k = 0; k < c.side[!a] && complete; k++)
			complete = line_complete(&c, a, c.low[!a] + k, most[a], margin);
	free(c.at);
	return complete;
}
