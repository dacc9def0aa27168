/* What the files of xyz2mesh share: the surface through them. */
#pragma once

#include <math.h>

#include "base/cpu_level.h"
#include "points/cloud.h"
#include "run/run.h"

#define MOST_REACH 2.0		/* along the surface: a node two cells above it has a weight, too */
#define MEAN_SQUARE 10.0f	/* of the means at a vertex, which may lie farther from points */
#define MEAN_REACH 3.17

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
	/* Weighted sums of the first n values, and of the weights, which it returns: of the points
	 * of the sheet that the place lies on. */
	double (*means)(const struct near *, const float at[3], size_t n, double *sums);
};
LEVELS_OF(xyz2mesh_rows)

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
