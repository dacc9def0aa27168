/*
 * What regions.h joins: not pixels but runs, pieces of rows in which the surest neighbours follow
 * each other. Each row counts the whole turns that it passes, its `lead`, so that a run has one
 * unknown, its order where the lead is 0. Edges say how those of two neighbours differ.
 */
#ifndef HOLODEC_RUNS_H
#define HOLODEC_RUNS_H

#include "rows.h"

#include <stdint.h>
#include <stdlib.h>

#define COSTS 32       /* classes that pairs are sorted into */
#define COST_MOST 0.5f /* turns: a pair that differs more is not joined */
#define SURE 8         /* classes below make runs */
#define VOTE_STEPS 256 /* of a turn: sums of whole numbers are the same in every order */

struct run_of_pixels {
	int32_t first, end;   /* columns */
	int64_t members, sum; /* at roots: pixels, and the orders that they give the root */
	float order;          /* found, where the lead is 0; NaN: the region is too small */
};

/* A run's place in the tree of its region; its order less the parent's. */
struct branch {
	int32_t parent, above;
};

/* Order of run b less that of run a, where their leads are 0. */
struct edge {
	int32_t a, b, step;
	unsigned char class;
};

struct row_counts {
	size_t runs, edges, points, doubtful;
};

struct regions {
	size_t w, h, size, rows;   /* of the picture; pixels and rows allocated */
	float *rest, *order;       /* of each pixel; order as read, then as found */
	int32_t *lead;             /* of each pixel: whole turns passed in its row */
	unsigned char *class;      /* of each pixel's pair with its right neighbour */
	struct run_of_pixels *run; /* row y's from y w on */
	struct branch *branch;     /* of each run */
	struct edge *edge;         /* row y's, along it and to the row above, from 2 y w on */
	uint32_t *sorted;          /* edges, the surest first */
	struct row_counts *count;  /* of each row */
};

static void
regions_free(struct regions *regions)
{
	free(regions->rest);
	free(regions->order);
	free(regions->lead);
	free(regions->class);
	free(regions->run);
	free(regions->branch);
	free(regions->edge);
	free(regions->sorted);
	free(regions->count);
	*regions = (struct regions){ 0 };
}

static int
regions_size(struct regions *regions, size_t w, size_t h)
{
	size_t size = w * h;

	if (size > INT32_MAX / 2)
		return fail(NULL,
		    "%zu pixels are too many to be decoded by regions: give --decode median",
		    size);
	if (regions->size < size || regions->rows < h) {
		regions_free(regions);
		regions->rest = calloc(size, sizeof(*regions->rest));
		regions->order = calloc(size, sizeof(*regions->order));
		regions->lead = calloc(size, sizeof(*regions->lead));
		regions->class = calloc(size, sizeof(*regions->class));
		regions->run = calloc(size, sizeof(*regions->run));
		regions->branch = calloc(size, sizeof(*regions->branch));
		regions->edge = calloc(2 * size, sizeof(*regions->edge));
		regions->sorted = calloc(2 * size, sizeof(*regions->sorted));
		regions->count = calloc(h, sizeof(*regions->count));
		if (!regions->rest || !regions->order || !regions->lead || !regions->class ||
		    !regions->run || !regions->branch || !regions->edge || !regions->sorted ||
		    !regions->count) {
			regions_free(regions);
			return fail_memory();
		}
		regions->size = size;
		regions->rows = h;
	}
	regions->w = w;
	regions->h = h;
	return 0;
}

/* ---- runs ---- */

/* Of n pairs of pixels: classes, from 0 for those that run on in phase and stairs to COSTS for
 * those that are not to be joined; order of the second less that of the first, 0 for the latter. */
static void
classify(const float *restrict rest, const float *restrict order, const float *restrict next_rest,
    const float *restrict next_order, unsigned char *restrict class, int32_t *restrict step,
    size_t n)
{
	ROWS_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F away = next_rest[i] - rest[i], wrap = px_round(away);
		PX_F cost = px_abs(away - wrap) + px_abs(next_order[i] - order[i] + wrap);
		bool joined = cost < COST_MOST;

		class[i] = (unsigned char)(int)px_select(
		    joined, cost * (COSTS / COST_MOST), (float)COSTS);
		step[i] = (int)px_select(joined, -wrap, 0.0f);
	}
}

/* What the pixels of a run say of its order. */
static int64_t
run_sum(const float *restrict order, const int32_t *restrict lead, size_t n)
{
	int64_t sum = 0;

#pragma omp simd reduction(+ : sum)
	for (size_t i = 0; i < n; i++)
		sum += (int)px_round(order[i] * VOTE_STEPS) - VOTE_STEPS * lead[i];
	return sum;
}

static void
add_edge(struct regions *regions, size_t y, size_t a, size_t b, int32_t step, unsigned char class)
{
	size_t at = 2 * y * regions->w + regions->count[y].edges++;

	regions->edge[at] = (struct edge){ (int32_t)a, (int32_t)b, step, class };
}

static void
add_run(struct regions *regions, size_t y, size_t first, size_t end)
{
	size_t row = y * regions->w, at = row + regions->count[y].runs++;

	regions->run[at] = (struct run_of_pixels){ .first = (int32_t)first, .end = (int32_t)end,
		.members = (int64_t)(end - first),
		.sum = run_sum(regions->order + row + first, regions->lead + row + first,
		    end - first) };
	regions->branch[at] = (struct branch){ .parent = (int32_t)at };
}

/* Runs of row y, and its edges between them. class: of the pairs along the row. */
static void
find_runs(struct regions *regions, size_t y, const unsigned char *class)
{
	size_t w = regions->w, row = y * w, first = 0;

	regions->count[y] = (struct row_counts){ 0 };
	for (size_t x = 0; x < w; x++) {
		if (class[x] < SURE)
			continue;
		if (!px_isnan(regions->rest[row + x])) {
			add_run(regions, y, first, x + 1);
			if (class[x] < COSTS)
				add_edge(regions, y, row + regions->count[y].runs - 1,
				    row + regions->count[y].runs, 0, class[x]);
		}
		first = x + 1;
	}
}

/* Edges of one step each between runs a of row y - 1 and b of row y, in n columns from x on. */
static void
find_steps(struct regions *regions, size_t y, size_t a, size_t b, size_t x, size_t n)
{
	size_t below = y * regions->w + x, above = below - regions->w;
	const int32_t *lead = regions->lead;
	unsigned char class[TILE], least = COSTS;
	int32_t step[TILE], last = 0;

	classify(regions->rest + above, regions->order + above, regions->rest + below,
	    regions->order + below, class, step, n);
	for (size_t i = 0; i < n; i++) {
		int32_t turns = step[i] + lead[above + i] - lead[below + i];

		if (class[i] == COSTS)
			continue;
		if (least < COSTS && turns != last) {
			add_edge(regions, y, a, b, last, least);
			least = COSTS;
		}
		last = turns;
		least = class[i] < least ? class[i] : least;
	}
	if (least < COSTS)
		add_edge(regions, y, a, b, last, least);
}

/* The edges between rows y - 1 and y. */
static void
find_edges(struct regions *regions, size_t y)
{
	const struct run_of_pixels *run = regions->run;
	size_t a = (y - 1) * regions->w, a_end = a + regions->count[y - 1].runs;
	size_t b = y * regions->w, b_end = b + regions->count[y].runs;

	while (a < a_end && b < b_end) {
		size_t first = (size_t)(run[a].first > run[b].first ? run[a].first : run[b].first);
		size_t end = (size_t)(run[a].end < run[b].end ? run[a].end : run[b].end);

		for (size_t x = first; x < end; x += TILE)
			find_steps(regions, y, a, b, x, end - x < TILE ? end - x : TILE);
		if (run[a].end < run[b].end)
			a++;
		else
			b++;
	}
}

#endif
