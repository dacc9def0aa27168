/*
 * What regions.c joins: not pixels but runs, pieces of rows in which the surest neighbours follow
 * each other. Each row counts the whole turns that it passes, its `lead`, so that a run has one
 * unknown, its order where the lead is 0. Edges hold by how much
 * those of two neighbours differ.
 *
 * Rows are taken in blocks, each of which has one thread and its part of every array.
 */
#ifndef HOLODEC_RUNS_H
#define HOLODEC_RUNS_H

#include <stdint.h>

#include "tile.h"

#define BLOCK_ROWS 32
#define COSTS 32       /* classes that pairs are sorted into */
#define COST_MOST 0.5f /* turns: a pair that differs more is not joined */
#define SURE 8         /* classes below make runs */
#define VOTE_STEPS 256 /* of a turn: sums of whole numbers are the same in every order */
#define NO_ORDER (INT32_MIN / 2)

struct run_of_pixels {
	int32_t first, end;   /* columns */
	int64_t members, sum; /* at roots: pixels, and the orders that they give the root */
	int32_t order;        /* found, where the lead is 0; NO_ORDER: the region is too small; in
				 revote() at roots the number of pixels in the sum */
	unsigned char class;  /* of the pair of its last pixel and the next */
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

struct span {
	size_t first, end;
};

struct region_block {
	size_t y0, y1; /* rows */
	struct span runs, edges;
	unsigned char *class; /* of a row of pairs */
	int32_t *turn;        /* a number for each pixel of a row */
	size_t points, doubtful;
};

struct regions {
	size_t w, h, blocks;
	size_t size, rows;          /* pixels and rows allocated */
	float *rest, *order;        /* of each pixel; order as read, then as found */
	float *turns;               /* for grow() */
	unsigned char *state;       /* likewise; two planes */
	float *certainty;           /* of the order, of each pixel; grow() */
	int32_t *lead;              /* of each pixel: whole turns passed in its row; then its
				       turns, odds.c */
	struct span *inside;        /* columns of each row; outside is nothing but background */
	struct span *row;           /* runs of each row */
	struct run_of_pixels *run;  /* no more than there are pixels, as for blocks */
	struct branch *branch;      /* of each run */
	struct edge *edge, *sorted; /* no more than two a pixel; the surest first */
	struct region_block *block;
	unsigned char *class;       /* rows for the blocks */
	int32_t *turn;              /* of each pixel; then of its stair's offset, odds.c */
};

/* Makes ready for a picture. -1 after fail(). */
int runs_begin(struct regions *regions, size_t w, size_t h);
void runs_free(struct regions *regions);
/* Of n pairs of pixels: classes, from 0 for those that run on in phase and stairs to COSTS for
 * those that are not to be joined; order of the second less that of the first, 0 for the latter. */
void runs_classify(const float *restrict rest, const float *restrict order,
    const float *restrict next_rest, const float *restrict next_order,
    unsigned char *restrict class, int32_t *restrict step, size_t n);
/* Finds the runs of row y of a block, their votes, and the leads of the pixels. */
void runs_find(struct regions *regions, struct region_block *block, size_t y);

#endif
