/*
 * Normals of a triangle mesh by which a point's side can be told: of faces, edges and vertices
 * (Baerentzen and Aanaes 2005: sums over the faces, at a vertex weighted by their angles). Points
 * of equal coordinates are one vertex, as the formats without shared vertices need it.
 */
#ifndef SURFACE_NORMALS_H
#define SURFACE_NORMALS_H

#include <stdbool.h>

#include "mesh/triangles.h"

/* What a triangle's corners, edges (k: from corner k to the next) and face have; unit vectors. */
struct surface_triangle {
	float face[3], edge[3][3], vertex[3][3];
	bool edge_border[3], vertex_border[3];	/* an edge of one triangle only; a vertex of such */
};

struct surface_normals {
	struct surface_triangle *triangle;	/* of each; a face of 0 0 0: it has no area */
	size_t empty;		/* triangles without area, which take no part */
	size_t edges, border;	/* all; those of one triangle only */
	size_t shared;		/* those of three and more */
	size_t against;		/* those whose two triangles face to opposite sides */
};

/* 0 or -1 after fail(). */
int surface_normals_find(const struct triangles *, struct surface_normals *);
void surface_normals_free(struct surface_normals *);

#endif
