/*
 * Numbering: a grid of neighbours knows neither where the board begins nor which side is which. All
 * places of it on the board are tried: the colours decide, and what would have to be seen.
 */
#include "feature/board_place.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "feature/homography.h"

#define BEND_MOST 0.25 /* of the spacing: rms off a homography */

/* ---- the grid as it is ---- */

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

/* The mean step in px from a node to its neighbour along i (0) or j (1). */
static void
mean_step(const struct grid *grid, const struct grid_point *point, int along, double step[2])
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
make_right_handed(struct grid *grid, const struct grid_point *point)
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
	const struct grid_point *point; /* all that were found */
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
vote_colour(const struct grid *grid, const struct grid_point *point)
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

/* The nodes' numbers, or where `board` is given its points, to px. 1: they are no plane. -1 after
 * fail(). */
static int
fit_grid(const struct grid *grid, const struct grid_point *point, const struct board *board,
    double H[9], double *rms)
{
	struct homography_pair *pair = calloc(grid->n, sizeof(*pair));
	bool good;

	if (!pair)
		return fail_memory();
	for (size_t k = 0; k < grid->n; k++) {
		const struct grid_node *node = &grid->node[k];

		pair[k] = (struct homography_pair){ { (double)node->i, (double)node->j },
			{ point[node->point].x, point[node->point].y } };
		if (board)
			board_point(board, node->i, node->j, pair[k].from);
	}
	good = homography_fit(pair, grid->n, H, rms);
	free(pair);
	return good ? 0 : 1;
}

static void
renumber(const struct search *s, struct grid *grid)
{
	for (size_t k = 0; k < grid->n; k++) {
		long at[2], ij[2] = { 0, 0 };

		put(&s->best, grid->node[k].i, grid->node[k].j, at);
		number(s->board, at, ij);
		grid->node[k].i = ij[0];
		grid->node[k].j = ij[1];
	}
}

/* Places a grid as it is. As board_place(); *lack: points that should be seen and are not. */
static int
place_grid(struct search *search, struct grid *grid, const struct grid_point *point,
    struct placement *to, long *lack, char reason[200])
{
	const struct board *board = search->board;
	double along[2], across[2], spacing;
	size_t before = grid->n;
	int status;

	make_right_handed(grid, point);
	if (!trim(grid, board)) {
		struct extent e = { { 0, 0 }, { -1, -1 } };

		if (grid->n)
			e = extent_of(grid);
		snprintf(reason, 200, "it shows a grid of at least %ldx%ld points, not %zux%zu",
		    e.most[0] - e.least[0] + 1, e.most[1] - e.least[1] + 1, board->w, board->h);
		return 1;
	}
	mean_step(grid, point, 0, along);
	mean_step(grid, point, 1, across);
	spacing = fmin(hypot(along[0], along[1]), hypot(across[0], across[1]));
	status = fit_grid(grid, point, NULL, search->H, &to->rms);
	if (status < 0)
		return -1;
	if (status > 0 || !(to->rms < BEND_MOST * spacing)) {
		snprintf(reason, 200, "what looks like a grid is no plane");
		return 1;
	}
	search->grid = grid;
	search->ties = 0;
	search->colour = vote_colour(grid, point);
	try_places(search);
	if (search->ties == 0) {
		snprintf(reason, 200, "a grid of %zu points does not fit a board of %zux%zu",
		    grid->n, board->w, board->h);
		return 1;
	}
	renumber(search, grid);
	to->others = search->ties - 1;
	*lack = search->missing + (long)(before - grid->n);
	status = fit_grid(grid, point, board, to->homography, &to->rms);
	if (status > 0)
		snprintf(reason, 200, "what looks like a grid is no plane");
	return status;
}

static int
grid_copy(const struct grid *from, struct grid *to)
{
	to->node = calloc(from->n + 1, sizeof(*to->node));
	if (!to->node)
		return fail_memory();
	to->n = from->n;
	memcpy(to->node, from->node, from->n * sizeof(*to->node));
	return 0;
}

/*
 * Circles have no edges that say which neighbours are a row: from the side the nearest one may be a
 * diagonal's. The grid is tried sheared, too, and that one taken which misses least.
 */
static int
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
		int status;

		if (grid_copy(grid, &tried) < 0) {
			grid_free(&best);
			return -1;
		}
		for (size_t i = 0; i < tried.n; i++) {
			long a = tried.node[i].i, b = tried.node[i].j;

			tried.node[i].i = a + shear[k][0] * b;
			tried.node[i].j = b + shear[k][1] * a;
		}
		status = place_grid(search, &tried, search->point, &placement, &lack,
		    k ? why : reason);
		if (status == 0 && lack < least) {
			least = lack;
			*to = placement;
			grid_free(&best);
			best = tried;
		} else {
			grid_free(&tried);
		}
		if (status < 0) {
			grid_free(&best);
			return -1;
		}
	}
	if (!best.node)
		return 1;
	grid_free(grid);
	*grid = best;
	return 0;
}

int
board_place(const struct board *board, const struct grid_point *point, size_t n, struct grid *grid,
    double w_px, double h_px, struct placement *to, char reason[200])
{
	struct search search = {
		.board = board, .grid = grid, .point = point, .points = n, .size = { w_px, h_px }
	};
	long lack;

	return board->kind == BOARD_CHESS ? place_grid(&search, grid, point, to, &lack, reason)
					  : place_sheared(&search, grid, to, reason);
}
