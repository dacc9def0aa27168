/* The spatial index of point clouds: points sorted into cubes. */
#pragma once

#include "run/run.h"

/*
 * Points sorted by the cubes floor(p/size) that they lie in. Cubes stand in the order of their
 * places x, then y, then z, so that cubes that follow one another along z are found by one search,
 * and near points are near in memory.
 */
struct grid {
	const float *xyz[3];		/* the caller's, and finite */
	double size;			/* side of a cube */
	size_t points, cells;
	int64_t origin[3];		/* subtracted from floor(p/size): the place of a cube */
	int64_t border;			/* places that stay free on each side */
	uint32_t *point;		/* sorted by cubes; those of a cube in their own order */
	uint64_t *key;			/* grid_key() of each cube, rising; then one beyond all */
	uint32_t *first;		/* of each cube: the first of its `point`; then `points` */
	/* Of grid_make_fitting(): the median point, and the largest side of the box around half
	 * of the points. */
	double middle[3], extent;
};

/* The box of points; begins as GRID_NOWHERE, where low > high. */
struct grid_extent {
	double low[3], high[3];
};

#define GRID_NOWHERE (struct grid_extent){ { INFINITY, INFINITY, INFINITY }, \
	{ -INFINITY, -INFINITY, -INFINITY } }

/* So that it holds the box from low to high, too. */
static inline void
grid_widen(struct grid_extent *extent, const double low[3], const double high[3])
{
	for (int k = 0; k < 3; k++) {
		extent->low[k] = low[k] < extent->low[k] ? low[k] : extent->low[k];
		extent->high[k] = high[k] > extent->high[k] ? high[k] : extent->high[k];
	}
}

/*
 * Sorts n >= 1 points. With `about`, a point more than 2^20 cubes from there counts to a cube at
 * the border, and every cube has places for its 26 neighbours. Without (NULL) such an extent is an
 * error: that of the points together with *extent, which is widened by them. The result does not
 * depend on the number of threads. grid_free() in either case; -1 after fail().
 */
int grid_make(struct run *run, const float *const xyz[3], size_t n, double size,
    const double *about, struct grid_extent *extent, struct grid *);

/*
 * Cubes of a size that suits the points: the 27 cubes around a point hold about `wanted` points by
 * the median, half to twice as many. different: copies of a point count as one. size: the first
 * size that is tried; 0: one found from the extent. Otherwise as grid_make() with `about`.
 */
int grid_make_fitting(struct run *run, const float *const xyz[3], size_t n, double size,
    size_t wanted, bool different, struct grid *);
void grid_free(struct grid *);

/* Bits of a cube's place along an axis: three make a key. */
#define GRID_PLACE_BITS 21
#define GRID_PLACES ((int64_t)1 << GRID_PLACE_BITS)

static inline uint64_t
grid_key(int64_t x, int64_t y, int64_t z)
{
	return (uint64_t)x << 2 * GRID_PLACE_BITS | (uint64_t)y << GRID_PLACE_BITS | (uint64_t)z;
}

static inline void
grid_place_of_key(uint64_t key, int64_t place[3])
{
	for (int k = 0; k < 3; k++)
		place[k] = (int64_t)(key >> (2 - k) * GRID_PLACE_BITS) & (GRID_PLACES - 1);
}

/* The cube that a point lies in. */
void grid_place(const struct grid *, const float p[3], int64_t place[3]);

/* The first cube whose key is not less, from cube `from` on. */
static inline size_t
grid_find(const struct grid *grid, uint64_t key, size_t from)
{
	size_t n = grid->cells - from;

	while (n > 0) {
		size_t half = n / 2;

		if (grid->key[from + half] < key) {
			from += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return from;
}

/* The cubes in the order of their first points, in an array that the caller frees; NULL after
 * fail(). */
uint32_t *grid_in_order(const struct grid *);
/* The cubes that hold points, of that of p (the first) and the 26 around it: how many. Only of a
 * grid made with `about`. */
size_t grid_around(const struct grid *, const float p[3], uint32_t cell[27]);

#define GRID_MOST_AROUND 4096	/* points of 27 cubes that grid_different() looks at */

/* The different points in the cube of a point and in the 26 around it, sorted by their coordinates:
 * their number. */
size_t grid_different(const struct grid *, size_t point, uint32_t points[GRID_MOST_AROUND]);
