#define _GNU_SOURCE
#include "feature/board_grid.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/numbers.h"

#define SEEDS_MOST 100
#define TOLERANCE 0.25 /* of the distance to the predicted neighbour */
#define ALONG 0.3      /* rad: of an edge and the line to the neighbour */
#define SIMILAR 0.25   /* least ratio of the strengths of neighbours */
#define CROSSED 0.7    /* rad: bright quarters of neighbours stand crosswise to within it */
#define NONE SIZE_MAX

struct growth {
	const struct grid_point *point;
	size_t n;
	long side;              /* nodes have -side <= i, j <= side */
	size_t *at;             /* (2 side + 1)^2 indices of points, or NONE */
	unsigned char *used;    /* by point: in the grid; tried as a seed */
	struct grid_node *node; /* in order of growth */
	size_t nodes;
};

void
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
static const struct grid_point *
node_at(const struct growth *growth, long i, long j)
{
	size_t k;

	if (labs(i) > growth->side || labs(j) > growth->side)
		return NULL;
	k = *cell(growth, i, j);
	return k == NONE ? NULL : &growth->point[k];
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
may_be_neighbours(const struct grid_point *a, const struct grid_point *b)
{
	if (!(b->strength > SIMILAR * a->strength) || !(a->strength > SIMILAR * b->strength))
		return false;
	return isnan(a->light) || between(a->light + M_PI / 2, b->light) < CROSSED;
}

static bool
has_edge_along(const struct grid_point *point, double direction)
{
	return isnan(point->light) || between(point->light + point->open, direction) < ALONG ||
	    between(point->light - point->open, direction) < ALONG;
}

/* ---- seeds ---- */

/* The nearest possible neighbour of point a whose direction is within `width` of this one. */
static size_t
neighbour(const struct growth *growth, size_t a, double direction, double width, size_t but)
{
	const struct grid_point *from = &growth->point[a];
	double near = INFINITY;
	size_t best = NONE;

	for (size_t k = 0; k < growth->n; k++) {
		const struct grid_point *to = &growth->point[k];
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
	size_t best = NONE;

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
	const struct grid_point *p = growth->point;
	double at[2] = { p[b].x + p[c].x - p[a].x, p[b].y + p[c].y - p[a].y };
	double first = hypot(p[b].x - p[a].x, p[b].y - p[a].y);
	double second = hypot(p[c].x - p[a].x, p[c].y - p[a].y);
	size_t d;

	add_node(growth, 0, 0, a);
	add_node(growth, 1, 0, b);
	add_node(growth, 0, 1, c);
	d = nearest_free(growth, at, TOLERANCE * fmin(first, second));
	if (d == NONE || !may_be_neighbours(&p[b], &p[d]) || !may_be_neighbours(&p[c], &p[d]))
		return false;
	add_node(growth, 1, 1, d);
	return true;
}

static void
forget(struct growth *growth)
{
	for (size_t k = 0; k < growth->nodes; k++) {
		*cell(growth, growth->node[k].i, growth->node[k].j) = NONE;
		growth->used[growth->node[k].point] &= (unsigned char)~1;
	}
	growth->nodes = 0;
}

/* A quad with the point at one of its corners; quarter: which. */
static bool
seed(struct growth *growth, size_t a, int quarter)
{
	const struct grid_point *p = &growth->point[a];
	double turn[4] = { 0, 0, M_PI, M_PI }, turn_second[4] = { 0, M_PI, 0, M_PI };
	size_t b, c;

	if (isnan(p->light)) {
		/* circles: the nearest one, and the nearest one across */
		double along;

		b = neighbour(growth, a, 0, M_PI, NONE);
		if (b == NONE)
			return false;
		along = atan2(growth->point[b].y - p->y, growth->point[b].x - p->x);
		c = neighbour(growth, a, along + (quarter & 1 ? -M_PI / 2 : M_PI / 2), 0.9, b);
		if (quarter & 2)
			return false;
	} else {
		b = neighbour(growth, a, p->light + p->open + turn[quarter], ALONG, NONE);
		c = neighbour(growth, a, p->light - p->open + turn_second[quarter], ALONG, NONE);
	}
	if (b == NONE || c == NONE || b == c)
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
	const struct grid_point *here = node_at(growth, i, j);
	const struct grid_point *behind = node_at(growth, i - di, j - dj);
	double sum[2] = { 0, 0 }, n = 0;

	if (behind) {
		sum[0] += here->x - behind->x;
		sum[1] += here->y - behind->y;
		n++;
	}
	for (long side = -1; side <= 1; side += 2) {
		long a = i + side * dj, b = j + side * di;
		const struct grid_point *beside = node_at(growth, a, b);
		const struct grid_point *on = node_at(growth, a + di, b + dj);

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
	const struct grid_point *here = node_at(growth, i, j);

	for (int k = 0; k < 4; k++) {
		long to_i = i + way[k][0], to_j = j + way[k][1];
		double at[2];
		size_t found;

		if (labs(to_i) > growth->side || labs(to_j) > growth->side ||
		    node_at(growth, to_i, to_j) || !predict(growth, i, j, way[k][0], way[k][1], at))
			continue;
		found =
		    nearest_free(growth, at, TOLERANCE * hypot(at[0] - here->x, at[1] - here->y));
		if (found != NONE && may_be_neighbours(here, &growth->point[found]))
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

static int
keep_largest(const struct growth *growth, struct grid *grid)
{
	struct grid_node *node;

	if (growth->nodes <= grid->n)
		return 0;
	node = reallocarray(grid->node, growth->nodes, sizeof(*node));
	if (!node)
		return fail_memory();
	for (size_t k = 0; k < growth->nodes; k++)
		node[k] = growth->node[k];
	grid->node = node;
	grid->n = growth->nodes;
	return 0;
}

static int
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
			if (keep_largest(growth, grid) < 0)
				return -1;
			large = growth->nodes > 8;
			for (size_t k = 0; k < growth->nodes && large; k++)
				growth->used[growth->node[k].point] |= 2;
			forget(growth);
			if (large)
				break;
		}
	}
	return 0;
}

int
grid_find(
    const struct grid_point *point, size_t n, size_t enough, size_t side_most, struct grid *grid)
{
	struct growth growth = { .point = point, .n = n, .side = (long)side_most };
	size_t line = 2 * side_most + 1, cells;
	int status = -1;

	*grid = (struct grid){ 0 };
	if (n < 4)
		return 0;
	if (size_multiply(line, line, &cells) < 0)
		return -1;
	growth.at = reallocarray(NULL, cells, sizeof(*growth.at));
	growth.used = calloc(n, 1);
	growth.node = calloc(n, sizeof(*growth.node));
	if (growth.at && growth.used && growth.node) {
		for (size_t k = 0; k < cells; k++)
			growth.at[k] = NONE;
		status = try_seeds(&growth, enough, grid);
	} else {
		fail_memory();
	}
	free(growth.at);
	free(growth.used);
	free(growth.node);
	if (status < 0)
		grid_free(grid);
	return status;
}
