/* The disparities of one row, from the values of both sides: search, both ways, vote. */
#ifndef MATCH_ROW_H
#define MATCH_ROW_H

#include "row_index.h"
#include "value_map.h"

/* What became of the left pixels that have a phase. */
struct match_counts {
	size_t pixels;
	size_t residual, bracket, both_ways, vote, support, depth;	/* lost by these */
};

struct matching {
	size_t maps;			/* several: they vote */
	struct value_map left[PHASES_MOST], right[PHASES_MOST];
	float step_most[PHASES_MOST];	/* of a map */
	float sign;			/* -1: the values fall from left to right */
	float both_ways;		/* px; 0: they are not matched back */
	float vote;			/* px that disparities which agree differ by at most */
	size_t w, right_w;
	bool sigma;			/* of the disparity is wanted */
};

/* Memory for one row at a time. */
struct match_memory {
	float *left, *right, *left_sigma, *right_sigma, *back;
	float *disparity[PHASES_MOST];	/* of every map that votes */
	struct row_index left_index, right_index;
};

size_t match_memory_bytes(const struct matching *);
/* Lays it out in memory of that size, aligned to 64. */
void match_memory_place(struct match_memory *, const struct matching *, void *memory);
/*
 * The disparities of row y, NaN where there is none, and their standard deviations where they are
 * wanted (sigma, else NULL). Adds to counts all but support and depth.
 */
void match_row(const struct matching *, struct match_memory *, const struct frame *in, size_t y,
    float *disparity, float *sigma, struct match_counts *counts);
/* The values of a map in row y of the right side, and their index. */
void match_right_row(const struct matching *, size_t map, struct match_memory *,
    const struct frame *in, size_t y);

#endif
