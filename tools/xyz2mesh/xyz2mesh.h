/* What the files of xyz2mesh share: points with normals, in cubes, and the surface through them. */
#ifndef XYZ2MESH_H
#define XYZ2MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpu_level.h"
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
#define MOST_REACH 2.0		/* along the surface: a node two cells above it has a weight, too */
#define MEAN_SQUARE 10.0f	/* of the means at a vertex, which may lie farther from points */
#define MEAN_REACH 3.17

#define CLOUD_VALUES 3		/* r g b, or one of texture */
#define NEAR_LANES 16		/* that sums are made in, whatever a vector's width is */
#define NEAR_SUMS 10		/* w, w x y z, w xx xy xz yy yz zz */

/* Points and their normals; behind cloud_sort(), in the order of the cubes. */
struct cloud {
	size_t n;
	float *xyz[3], *normal[3];	/* normal[0] NULL: there are none yet */
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

/* For flat access: x, y, z of a node in a brick. */
static inline size_t
node_at(size_t x, size_t y, size_t z)
{
	return x << 4 | y << 2 | z;
}

struct xyz2mesh_rows {
	/* The signed distance of each node of a brick, in cells, positive where normals point to;
	 * returns the nodes below or above which a point's plane has them within the root of
	 * reach_square of the point. */
	uint64_t (*distances)(const struct near *, float reach_square, float f[BRICK_NODES]);
	/* Weighted sums, about this place, of the places of all points. */
	void (*moments)(const struct near *, const float at[3], double sums[NEAR_SUMS]);
	/* Weighted sums of the first n values, and of the weights, which it returns: of the points
	 * of the sheet that the place lies on. */
	double (*means)(const struct near *, const float at[3], size_t n, double *sums);
};
LEVELS_OF(xyz2mesh_rows)

/* ---- cloud.c ---- */

/* The distance of points in a square lattice as dense as these by the median; 0: they are all at
 * one place. -1 after fail(). */
int cloud_spacing(struct run *, const struct cloud *, double *spacing);
/* Sorts the points into cubes of BRICK cells; drops those too far away from all others to have a
 * place. -1 after fail(). */
int cloud_sort(struct run *, struct cloud *, double cell);
/* The points' standard deviation from planes through their neighbours, in cells, by the median. */
double cloud_noise(struct run *, const struct cloud *);
/* Makes normals by the neighbours, turned to `sensor`; drops points whose neighbours lie on no
 * plane. -1 after fail(). */
int cloud_normals(struct run *, struct cloud *, const double sensor[3]);
/* The share of pairs of neighbours whose normals are more than a right angle apart. */
double cloud_disagreement(struct run *, const struct cloud *);
void cloud_free(struct cloud *);
/* The points within `reach` cells of a brick's nodes, as the grid places bricks. */
void near_find(struct near *, const struct cloud *, const int64_t place[3], double reach);
void near_free(struct near *);

/* ---- surface.c ---- */

struct surface_options {
	double reach;		/* cells: farther than that from all points there is no surface */
	bool close;
	size_t values;
};

/*
 * The surface as a table of vertices with `head` (channels x y z nx ny nz and the values; it gets
 * their number), and triangles whose corners are columns of it, first those *between points and
 * then what fills holes; none at all: *vertices is NULL. *closed: it has no border. -1 after
 * fail().
 */
int surface_make(struct run *, const struct cloud *, const struct surface_options *,
    struct frame_head *head, struct frame **vertices, uint32_t (**triangle)[3],
    size_t *triangles, size_t *between, bool *closed);

/* ---- holes.c: vertices are a table of floats, x y z nx ny nz first ---- */

#define PINHOLE_EDGES 8		/* borders of so many and fewer are no holes, but gaps by chance */

/* Along a triangle's normal, as long as twice its area. */
void mesh_triangle_normal(const struct frame *vertices, const uint32_t triangle[3],
    double normal[3]);
/* Leaves out pieces of few vertices, as stray points make them; if all are, all triangles. */
int mesh_drop_crumbs(struct frame **vertices, uint32_t (*triangle)[3], size_t *triangles);
/* Fills each border of up to most_edges by a membrane of triangles about as large as a cell;
 * *closed: none is left. */
int mesh_fill_holes(struct frame **vertices, uint32_t (**triangle)[3], size_t *triangles,
    size_t most_edges, double cell, bool *closed);

#endif
