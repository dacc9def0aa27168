/* A strip of a splat's grid: some rows that one thread fills, from the points that reach them. */
#ifndef SPLAT_STRIP_H
#define SPLAT_STRIP_H

#include "splat.h"

#define STRIP_ROWS 16

typedef float lanes __attribute__((vector_size(16)));

/* What cells gather: weight, weight times depth beyond the nearest, noise, weight of the attributes;
 * then the attributes. */
enum { LANE_WEIGHT, LANE_DEPTH, LANE_NOISE, LANE_ATTRIBUTE };

/* A point that reaches the strip; its attributes follow. */
struct splat_record {
	float u, v, d, gx, gy, weight, noise;
	uint32_t reach;			/* su, sv in 1/4096 cells, 0: both at most 1.5 */
	lanes attribute[];
};

/* The memory of a thread, which the strips take in turn. */
struct splat_scratch {
	struct splat_scratch *next;
	size_t cells, vectors;		/* of a strip; of a cell */
	float *nearest;			/* depth; INFINITY: no point's own cell */
	lanes *sum;
	unsigned char *record;
	size_t records, room;
};

/* Memory for strips of this width and these lanes. -1 after fail(). */
int splat_scratch_fit(struct splat_scratch *, size_t cells, size_t vectors);
void splat_scratch_free(struct splat_scratch *);
/* Fills the rows from y0 to y1 - 1 of out and of splat->claimed. -1 after fail(). */
int splat_strip_fill(const struct splat *, const struct splat_source *, struct splat_scratch *,
    struct frame *out, size_t y0, size_t y1);

#endif
