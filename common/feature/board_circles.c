/*
 * Circles: blobs are found in pictures of lower resolution, a grid grows through them, and ellipses
 * are fitted to their edges in the picture itself.
 */
#include "feature/board_search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "feature/blob.h"

#define FIND_SIGMA 2.0 /* px of the picture that blobs are found in */
#define FINE_SIGMA 1.0
#define LEAST_SIDE 24
#define WEAKEST 0.1 /* of the strongest blob */
#define REACH 0.75  /* of the way to the farthest neighbour: a circle ends there */

static int
find_blobs(const struct board_search *s, const struct derivative_plane *plane,
    const struct derivative_kernels *kernels, struct grid_point **out, size_t *n)
{
	struct blobs blobs = { 0 };
	int status = blobs_find(plane, kernels, s->options->bright, board_candidates(s), WEAKEST,
	    &blobs);
	struct grid_point *point = status < 0 ? NULL : calloc(blobs.n + 1, sizeof(*point));

	for (size_t k = 0; point && k < blobs.n; k++)
		point[k] = (struct grid_point){ blobs.blob[k].x, blobs.blob[k].y,
			blobs.blob[k].strength, NAN, NAN };
	if (status == 0 && !point)
		status = fail_memory();
	*out = point;
	*n = blobs.n;
	blobs_free(&blobs);
	return status;
}

static int
find_at(struct board_search *s, size_t bin, double sigma)
{
	return board_search_at(s, bin, sigma, 2 * s->board->w + s->board->h + 6, find_blobs);
}

int
board_circles_grid(struct board_search *s)
{
	size_t w = s->gray->head.w, h = s->gray->head.h, all = s->board->w * s->board->h;
	size_t shorter = w > h ? h : w, first = board_first_bin(s);

	/* circles are larger than corners: coarser pictures come first */
	for (size_t bin = 2 * first; shorter / bin >= LEAST_SIDE && s->grid.n < all; bin *= 2)
		if (find_at(s, bin, FIND_SIGMA) < 0)
			return -1;
	for (size_t bin = first; bin >= 1 && s->grid.n < all; bin /= 2)
		if (find_at(s, bin, FIND_SIGMA) < 0)
			return -1;
	return s->grid.n < all ? find_at(s, 1, FINE_SIGMA) : 0;
}

/* Distance of the farthest neighbour; of asymmetric circles those are on the diagonals. */
static double
neighbours_at(const struct board_search *s, size_t k)
{
	const struct grid_node *at = &s->grid.node[k];
	double here[2], far = 0;

	board_point(s->board, at->i, at->j, here);
	for (size_t i = 0; i < s->grid.n; i++) {
		const struct grid_node *to = &s->grid.node[i];
		const struct grid_point *p = &s->point[at->point], *q = &s->point[to->point];
		double there[2], apart;

		board_point(s->board, to->i, to->j, there);
		apart = hypot(there[0] - here[0], there[1] - here[1]);
		if (i != k && apart < 1.5)
			far = fmax(far, hypot(q->x - p->x, q->y - p->y));
	}
	return far;
}

int
board_circles_measure(struct board_search *s, const struct placement *placement,
    struct corners *corners)
{
	struct derivative_plane plane = board_plane(s->gray);

	corners->corner = calloc(s->grid.n + 1, sizeof(*corners->corner));
	if (!corners->corner)
		return fail_memory();
	corners->others = placement->others;
	for (size_t k = 0; k < s->grid.n; k++) {
		const struct grid_node *node = &s->grid.node[k];
		const struct grid_point *from = &s->point[node->point];
		struct blob blob = { .x = from->x, .y = from->y };
		double sd;

		if (blob_measure(&plane, REACH * neighbours_at(s, k), &blob, &sd))
			corners->corner[corners->n++] =
			    (struct corner){ blob.x, blob.y, sd, node->i, node->j };
	}
	return 0;
}
