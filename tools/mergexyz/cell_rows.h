/* Points sorted by the cubes that they lie in, cubes by x, y and z: what is near lies together. */
#ifndef MERGEXYZ_CELL_ROWS_H
#define MERGEXYZ_CELL_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "run/run.h"

struct cell_rows {
	double size;
	size_t points, cells;
	float *xyz[3];			/* of the sorted points */
	uint32_t *point;		/* which point each of them is */
	uint64_t *key;			/* of each cube, rising; one more behind them, beyond all */
	uint32_t *first;		/* sorted point of each cube, and `points` behind them */
	int64_t origin[3];		/* subtracted from floor(p/size) */
};

/*
 * n finite points, fewer than 2^32. One more than 2^20 cubes from `about` counts to a cube at the
 * border. The result does not depend on the number of threads. cell_rows_free() in either case; -1
 * after fail().
 */
int cell_rows_make(struct run *, const float *const xyz[3], size_t n, double size,
    const double about[3], struct cell_rows *);
void cell_rows_free(struct cell_rows *);

/* The cube of a point, three places from 0 on. */
void cell_rows_place(const struct cell_rows *, const float p[3], int64_t place[3]);
/* The first cube whose key is not less, from cube `from` on. */
size_t cell_rows_find(const struct cell_rows *, uint64_t key, size_t from);
/* The key of a cube (x, y, z), places within 0 .. CELL_ROWS_MOST - 1: rises with z, then y, x. */
#define CELL_ROWS_BITS 21
#define CELL_ROWS_MOST ((int64_t)1 << CELL_ROWS_BITS)
static inline uint64_t
cell_rows_key(int64_t x, int64_t y, int64_t z)
{
	return (uint64_t)x << 2 * CELL_ROWS_BITS | (uint64_t)y << CELL_ROWS_BITS | (uint64_t)z;
}

#endif
