/* Medians of 7 x 7 readings: of seven along each row, then of seven of these down the column. */
#ifndef HOLODEC_MEDIANS_H
#define HOLODEC_MEDIANS_H

#include "tile.h"

/* A row of readings, and the medians of their orders along it. */
struct medians {
	float rest[TILE], order[TILE];
	size_t first, end; /* NaN before and behind */
} __attribute__((aligned(64)));

/* The rows around the one that is being decoded; they are kept for the rows below. */
struct medians_ring {
	struct medians row[7];
	size_t y0;
};

/* Makes ready for row y0 of n columns from x on. */
void medians_start(struct medians_ring *ring, const struct reading *reading, const struct frame *in,
    size_t x, size_t n, size_t y0);
/* The next row, y: orders, and the readings that they belong to. */
const struct medians *medians_next(struct medians_ring *ring, const struct reading *reading,
    const struct frame *in, size_t x, size_t n, size_t y, float *order);

#endif
