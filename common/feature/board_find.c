/*
 * Finds a chessboard or a grid of circles in a picture: saddles or blobs become a grid that grows
 * from neighbour to neighbour, the grid is completed, and board coordinates are assigned to it.
 */
#include "feature/board.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "base/linear.h"
#include "base/numbers.h"
#include "base/process.h"

/*
 * ---- grids ----
 *
 * Which of an image's points are neighbours on a board. From a first quad the grid grows to
 * neighbours where the known ones predict them, one after the other, so that perspective and lens
 * distortion bend it as they like.
 */

struct grid_node {
	long i, j;    /* rows and columns of a first guess: from any origin, turned or mirrored */
	size_t point; /* index */
};

struct grid {
	size_t n;
	struct grid_node *node;
};

/* What a grid is on the board. */
struct placement {
	size_t others;        /* numberings that fit as well */
	double homography[9]; /* board_point() of (i, j) to px: the best one without lens */
	double rms;           /* px: of the nodes to it */
	size_t seen[2];       /* of a grid that is none of the board */
};

#define SEEDS_MOST 100
#define NEIGHBOUR_TOLERANCE 0.25 /* of the distance to the predicted neighbour */
#define EDGE_ALONG_RAD 0.3      /* rad: of an edge and the line to the neighbour */
#define MIN_STRENGTH_RATIO 0.25   /* least ratio of the strengths of neighbours */
#define CROSSED_RAD 0.7    /* rad: bright quarters of neighbours stand crosswise to within it */
#define NO_POINT SIZE_MAX

struct growth {
	const struct feature *point;
	size_t n;
	long side;              /* nodes have -side <= i, j <= side */
	size_t *at;             /* (2 side + 1)^2 indices of points, or NO_POINT */
	unsigned char *used;    /* by point: in the grid; tried as a seed */
	struct grid_node *node; /* in order of growth */
	size_t nodes;
};

static void
grid_free(struct grid *grid)
{
	free(grid->node);
	*grid = (struct grid){ 0 };
}

static size_t *
cell(const struct growth *growth, long i, long j)
{
	long side = growth->side;

	return &growth->at[(j + side) * (2 * side + 1) + i + side];
}

/* The point of a node; NULL where there is none. */
static const struct feature *
node_at(const struct growth *growth, long i, long j)
{
	size_t k;

	if (labs(i) > growth->side || labs(j) > growth->side)
		return NULL;
	k = *cell(growth, i, j);
	return k == NO_POINT ? NULL : &growth->point[k];
}

static void
add_node(struct growth *growth, long i, long j, size_t point)
{
	*cell(growth, i, j) = point;
	growth->used[point] = 1;
	growth->node[growth->nodes++] = (struct grid_node){ i, j, point };
}

/* The least angle between two directions without sign. */
static double
between(double a, double b)
{
	return fabs(remainder(a - b, M_PI));
}

/* May they be neighbours along an edge? Bright quarters become dark ones. */
static bool
may_be_neighbours(const struct feature *a, const struct feature *b)
{
	if (!(b->strength > MIN_STRENGTH_RATIO * a->strength) ||
	    !(a->strength > MIN_STRENGTH_RATIO * b->strength))
		return false;
	return isnan(a->light) || between(a->light + M_PI / 2, b->light) < CROSSED_RAD;
}

static bool
has_edge_along(const struct feature *point, double direction)
{
	return isnan(point->light) ||
	    between(point->light + point->open, direction) < EDGE_ALONG_RAD ||
	    between(point->light - point->open, direction) < EDGE_ALONG_RAD;
}

/* ---- seeds ---- */

/* The nearest possible neighbour of point a whose direction is within `width` of this one. */
static size_t
neighbour(const struct growth *growth, size_t a, double direction, double width, size_t but)
{
	const struct feature *from = &growth->point[a];
	double near = INFINITY;
	size_t best = NO_POINT;

	for (size_t k = 0; k < growth->n; k++) {
		const struct feature *to = &growth->point[k];
		double x = to->x - from->x, y = to->y - from->y, far = hypot(x, y), along;

		if (k == a || k == but || !(far < near))
			continue;
		along = atan2(y, x);
		if (fabs(remainder(along - direction, 2 * M_PI)) > width ||
		    !may_be_neighbours(from, to) || !has_edge_along(to, along))
			continue;
		near = far;
		best = k;
	}
	return best;
}

/* The free point that is nearest to a place, within `reach`. */
static size_t
nearest_free(const struct growth *growth, const double at[2], double reach)
{
	size_t best = NO_POINT;

	for (size_t k = 0; k < growth->n; k++) {
		double far = hypot(growth->point[k].x - at[0], growth->point[k].y - at[1]);

		if (far < reach && !(growth->used[k] & 1)) {
			reach = far;
			best = k;
		}
	}
	return best;
}

/* Takes point a, b along one edge, c along the other, and the fourth one. */
static bool
start_quad(struct growth *growth, size_t a, size_t b, size_t c)
{
	const struct feature *p = growth->point;
	double at[2] = { p[b].x + p[c].x - p[a].x, p[b].y + p[c].y - p[a].y };
	double first = hypot(p[b].x - p[a].x, p[b].y - p[a].y);
	double second = hypot(p[c].x - p[a].x, p[c].y - p[a].y);
	size_t d;

	add_node(growth, 0, 0, a);
	add_node(growth, 1, 0, b);
	add_node(growth, 0, 1, c);
	d = nearest_free(growth, at, NEIGHBOUR_TOLERANCE * fmin(first, second));
	if (d == NO_POINT || !may_be_neighbours(&p[b], &p[d]) || !may_be_neighbours(&p[c], &p[d]))
		return false;
	add_node(growth, 1, 1, d);
	return true;
}

static void
forget(struct growth *growth)
{
	for (size_t k = 0; k < growth->nodes; k++) {
		*cell(growth, growth->node[k].i, growth->node[k].j) = NO_POINT;
		growth->used[growth->node[k].point] &= (unsigned char)~1;
	}
	growth->nodes = 0;
}

/* A quad with the point at one of its corners; quarter: which. */
static bool
seed(struct growth *growth, size_t a, int quarter)
{
	const struct feature *p = &growth->point[a];
	double turn[4] = { 0, 0, M_PI, M_PI }, turn_second[4] = { 0, M_PI, 0, M_PI };
	size_t b, c;

	if (isnan(p->light)) {
		/* circles: the nearest one, and the nearest one across */
		double along;

		b = neighbour(growth, a, 0, M_PI, NO_POINT);
		if (b == NO_POINT)
			return false;
		along = atan2(growth->point[b].y - p->y, growth->point[b].x - p->x);
		c = neighbour(growth, a, along + (quarter & 1 ? -M_PI / 2 : M_PI / 2), 0.9, b);
		if (quarter & 2)
			return false;
	} else {
		b = neighbour(growth, a, p->light + p->open + turn[quarter], EDGE_ALONG_RAD,
		    NO_POINT);
		c = neighbour(growth, a, p->light - p->open + turn_second[quarter],
		    EDGE_ALONG_RAD, NO_POINT);
	}
	if (b == NO_POINT || c == NO_POINT || b == c)
		return false;
	if (start_quad(growth, a, b, c))
		return true;
	forget(growth);
	return false;
}

/* ---- growth ---- */

/*
 * Where the neighbour of a node is to be expected: as far on as its neighbour on the other side is
 * behind, or as the nodes beside it have theirs; the mean of those that there are.
 */
static bool
predict(const struct growth *growth, long i, long j, long di, long dj, double at[2])
{
	const struct feature *here = node_at(growth, i, j);
	const struct feature *behind = node_at(growth, i - di, j - dj);
	double sum[2] = { 0, 0 }, n = 0;

	if (behind) {
		sum[0] += here->x - behind->x;
		sum[1] += here->y - behind->y;
		n++;
	}
	for (long side = -1; side <= 1; side += 2) {
		long a = i + side * dj, b = j + side * di;
		const struct feature *beside = node_at(growth, a, b);
		const struct feature *on = node_at(growth, a + di, b + dj);

		if (!beside || !on)
			continue;
		sum[0] += on->x - beside->x;
		sum[1] += on->y - beside->y;
		n++;
	}
	if (n == 0)
		return false;
	at[0] = here->x + sum[0] / n;
	at[1] = here->y + sum[1] / n;
	return true;
}

static void
grow_from(struct growth *growth, long i, long j)
{
	static const long way[4][2] = { { 1, 0 }, { 0, 1 }, { -1, 0 }, { 0, -1 } };
	const struct feature *here = node_at(growth, i, j);

	for (int k = 0; k < 4; k++) {
		long to_i = i + way[k][0], to_j = j + way[k][1];
		double at[2];
		size_t found;

		if (labs(to_i) > growth->side || labs(to_j) > growth->side ||
		    node_at(growth, to_i, to_j) || !predict(growth, i, j, way[k][0], way[k][1], at))
			continue;
		found = nearest_free(growth, at, NEIGHBOUR_TOLERANCE *
		    hypot(at[0] - here->x, at[1] - here->y));
		if (found != NO_POINT && may_be_neighbours(here, &growth->point[found]))
			add_node(growth, to_i, to_j, found);
	}
}

static void
grow(struct growth *growth)
{
	size_t before;

	/* a node that had too few neighbours to predict from may have them later */
	do {
		before = growth->nodes;
		for (size_t k = 0; k < growth->nodes; k++)
			grow_from(growth, growth->node[k].i, growth->node[k].j);
	} while (growth->nodes > before);
}

static void
try_seeds(struct growth *growth, size_t enough, struct grid *grid)
{
	size_t tried = 0;

	for (size_t a = 0; a < growth->n && tried < SEEDS_MOST && grid->n < enough; a++) {
		if (growth->used[a] & 2) /* of a grid that has been grown */
			continue;
		tried++;
		for (int quarter = 0; quarter < 4; quarter++) {
			bool large;

			if (!seed(growth, a, quarter))
				continue;
			grow(growth);
			if (growth->nodes > grid->n) {
				grid->n = growth->nodes;
				grid->node = must_resize(grid->node, grid->n, sizeof(*grid->node));
				memcpy(grid->node, growth->node, grid->n * sizeof(*grid->node));
			}
			large = growth->nodes > 8;
			for (size_t k = 0; k < growth->nodes && large; k++)
				growth->used[growth->node[k].point] |= 2;
			forget(growth);
			if (large)
				break;
		}
	}
}

/*
 * The largest grid among n points, strongest first. `enough` nodes end the search; nodes lie within
 * `side_most` of the first along both axes. No node: there is none.
 */
static void
grid_find(
    const struct feature *point, size_t n, size_t enough, size_t side_most, struct grid *grid)
{
	struct growth growth = { .point = point, .n = n, .side = (long)side_most };
	size_t line = 2 * side_most + 1, cells = line * line;

	*grid = (struct grid){ 0 };
	if (n < 4)
		return;
	growth.at = must_alloc(cells, sizeof(*growth.at));
	growth.used = must_alloc(n, 1);
	growth.node = must_alloc(n, sizeof(*growth.node));
	for (size_t k = 0; k < cells; k++)
		growth.at[k] = NO_POINT;
	try_seeds(&growth, enough, grid);
	free_all(growth.at, growth.used, growth.node);
}

/* A board, the picture that it is looked for in, and the best grid until now. */
struct board_search {
	const struct board *board;
	const struct board_options *options;
	const struct frame *gray;
	struct feature *point; /* px of the picture */
	size_t points;
	struct grid grid;
};

/* ---- has a grid all points of a board that is partly out of the picture? ---- */

/* How many points there have to be at least. */
static size_t
board_least(const struct board *board)
{
	size_t all = board->w * board->h, quarter = (all + 3) / 4;

	return quarter > 24 ? 24 : quarter > 9 ? quarter : 9;
}

struct complete {
	const struct board_search *search;
	const struct grid_node **at;	/* `side` x `side`, NULL where there is none */
	long low[2], side[2];
};

/* The least and the largest i and j of a grid. */
struct extent {
	long least[2], most[2];
};

static struct extent
extent_of(const struct grid *grid)
{
	struct extent e = { { grid->node[0].i, grid->node[0].j },
		{ grid->node[0].i, grid->node[0].j } };

	for (size_t k = 0; k < grid->n; k++) {
		long at[2] = { grid->node[k].i, grid->node[k].j };

		for (int c = 0; c < 2; c++) {
			e.least[c] = at[c] < e.least[c] ? at[c] : e.least[c];
			e.most[c] = at[c] > e.most[c] ? at[c] : e.most[c];
		}
	}
	return e;
}

static const struct grid_node *
fitted_node_at(const struct complete *c, long i, long j)
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
	const struct feature *point = c->search->point, *here = &point[node->point];

	for (long beside = 0; beside <= 2; beside++) {
		long across = beside == 2 ? -1 : beside, back = beside == 0;
		long i = node->i + across * step[1] - back * step[0];
		long j = node->j + across * step[0] - back * step[1];
		const struct grid_node *from = fitted_node_at(c, i, j);
		const struct grid_node *to = fitted_node_at(c, i + step[0], j + step[1]);

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
		const struct grid_node *node = axis == 0 ? fitted_node_at(c, at, line) :
		    fitted_node_at(c, line, at);

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

/* Has the grid all points of the board, but for those that lie outside of the picture, or nearer to
 * its border than margin px? Then a picture of higher resolution shows no more. */
static bool
board_complete(const struct board_search *s, double margin)
{
	struct complete c = { .search = s };
	long most[2] = { (long)s->board->w, (long)s->board->w };
	struct extent e;
	bool complete;

	if (s->grid.n < board_least(s->board))
		return false;
	e = extent_of(&s->grid);
	for (size_t a = 0; a < 2; a++) {	/* the longer side may be only one of them */
		c.low[a] = e.least[a];
		c.side[a] = e.most[a] - e.least[a] + 1;
		if (c.side[a] > (long)s->board->h)
			most[!a] = (long)s->board->h;
	}
	c.at = must_alloc((size_t)(c.side[0] * c.side[1]), sizeof(*c.at));
	complete = true;
	for (size_t k = 0; k < s->grid.n; k++) {
		const struct grid_node *node = &s->grid.node[k];

		c.at[(node->j - c.low[1]) * c.side[0] + node->i - c.low[0]] = node;
	}
	for (size_t a = 0; a < 2 && complete; a++)
		for (long k = 0; k < c.side[!a] && complete; k++)
			complete = line_complete(&c, a, c.low[!a] + k, most[a], margin);
	free(c.at);
	return complete;
}

/*
 * Numbering: a grid of neighbours knows neither where the board begins nor which side is which. All
 * places of it on the board are tried: the colours decide, and what would have to be seen.
 */

#define MAX_BEND 0.25 /* of the spacing: rms off a homography */

/* ---- the grid as it is ---- */

/* The mean step in px from a node to its neighbour along i (0) or j (1). */
static void
mean_step(const struct grid *grid, const struct feature *point, int along, double step[2])
{
	double n = 0;

	step[0] = step[1] = 0;
	for (size_t a = 0; a < grid->n; a++)
		for (size_t b = 0; b < grid->n; b++) {
			const struct grid_node *p = &grid->node[a], *q = &grid->node[b];

			if (q->i - p->i != !along || q->j - p->j != along)
				continue;
			step[0] += point[q->point].x - point[p->point].x;
			step[1] += point[q->point].y - point[p->point].y;
			n++;
		}
	step[0] /= n;
	step[1] /= n;
}

/* Makes the turn from i to j that from u to v: clockwise in the picture. */
static void
make_right_handed(struct grid *grid, const struct feature *point)
{
	double along[2], across[2];

	mean_step(grid, point, 0, along);
	mean_step(grid, point, 1, across);
	if (along[0] * across[1] - along[1] * across[0] >= 0)
		return;
	for (size_t k = 0; k < grid->n; k++) {
		long swap = grid->node[k].i;

		grid->node[k].i = grid->node[k].j;
		grid->node[k].j = swap;
	}
}

static size_t
count_line(const struct grid *grid, int c, long at)
{
	size_t n = 0;

	for (size_t k = 0; k < grid->n; k++)
		n += (c ? grid->node[k].j : grid->node[k].i) == at;
	return n;
}

static void
drop_line(struct grid *grid, int c, long at)
{
	size_t n = 0;

	for (size_t k = 0; k < grid->n; k++)
		if ((c ? grid->node[k].j : grid->node[k].i) != at)
			grid->node[n++] = grid->node[k];
	grid->n = n;
}

static bool
fits(const struct extent *e, size_t w, size_t h)
{
	return e->most[0] - e->least[0] < (long)w && e->most[1] - e->least[1] < (long)h;
}

/* How long the grid's side may be on the board: asymmetric circles grow along their diagonals. */
static bool
fits_board(const struct extent *e, const struct board *board)
{
	size_t side = 2 * board->w + board->h;

	if (board->kind == BOARD_ACIRCLES)
		return fits(e, side, side);
	return fits(e, board->w, board->h) || fits(e, board->h, board->w);
}

/* Takes sparse lines off the rim, where chance made the grid larger than the board. False: it is
 * larger indeed. */
static bool
trim(struct grid *grid, const struct board *board)
{
	while (grid->n > 0) {
		struct extent e = extent_of(grid);
		size_t fewest = SIZE_MAX, wanted;
		int which = 0;

		if (fits_board(&e, board))
			return true;
		for (int side = 0; side < 4; side++) {
			int c = side >> 1;
			size_t n = count_line(grid, c, side & 1 ? e.most[c] : e.least[c]);

			if (n < fewest) {
				fewest = n;
				which = side;
			}
		}
		wanted = grid->n / (size_t)(e.most[which >> 1] - e.least[which >> 1] + 1);
		if (2 * fewest >= wanted)
			return false;
		drop_line(grid, which >> 1, which & 1 ? e.most[which >> 1] : e.least[which >> 1]);
	}
	return false;
}

/* ---- places on the board ---- */

/* Grid coordinates, turned by `turn` quarters and moved, are the board's. */
struct place {
	int turn;
	long move[2];
};

static void
put(const struct place *place, long x, long y, long at[2])
{
	static const int m[4][4] = { { 1, 0, 0, 1 }, { 0, 1, -1, 0 }, { -1, 0, 0, -1 },
		{ 0, -1, 1, 0 } };
	const int *t = m[place->turn];

	at[0] = t[0] * x + t[1] * y + place->move[0];
	at[1] = t[2] * x + t[3] * y + place->move[1];
}

/* The grid coordinates of a point of the board: the turn is its own transposed. */
static void
take_back(const struct place *place, long i, long j, long at[2])
{
	struct place back = { (4 - place->turn) % 4, { 0, 0 } };

	put(&back, i - place->move[0], j - place->move[1], at);
}

/* Points of the board, from numbers along the diagonals of asymmetric circles. False: none. */
static bool
number(const struct board *board, const long at[2], long ij[2])
{
	long x = at[0], y = at[1];

	if (board->kind == BOARD_ACIRCLES) {
		/* x + y and y - x are the board's own coordinates in spacings */
		long across = at[0] - at[1], down = at[0] + at[1];

		if ((across - (down & 1)) & 1)
			return false;
		x = (across - (down & 1)) / 2;
		if (across - (down & 1) < 0)
			return false;
		y = down;
	}
	ij[0] = x;
	ij[1] = y;
	return x >= 0 && y >= 0 && x < (long)board->w && y < (long)board->h;
}

/* The reverse. */
static void
unnumber(const struct board *board, long i, long j, long at[2])
{
	at[0] = i;
	at[1] = j;
	if (board->kind == BOARD_ACIRCLES) {
		long across = 2 * i + (j & 1);

		at[0] = (across + j) / 2;
		at[1] = (j - across) / 2;
	}
}

struct search {
	const struct board *board;
	const struct grid *grid;
	const struct feature *point; /* all that were found */
	size_t points;
	double H[9];    /* grid to px */
	double size[2]; /* of the picture, px */
	int colour;     /* of grid nodes with even i + j: 1: dark along (1, 1); 0: not known */
	long missing;   /* of the best place: points that should be seen and are not */
	double far;     /* of its first point from the top left */
	struct place best;
	size_t ties; /* places as good as the best one, it itself counted */
};

/* Does the board have other colours when it is turned so? Then its first point is the one with a
 * dark square beyond it. */
static bool
colour_tells(const struct board *board)
{
	return board->kind == BOARD_CHESS &&
	    (((board->w + board->h) & 1) || (board->w == board->h && (board->w & 1)));
}

static bool
colour_fits(const struct search *s, const struct place *place)
{
	long at[2];

	if (s->colour == 0 || !colour_tells(s->board))
		return true;
	take_back(place, 0, 0, at);
	/* a quarter turn makes the other diagonal of (1, 1) */
	return (((at[0] + at[1]) & 1) ^ (place->turn & 1)) == (s->colour < 0);
}

/* Is a point in the picture, with room around it for half a square? */
static bool
in_view(const struct search *s, const double at[2])
{
	static const double off[4][2] = { { .5, .5 }, { .5, -.5 }, { -.5, .5 }, { -.5, -.5 } };

	for (int k = 0; k < 4; k++) {
		double uv[2];

		homography_apply(s->H, (double[2]){ at[0] + off[k][0], at[1] + off[k][1] }, uv);
		if (!(uv[0] >= 0 && uv[1] >= 0 && uv[0] <= s->size[0] - 1 &&
			uv[1] <= s->size[1] - 1))
			return false;
	}
	return true;
}

/* Is there a point that the grid has not reached, at most a quarter of the step off? */
static bool
found_at(const struct search *s, const double at[2])
{
	double uv[2], next[2], reach = INFINITY;

	homography_apply(s->H, at, uv);
	for (int c = 0; c < 2; c++) {
		homography_apply(s->H, (double[2]){ at[0] + !c, at[1] + c }, next);
		reach = fmin(reach, 0.25 * hypot(next[0] - uv[0], next[1] - uv[1]));
	}
	for (size_t k = 0; k < s->points; k++)
		if (hypot(s->point[k].x - uv[0], s->point[k].y - uv[1]) < reach)
			return true;
	return false;
}

static bool
has_node(const struct grid *grid, const long at[2])
{
	for (size_t k = 0; k < grid->n; k++)
		if (grid->node[k].i == at[0] && grid->node[k].j == at[1])
			return true;
	return false;
}

/* 1 where a point of the board should be seen and is not, -1 where it is seen though out of the
 * grid's reach, else 0. */
static long
lacks(const struct search *s, const long at[2])
{
	double place[2] = { (double)at[0], (double)at[1] };

	if (has_node(s->grid, at) || !in_view(s, place))
		return 0;
	return found_at(s, place) ? -1 : 1;
}

static bool
all_on_board(const struct search *s, const struct place *place)
{
	for (size_t k = 0; k < s->grid->n; k++) {
		long at[2], ij[2];

		put(place, s->grid->node[k].i, s->grid->node[k].j, at);
		if (!number(s->board, at, ij))
			return false;
	}
	return true;
}

static void
try_place(struct search *s, const struct place *place)
{
	const struct board *board = s->board;
	double uv[2], far;
	long seen = 0;
	long at[2], first[2];

	if (!colour_fits(s, place) || !all_on_board(s, place))
		return;
	for (long j = 0; j < (long)board->h; j++)
		for (long i = 0; i < (long)board->w; i++) {
			unnumber(board, i, j, first);
			take_back(place, first[0], first[1], at);
			seen += lacks(s, at);
		}
	unnumber(board, 0, 0, first);
	take_back(place, first[0], first[1], at);
	homography_apply(s->H, (double[2]){ (double)at[0], (double)at[1] }, uv);
	far = hypot(uv[0], uv[1]);
	if (s->ties > 0 && seen > s->missing)
		return;
	if (s->ties == 0 || seen < s->missing) {
		s->ties = 0;
		s->missing = seen;
		s->far = INFINITY;
	}
	s->ties++;
	if (far < s->far) {
		s->far = far;
		s->best = *place;
	}
}

static void
try_places(struct search *s)
{
	struct extent e = extent_of(s->grid);
	long side[2] = { (long)s->board->w, (long)s->board->h };

	if (s->board->kind == BOARD_ACIRCLES)
		side[0] = side[1] = (long)(2 * s->board->w + s->board->h);
	for (int turn = 0; turn < 4; turn++) {
		struct place place = { turn, { 0, 0 } };
		long a[2], b[2], least[2], most[2];

		put(&place, e.least[0], e.least[1], a);
		put(&place, e.most[0], e.most[1], b);
		for (int c = 0; c < 2; c++) {
			least[c] = a[c] < b[c] ? a[c] : b[c];
			most[c] = a[c] < b[c] ? b[c] : a[c];
		}
		for (long y = 0; y + most[1] - least[1] < side[1]; y++)
			for (long x = 0; x + most[0] - least[0] < side[0]; x++) {
				place.move[0] = x - least[0];
				place.move[1] = y - least[1];
				if (s->board->kind == BOARD_ACIRCLES)
					place.move[1] -= (long)s->board->w;
				try_place(s, &place);
			}
	}
}

/* Which diagonal is dark at nodes with even i + j, by vote. */
static int
vote_colour(const struct grid *grid, const struct feature *point)
{
	double along[2], across[2], diagonal[2];
	long votes = 0;

	mean_step(grid, point, 0, along);
	mean_step(grid, point, 1, across);
	for (int k = 0; k < 2; k++)
		diagonal[k] =
		    atan2(along[1] + (k ? -1 : 1) * across[1], along[0] + (k ? -1 : 1) * across[0]);
	for (size_t k = 0; k < grid->n; k++) {
		double light = point[grid->node[k].point].light;
		bool even = !((grid->node[k].i + grid->node[k].j) & 1);
		bool dark = fabs(remainder(light - diagonal[0], M_PI)) >
		    fabs(remainder(light - diagonal[1], M_PI));

		votes += isnan(light) ? 0 : dark == even ? 1 : -1;
	}
	return votes > 0 ? 1 : votes < 0 ? -1 : 0;
}

/* ---- all of it ---- */

/* The nodes' numbers, or where `board` is given its points, to px. False: they are no plane. */
static bool
fit_grid(const struct grid *grid, const struct feature *point, const struct board *board,
    double H[9], double *rms)
{
	struct homography_pair *pair = must_alloc(grid->n, sizeof(*pair));
	bool good;

	for (size_t k = 0; k < grid->n; k++) {
		const struct grid_node *node = &grid->node[k];

		pair[k] = (struct homography_pair){ { (double)node->i, (double)node->j },
			{ point[node->point].x, point[node->point].y } };
		if (board)
			board_point(board, node->i, node->j, pair[k].from);
	}
	good = homography_fit(pair, grid->n, H, rms);
	free(pair);
	return good;
}

/* Numbers the nodes of a grid as it is, as the board's points: changes their i and j, and drops
 * those beside the board. *lack: points that should be seen and are not. False where it can be no
 * such board, with why in reason. */
static bool
place_grid(struct search *search, struct grid *grid, struct placement *to, long *lack,
    char reason[200])
{
	const struct board *board = search->board;
	const struct feature *point = search->point;
	double along[2], across[2], spacing;
	size_t before = grid->n;

	make_right_handed(grid, point);
	if (!trim(grid, board)) {
		struct extent e = { { 0, 0 }, { -1, -1 } };

		if (grid->n)
			e = extent_of(grid);
		for (int k = 0; k < 2; k++)
			to->seen[k] = (size_t)(e.most[k] - e.least[k] + 1);
		snprintf(reason, 200, "it shows a grid of at least %zux%zu points, not %zux%zu",
		    to->seen[0], to->seen[1], board->w, board->h);
		return false;
	}
	mean_step(grid, point, 0, along);
	mean_step(grid, point, 1, across);
	spacing = fmin(hypot(along[0], along[1]), hypot(across[0], across[1]));
	if (!fit_grid(grid, point, NULL, search->H, &to->rms) ||
	    !(to->rms < MAX_BEND * spacing)) {
		snprintf(reason, 200, "what looks like a grid is no plane");
		return false;
	}
	search->grid = grid;
	search->ties = 0;
	search->colour = vote_colour(grid, point);
	try_places(search);
	if (search->ties == 0) {
		snprintf(reason, 200, "a grid of %zu points does not fit a board of %zux%zu",
		    grid->n, board->w, board->h);
		return false;
	}
	for (size_t k = 0; k < grid->n; k++) {
		long at[2], ij[2] = { 0, 0 };

		put(&search->best, grid->node[k].i, grid->node[k].j, at);
		number(search->board, at, ij);
		grid->node[k].i = ij[0];
		grid->node[k].j = ij[1];
	}
	to->others = search->ties - 1;
	*lack = search->missing + (long)(before - grid->n);
	if (fit_grid(grid, point, board, to->homography, &to->rms))
		return true;
	snprintf(reason, 200, "what looks like a grid is no plane");
	return false;
}

/*
 * Circles have no edges that say which neighbours are a row: from the side the nearest one may be a
 * diagonal's. The grid is tried sheared, too, and that one taken which misses least.
 */
static bool
place_sheared(struct search *search, struct grid *grid, struct placement *to, char reason[200])
{
	static const int shear[5][2] = { { 0, 0 }, { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } };
	long least = LONG_MAX;
	struct grid best = { 0 };

	for (int k = 0; k < 5; k++) {
		struct placement placement;
		char why[200];
		struct grid tried;
		long lack;

		tried = (struct grid){ grid->n, must_alloc(grid->n + 1, sizeof(*tried.node)) };
		memcpy(tried.node, grid->node, grid->n * sizeof(*tried.node));
		for (size_t i = 0; i < tried.n; i++) {
			long a = tried.node[i].i, b = tried.node[i].j;

			tried.node[i].i = a + shear[k][0] * b;
			tried.node[i].j = b + shear[k][1] * a;
		}
		if (place_grid(search, &tried, &placement, &lack, k ? why : reason) &&
		    lack < least) {
			least = lack;
			*to = placement;
			grid_free(&best);
			best = tried;
		} else {
			grid_free(&tried);
		}
	}
	if (!best.node)
		return false;
	grid_free(grid);
	*grid = best;
	return true;
}

/* ---- the grid of a picture ---- */

#define FIRST_SIDE_PX 1024	/* the longer side of the picture that is looked at first */
#define FEATURE_SIGMA_PX 2.0	/* px of the picture that points are found in */
#define SMALL_FEATURE_SIGMA_PX 1.0 /* of the last try, for small squares and circles */
#define MIN_CHESS_SIDE_PX 40
#define MIN_CIRCLES_SIDE_PX 24
#define MIN_SADDLE_STRENGTH 0.03 /* of the strongest one */
#define MIN_BLOB_STRENGTH 0.1
#define SIDE_SPARE 6		/* points of a side more than the board has */
#define BORDER_SIGMAS 2.0		/* sigma: nearer to the border no saddle is found */

static void
board_search_free(struct board_search *s)
{
	free(s->point);
	grid_free(&s->grid);
}

/* The grid of the picture of this bin, by kernels of this sigma; it is kept if it is larger than
 * the one so far. -1 after fail(). */
static int
board_search_at(struct board_search *s, size_t bin, double sigma)
{
	const struct board *board = s->board;
	bool chess = board->kind == BOARD_CHESS;
	size_t all = board->w * board->h, side = chess ? board->w : 2 * board->w + board->h;
	struct derivative_kernels kernels;
	struct derivative_plane plane;
	struct features found;
	struct frame *binned;
	struct grid grid;

	if (derivative_kernels_init(&kernels, sigma, 0) < 0 ||
	    board_binned(s->gray, bin, &binned) < 0)
		return -1;
	if (s->options->row)
		kernels.row = s->options->row;
	plane = board_plane(binned);
	features_find(&plane, &kernels, chess ? FEATURE_SADDLE : s->options->bright ?
	    FEATURE_BRIGHT : FEATURE_DARK, 4 * all + 200, chess ? MIN_SADDLE_STRENGTH :
	    MIN_BLOB_STRENGTH, &found);
	for (size_t k = 0; k < found.n; k++) {
		found.v[k].x = (found.v[k].x + 0.5) * (double)bin - 0.5;
		found.v[k].y = (found.v[k].y + 0.5) * (double)bin - 0.5;
	}
	grid_find(found.v, found.n, all, side + SIDE_SPARE, &grid);
	if (grid.n > s->grid.n) {
		board_search_free(s);
		s->point = found.v;
		s->points = found.n;
		s->grid = grid;
	} else {
		free(found.v);
		grid_free(&grid);
	}
	frame_free(binned);
	return 0;
}

/*
 * The largest grid of a kind; its nodes have no numbers yet. Points are found in pictures of lower
 * resolution: of a chessboard those of the first bin and finer ones come first, of circles, which
 * are larger than corners, coarser ones. A last try is for small ones. -1 after fail().
 */
static int
board_grid(struct board_search *s)
{
	bool chess = s->board->kind == BOARD_CHESS;
	size_t w = s->gray->head.w, h = s->gray->head.h, all = s->board->w * s->board->h;
	size_t shorter = w > h ? h : w, longer = w > h ? w : h, first = 1;
	size_t least = chess ? MIN_CHESS_SIDE_PX : MIN_CIRCLES_SIDE_PX;

	while (longer / first > FIRST_SIDE_PX)
		first *= 2;
	for (int pass = 0; pass < 2; pass++) {
		bool coarse = (pass == 0) != chess;

		for (size_t bin = coarse ? 2 * first : first;
		    bin >= 1 && (!coarse || shorter / bin >= least) && s->grid.n < all;
		    bin = coarse ? 2 * bin : bin / 2) {
			if (board_search_at(s, bin, FEATURE_SIGMA_PX) < 0)
				return -1;
			if (chess && !coarse && board_complete(s, BORDER_SIGMAS * FEATURE_SIGMA_PX *
			    (double)bin))
				return 0;
		}
	}
	return s->grid.n < (chess ? board_least(s->board) : all) ?
	    board_search_at(s, 1, SMALL_FEATURE_SIGMA_PX) : 0;
}

/* ---- circles: ellipses are fitted to their edges in the picture itself ---- */

#define CIRCLE_REACH 0.75  /* of the way to the farthest neighbour: a circle ends there */

/* Distance of the farthest neighbour; of asymmetric circles those are on the diagonals. */
static double
neighbours_at(const struct board_search *s, size_t k)
{
	const struct grid_node *at = &s->grid.node[k];
	double here[2], far = 0;

	board_point(s->board, at->i, at->j, here);
	for (size_t i = 0; i < s->grid.n; i++) {
		const struct grid_node *to = &s->grid.node[i];
		const struct feature *p = &s->point[at->point], *q = &s->point[to->point];
		double there[2], apart;

		board_point(s->board, to->i, to->j, there);
		apart = hypot(there[0] - here[0], there[1] - here[1]);
		if (i != k && apart < 1.5)
			far = fmax(far, hypot(q->x - p->x, q->y - p->y));
	}
	return far;
}

static void
board_circles_measure(struct board_search *s, const struct placement *placement,
    struct corners *corners)
{
	struct derivative_plane plane = board_plane(s->gray);

	corners->corner = must_alloc(s->grid.n + 1, sizeof(*corners->corner));
	corners->others = placement->others;
	for (size_t k = 0; k < s->grid.n; k++) {
		const struct grid_node *node = &s->grid.node[k];
		const struct feature *from = &s->point[node->point];
		struct feature blob = { .x = from->x, .y = from->y };
		double sd;

		if (blob_measure(&plane, CIRCLE_REACH * neighbours_at(s, k), &blob, &sd))
			corners->corner[corners->n++] =
			    (struct corner){ blob.x, blob.y, sd, node->i, node->j };
	}
}

/* ---- chessboards: saddles are measured in the picture itself ---- */

#define USUAL_SIGMA 0.1 /* of the least distance of neighbours */
#define MAX_SIGMA_PX 4.0
#define COARSE_SIGMAS 2          /* the first measurement's smoothing over the last one's */
#define MAX_MOVE_PX 2.0     /* px, from the first measurement to the last */
#define LAST_STEP_PX 1e-3
#define BORDER_SIGMAS_OF_CORNER 3            /* sigma that a corner is from the border at least */
#define FILL_REACH 0.25   /* of the spacing: about the predicted place of a missing corner */
#define FILL_FAR 3        /* points: a neighbour may be so far off */
#define UNEVEN_MOST 0.12  /* of the step: a corner off the middle of its neighbours */
#define UNEVEN_SHARE 0.1  /* of the corners may be more than that */
#define FILL_STRENGTH 0.4 /* of its neighbour's */
#define FILL_TURN_RAD 0.5     /* rad: its bright quarters lie as the neighbour's do */

struct measuring {
	struct board_search *search;
	struct derivative_plane plane;
	struct placement placement;
	size_t *at; /* by board point: index of the corner, or SIZE_MAX */
	struct corner *corner;
	struct feature *saddle; /* of each corner */
	size_t n;
	double sigma, spacing; /* px */
};

static size_t *
corner_at(const struct measuring *m, long i, long j)
{
	const struct board *board = m->search->board;

	if (i < 0 || j < 0 || i >= (long)board->w || j >= (long)board->h)
		return NULL;
	return &m->at[(size_t)j * board->w + (size_t)i];
}

/* The least distance of neighbours in the grid. */
static double
least_spacing(const struct board_search *s)
{
	double least = INFINITY;

	for (size_t a = 0; a < s->grid.n; a++)
		for (size_t b = a + 1; b < s->grid.n; b++) {
			const struct grid_node *p = &s->grid.node[a], *q = &s->grid.node[b];

			if (labs(p->i - q->i) + labs(p->j - q->j) == 1)
				least = fmin(least,
				    hypot(s->point[p->point].x - s->point[q->point].x,
					s->point[p->point].y - s->point[q->point].y));
		}
	return least;
}

/* How far the border is. */
static double
room_at(const struct measuring *m, double x, double y)
{
	return fmin(fmin(x, y), fmin((double)m->plane.w - 1 - x, (double)m->plane.h - 1 - y)) + 0.5;
}

/* Measures a saddle from its place on, within `reach` px. False: there is none. */
static bool
measure(const struct measuring *m, double reach, struct feature *saddle, double *sd)
{
	double most = room_at(m, saddle->x, saddle->y) / BORDER_SIGMAS_OF_CORNER;
	double fine = fmin(m->sigma, most), coarse = fmin(COARSE_SIGMAS * m->sigma, most);
	struct derivative_kernels kernels;

	if (!(fine >= DERIVATIVES_SIGMA_LEAST))
		return false;
	if (derivative_kernels_init(&kernels, coarse, 0) < 0 ||
	    !saddle_refine(&m->plane, &kernels, reach, LAST_STEP_PX, saddle) ||
	    derivative_kernels_init(&kernels, fine, 0) < 0 ||
	    !saddle_refine(&m->plane, &kernels, MAX_MOVE_PX, LAST_STEP_PX, saddle) ||
	    !(room_at(m, saddle->x, saddle->y) >= 2 * fine))
		return false;
	*sd = saddle_sigma(&m->plane, &kernels, saddle);
	return isfinite(*sd);
}

static void
add_corner(struct measuring *m, long i, long j, const struct feature *saddle, double sd)
{
	*corner_at(m, i, j) = m->n;
	m->saddle[m->n] = *saddle;
	m->corner[m->n++] = (struct corner){ saddle->x, saddle->y, sd, i, j };
}

static void
measure_nodes(struct measuring *m)
{
	const struct board_search *s = m->search;
	double reach = fmax(0.25 * m->spacing, 1);

	for (size_t k = 0; k < s->grid.n; k++) {
		const struct grid_node *node = &s->grid.node[k];
		const struct feature *from = &s->point[node->point];
		struct feature saddle = { .x = from->x, .y = from->y };
		double sd;

		if (measure(m, reach, &saddle, &sd))
			add_corner(m, node->i, node->j, &saddle, sd);
	}
}

/* Looks for a missing corner where another one, a few points off, and the board as a plane say that
 * it is. */
static bool
fill_from(struct measuring *m, long i, long j, long di, long dj)
{
	size_t *other = corner_at(m, i + di, j + dj);
	double here[2], there[2], turned = (di + dj) & 1 ? M_PI / 2 : 0, sd;
	const struct feature *from;
	struct feature saddle = { 0 };

	if (!other || *other == SIZE_MAX)
		return false;
	from = &m->saddle[*other];
	homography_apply(m->placement.homography, (double[2]){ (double)i, (double)j }, here);
	homography_apply(
	    m->placement.homography, (double[2]){ (double)(i + di), (double)(j + dj) }, there);
	saddle.x = from->x + here[0] - there[0];
	saddle.y = from->y + here[1] - there[1];
	if (!(room_at(m, saddle.x, saddle.y) > 0) ||
	    !measure(m, FILL_REACH * m->spacing, &saddle, &sd) ||
	    saddle.strength < FILL_STRENGTH * from->strength ||
	    fabs(remainder(saddle.light - from->light - turned, M_PI)) > FILL_TURN_RAD)
		return false;
	add_corner(m, i, j, &saddle, sd);
	return true;
}

static bool
fill(struct measuring *m, long i, long j)
{
	static const long way[4][2] = { { 1, 0 }, { 0, 1 }, { -1, 0 }, { 0, -1 } };

	for (long far = 1; far <= FILL_FAR; far++)
		for (int k = 0; k < 4; k++)
			if (fill_from(m, i, j, far * way[k][0], far * way[k][1]))
				return true;
	return false;
}

static void
fill_all(struct measuring *m)
{
	const struct board *board = m->search->board;
	bool more = true;

	while (more) {
		more = false;
		for (long j = 0; j < (long)board->h; j++)
			for (long i = 0; i < (long)board->w; i++)
				if (*corner_at(m, i, j) == SIZE_MAX)
					more |= fill(m, i, j);
	}
}

/* Corners that chance has put in a row lie unevenly; a board's do not, but for perspective. */
static bool
is_even(const struct measuring *m)
{
	size_t uneven = 0, n = 0;

	for (size_t k = 0; k < m->n; k++)
		for (int c = 0; c < 2; c++) {
			const struct corner *at = &m->corner[k], *p, *q;
			const size_t *before = corner_at(m, at->i - !c, at->j - c);
			const size_t *behind = corner_at(m, at->i + !c, at->j + c);

			if (!before || !behind || *before == SIZE_MAX || *behind == SIZE_MAX)
				continue;
			p = &m->corner[*before];
			q = &m->corner[*behind];
			n++;
			uneven += hypot(p->u + q->u - 2 * at->u, p->v + q->v - 2 * at->v) >
			    UNEVEN_MOST * hypot(q->u - p->u, q->v - p->v);
		}
	return (double)uneven <= UNEVEN_SHARE * (double)n;
}

/* The points of a grid that is numbered, to a small part of a pixel. */
static void
board_chess_measure(struct board_search *s, const struct placement *placement,
    struct corners *corners)
{
	size_t all = s->board->w * s->board->h;
	struct measuring m = { .search = s,
		.plane = board_plane(s->gray),
		.placement = *placement,
		.spacing = least_spacing(s) };

	m.sigma = s->options->sigma_px;
	if (isnan(m.sigma))
		m.sigma = fmin(fmax(USUAL_SIGMA * m.spacing, DERIVATIVES_SIGMA_LEAST),
		    MAX_SIGMA_PX);
	m.at = must_alloc(all, sizeof(*m.at));
	m.corner = must_alloc(all, sizeof(*m.corner));
	m.saddle = must_alloc(all, sizeof(*m.saddle));
	for (size_t k = 0; k < all; k++)
		m.at[k] = SIZE_MAX;
	measure_nodes(&m);
	fill_all(&m);
	*corners = (struct corners){ is_even(&m) ? m.n : 0, m.corner, placement->others };
	free(m.at);
	free(m.saddle);
}

/* By j, then i. */
static int
compare(const void *a, const void *b)
{
	const struct corner *p = a, *q = b;

	if (p->j != q->j)
		return p->j < q->j ? -1 : 1;
	return p->i < q->i ? -1 : p->i > q->i;
}

static int
search(struct board_search *s, struct corners *corners, char reason[BOARD_REASON])
{
	const struct board *board = s->board;
	size_t least = board_least(board), all = board->w * board->h;
	bool chess = board->kind == BOARD_CHESS;
	const char *points = chess ? "corners" : "circles";
	struct placement placement = { 0 };
	struct search places = { .board = board, .size = { (double)s->gray->head.w,
		(double)s->gray->head.h } };
	bool placed;
	long lack;

	if (board_grid(s) < 0)
		return -1;
	if (s->grid.n < least) {
		if (s->grid.n)
			snprintf(reason, BOARD_REASON, "the largest grid of %s has %zu of %zu",
			    points, s->grid.n, all);
		else
			snprintf(reason, BOARD_REASON, "there is no grid of %s", points);
		return 1;
	}
	places.point = s->point;
	places.points = s->points;
	placed = chess ? place_grid(&places, &s->grid, &placement, &lack, reason) :
	    place_sheared(&places, &s->grid, &placement, reason);
	memcpy(corners->seen, placement.seen, sizeof(corners->seen));
	if (!placed)
		return 1;
	(chess ? board_chess_measure : board_circles_measure)(s, &placement, corners);
	if (corners->n >= least)
		return 0;
	snprintf(reason, BOARD_REASON, "only %zu of %zu %s can be measured", corners->n, all,
	    points);
	return 1;
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
	if (status != 0) {
		free(corners->corner);
		*corners = (struct corners){ .seen = { corners->seen[0], corners->seen[1] } };
	} else {
		qsort(corners->corner, corners->n, sizeof(*corners->corner), compare);
	}
	return status;
}
