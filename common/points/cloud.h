/* Points of a surface in cubes, with normals by their neighbours. */
#pragma once

#include "frame/frame.h"
#include "points/grid.h"
#include "run/run.h"

/*
 * Lengths are in cells: the distance of the lattice's nodes, which is also the standard deviation
 * of the weights. A brick is 4 x 4 x 4 nodes, and a cube of the points' grid: so a mask of its
 * nodes is a word.
 */
#define BRICK 4
#define BRICK_NODES (BRICK * BRICK * BRICK)
#define WEIGHT_SQUARE 8.0f	/* (1 - d^2/8)^4, nearly exp(-d^2/2): no point counts beyond 2.83 */
#define WEIGHT_REACH 2.83

#define CLOUD_VALUES 3		/* r g b, or one of texture */
#define NEAR_LANES 16		/* that sums are made in, whatever a vector's width is */
#define NEAR_SUMS 10		/* w, w x y z, w xx xy xz yy yz zz */

/* Points and their normals; after cloud_scale(), in the order of the cubes. */
struct cloud {
	size_t n, points;		/* and how many the frame had, with normals or not */
	bool keeps;			/* by the caller: points without a normal stay, with 0 */
	float *xyz[3], *normal[3];	/* normal[0] NULL: there are none yet */
	uint32_t *index;		/* of each point's pixel */
	/* what tells the sides; CLOUD_ORDER: normal[] until cloud_normals(), of any length */
	enum { CLOUD_NO_SIDES, CLOUD_NORMALS, CLOUD_ORDER, CLOUD_SENSOR } sides;
	bool has_sensor;
	double sensor[3];		/* where the points were seen from */
	double spacing;			/* of cloud_spacing() */
	float *value[CLOUD_VALUES];
	size_t values;
	struct grid grid;		/* cubes of BRICK cells; point[] is 0, 1, 2, ... */
};

/* Points near a brick: place[] in cells from its first node, value[] the normals and then the
 * cloud's values. Their number is filled up to whole NEAR_LANES by points too far away to count. */
#define NEAR_VALUES (3 + CLOUD_VALUES)

struct near {
	size_t n, room;
	float *place[3], *value[NEAR_VALUES];
	uint32_t *point;
};

static inline float
near_weight(float square, float reach_square)
{
	float rest = 1.0f - square / reach_square, again = rest * rest;

	return rest > 0.0f ? again * again : 0.0f;
}

/*
 * Takes the finite points of a frame with x y z, r g b or texture, and what tells their sides: if
 * has_sensor is set, that alone; else channels nx ny nz, which come to unit length (points without
 * one are dropped), the order of the frame, or its key seen_from_mm. -1 after fail(); cloud_free()
 * in either case.
 */
int cloud_take(const struct frame *, struct cloud *);
/* The side of the square that each point has for itself, by the median, as if they lay at random;
 * 0.89 of a square lattice's pitch. -1 after fail(), also of fewer than 9 points or places. */
int cloud_spacing(struct run *, const struct cloud *, double *spacing);
/* Sorts the points into cubes of BRICK cells, and drops those too far away from all others. *cell:
 * NaN, then 1.5 spacings or 1.25 times the noise, whichever is more. -1 after fail(). */
int cloud_scale(struct run *, struct cloud *, double *cell, double *noise);
/* Makes normals by the neighbours, on the side of the cloud's normals, else of the sensor, else on
 * any. Drops points whose neighbours lie on no plane, or whose side is not known. others: no point
 * takes part in its own plane, so that its noise does not turn its normal. -1 after fail(). */
int cloud_normals(struct run *, struct cloud *, bool others);
/*
 * The finite points of a table for a picture: sorted, with the table's normals or those of their
 * neighbours, on any side, 0 where there are none. -1 after fail(), also where all are at one
 * place; cloud_free() in either case.
 */
int cloud_of_table(struct run *, const struct frame *, struct cloud *);
/* The radius of discs, in spacings, that leave no hole between random points. */
#define CLOUD_DISC 1.5
/* The share of pairs of neighbours whose normals are more than a right angle apart. */
double cloud_disagreement(struct run *, const struct cloud *);
/* The share of places where a sheet's points, with normals or not, are too far apart for the cells:
 * no stray points. */
double cloud_sparse(struct run *, const struct cloud *);
/* The share of places where points that look to the same side lie in two sheets, less than 3 cells
 * apart, rather than in one with noise. */
double cloud_two_sheets(struct run *, const struct cloud *);
/* The share of cubes whose normal looks against most of its piece of the surface, as the neighbours
 * tell from one to the next: those that were turned to a sensor that saw another side. */
double cloud_turned(const struct cloud *);
void cloud_free(struct cloud *);
/* The points within `reach` cells of a brick's nodes, as the grid places bricks. */
void near_find(struct near *, const struct cloud *, const int64_t place[3], double reach);
void near_free(struct near *);
