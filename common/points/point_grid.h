/* Points sorted into the cubes floor(p/size) by a hash. */
#ifndef POINT_GRID_H
#define POINT_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run/run.h"

#define POINT_GRID_NONE UINT32_MAX
#define POINT_GRID_PARTS 8

struct point_grid_slots;

/* Cubes are numbered in the order in which the points first use them. */
struct point_grid {
	double size;
	size_t points, cells;
	uint32_t *cell;			/* of each point */
	int64_t origin[3];		/* subtracted from floor(p/size) */
	struct point_grid_slots *slots[POINT_GRID_PARTS];
};

/*
 * The cubes of n points, all of them finite. A point more than 2^20 cubes from clip_about counts to
 * a cube at the border; without (NULL) such an extent is an error. The result does not depend on
 * the number of threads; run may be NULL (one thread). 0 or -1 after fail().
 */
int point_grid_make(struct run *run, const float *const xyz[3], size_t n, double size,
    const double *clip_about, struct point_grid *);
/* Are cubes of this size too small for points that lie so far apart? -1 after fail(). */
int point_grid_check_extent(double size, const double low[3], const double high[3]);
/* The cube that a point lies in, as point_grid_find() takes it. */
void point_grid_place(const struct point_grid *, const float p[3], int64_t place[3]);
/* The cube's number; POINT_GRID_NONE: no point lies in it. */
uint32_t point_grid_find(const struct point_grid *, const int64_t place[3]);
/* The cubes that hold points, of that of p (the first) and the 26 around it: how many. */
size_t point_grid_around(const struct point_grid *, const float p[3], uint32_t cell[27]);
/* Frees what point_grid_find() needs. */
void point_grid_forget(struct point_grid *);
/* The points of cube k, in their order: order[start[k]] .. order[start[k + 1] - 1]; the caller
 * frees both. -1 after fail(). */
int point_grid_lists(const struct point_grid *, uint32_t **start, uint32_t **order);
void point_grid_free(struct point_grid *);

/* A grid whose cubes suit the points: a cube and the 26 around it hold 27 to 100 points, median. */
#define POINT_CUBES_MOST 4096	/* points of 27 cubes that are looked at */

struct point_cubes {
	const float *xyz[3];		/* the caller's */
	struct point_grid grid;
	uint32_t *start, *order;	/* of point_grid_lists() */
};

/* Cubes of this size, see point_grid_make(). point_cubes_free() in either case; -1 after fail(). */
int point_cubes_sized(struct run *, const float *const xyz[3], size_t n, double size,
    const double *clip_about, struct point_cubes *);
/* Of n >= 1 finite points. point_cubes_free() in either case; -1 after fail(). */
int point_cubes_make(struct run *, const float *const xyz[3], size_t n, struct point_cubes *);
/* The different points in the cube of a point and in the 26 around it: their number. */
size_t point_cubes_around(const struct point_cubes *, size_t point,
    uint32_t points[POINT_CUBES_MOST]);
void point_cubes_free(struct point_cubes *);

#endif
