/*
 * Chessboards: saddles are found in pictures of lower resolution, coarse ones first, a grid grows
 * through them, and their places are measured in the picture itself.
 */
#define _GNU_SOURCE
#include "feature/board_search.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "feature/corner.h"
#include "feature/homography.h"

#define FIND_SIGMA 2.0 /* px of the picture that saddles are found in */
#define FINE_SIGMA 1.0 /* of the last try, for small squares */
#define LEAST_SIDE 40
#define OUTSIDE 2.0    /* sigma: nearer to the border no saddle is found */
#define WEAKEST 0.03    /* of the strongest saddle */
#define USUAL_SIGMA 0.1 /* of the least distance of neighbours */
#define SIGMA_MOST 4.0
#define COARSE 2          /* the first measurement's smoothing over the last one's */
#define MOVE_MOST 2.0     /* px, from the first measurement to the last */
#define ROOM 3            /* sigma that a corner is from the border at least */
#define FILL_REACH 0.25   /* of the spacing: about the predicted place of a missing corner */
#define FILL_FAR 3        /* points: a neighbour may be so far off */
#define UNEVEN_MOST 0.12  /* of the step: a corner off the middle of its neighbours */
#define UNEVEN_SHARE 0.1  /* of the corners may be more than that */
#define FILL_STRENGTH 0.4 /* of its neighbour's */
#define FILL_TURN 0.5     /* rad: its bright quarters lie as the neighbour's do */

/* ---- finding ---- */

static int
find_saddles(const struct board_search *s, const struct derivative_plane *plane,
    const struct derivative_kernels *kernels, struct grid_point **out, size_t *n)
{
	struct saddles saddles = { 0 };
	int status = saddles_find(plane, kernels, board_candidates(s), WEAKEST, &saddles);
	struct grid_point *point = status < 0 ? NULL : calloc(saddles.n + 1, sizeof(*point));

	for (size_t k = 0; point && k < saddles.n; k++) {
		const struct saddle *from = &saddles.saddle[k];

		point[k] = (struct grid_point){ from->x, from->y, from->strength, from->light,
			from->open };
	}
	if (status == 0 && !point)
		status = fail_memory();
	*out = point;
	*n = saddles.n;
	saddles_free(&saddles);
	return status;
}

static int
find_at(struct board_search *s, size_t bin, double sigma)
{
	return board_search_at(s, bin, sigma, s->board->w + 6, find_saddles);
}

int
board_chess_grid(struct board_search *s)
{
	size_t w = s->gray->head.w, h = s->gray->head.h, all = s->board->w * s->board->h;
	size_t shorter = w > h ? h : w, first = board_first_bin(s);

	for (size_t bin = first; bin >= 1 && s->grid.n < all; bin /= 2) {
		if (find_at(s, bin, FIND_SIGMA) < 0)
			return -1;
		if (board_complete(s, OUTSIDE * FIND_SIGMA * (double)bin))
			return 0;
	}
	for (size_t bin = 2 * first; shorter / bin >= LEAST_SIDE && s->grid.n < all; bin *= 2)
		if (find_at(s, bin, FIND_SIGMA) < 0)
			return -1;
	return s->grid.n < board_least(s->board) ? find_at(s, 1, FINE_SIGMA) : 0;
}

/* ---- measuring ---- */

struct measuring {
	struct board_search *search;
	struct derivative_plane plane;
	struct placement placement;
	size_t *at; /* by board point: index of the corner, or SIZE_MAX */
	struct corner *corner;
	struct saddle *saddle; /* of each corner */
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
measure(const struct measuring *m, double reach, struct saddle *saddle, double *sd)
{
	double most = room_at(m, saddle->x, saddle->y) / ROOM;
	double fine = fmin(m->sigma, most), coarse = fmin(COARSE * m->sigma, most);
	struct derivative_kernels kernels;
	double moved = MOVE_MOST;

	if (!(fine >= DERIVATIVES_SIGMA_LEAST))
		return false;
	if (derivative_kernels_init(&kernels, coarse, 0) < 0 ||
	    !saddle_refine(&m->plane, &kernels, reach, saddle) ||
	    derivative_kernels_init(&kernels, fine, 0) < 0 ||
	    !saddle_refine(&m->plane, &kernels, moved, saddle) ||
	    !(room_at(m, saddle->x, saddle->y) >= 2 * fine))
		return false;
	*sd = saddle_sigma(&m->plane, &kernels, saddle);
	return isfinite(*sd);
}

static void
add_corner(struct measuring *m, long i, long j, const struct saddle *saddle, double sd)
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
		const struct grid_point *from = &s->point[node->point];
		struct saddle saddle = { .x = from->x, .y = from->y };
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
	const struct saddle *from;
	struct saddle saddle = { 0 };

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
	    fabs(remainder(saddle.light - from->light - turned, M_PI)) > FILL_TURN)
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

int
board_chess_measure(struct board_search *s, const struct placement *placement,
    struct corners *corners)
{
	size_t all = s->board->w * s->board->h;
	struct measuring m = { .search = s,
		.plane = board_plane(s->gray),
		.placement = *placement,
		.spacing = least_spacing(s) };
	int status = -1;

	m.sigma = s->options->sigma_px;
	if (isnan(m.sigma))
		m.sigma = fmin(fmax(USUAL_SIGMA * m.spacing, DERIVATIVES_SIGMA_LEAST), SIGMA_MOST);
	m.at = calloc(all, sizeof(*m.at));
	m.corner = calloc(all, sizeof(*m.corner));
	m.saddle = calloc(all, sizeof(*m.saddle));
	if (m.at && m.corner && m.saddle) {
		for (size_t k = 0; k < all; k++)
			m.at[k] = SIZE_MAX;
		measure_nodes(&m);
		fill_all(&m);
		*corners = (struct corners){ is_even(&m) ? m.n : 0, m.corner, placement->others };
		m.corner = NULL;
		status = 0;
	} else {
		fail_memory();
	}
	free(m.at);
	free(m.corner);
	free(m.saddle);
	return status;
}
