/* A strip of a splat's grid: some rows that one thread fills, from the points that reach them. */
#ifndef SPLAT_STRIP_H
#define SPLAT_STRIP_H

#include "splat.h"
#include "splat_footprint.h"

#define STRIP_ROWS 32

/* What a cell gathers beside weight and depth: noise, the weight of the attributes; attributes. */
enum { LANE_NOISE, LANE_ATTRIBUTE, LANES_FIRST };

/* The memory of a thread, which the strips take in turn. */
struct splat_scratch {
	struct splat_scratch *next;
	size_t cells, vectors;		/* of a strip; of a cell */
	float *nearest;			/* depth; INFINITY: no point's own cell */
	float (*sum)[2];		/* weight, weight times depth beyond the nearest */
	lanes *more;			/* vectors for each cell */
	struct splat_block **block;	/* room for `room` of them */
	size_t blocks, room;
};

void splat_scratch_free(struct splat_scratch *);
/* Fills the rows from y0 to y1 - 1 of out and of splat->claimed. -1 after fail(). */
int splat_strip_fill(const struct splat *, const struct splat_source *, struct splat_scratch *,
    struct frame *out, size_t y0, size_t y1);

#endif
