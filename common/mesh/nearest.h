/* The nearest point of a triangle mesh, and its side. */
#pragma once

#include "mesh/mesh.h"

struct nearest;

/*
 * The nearest point of a triangle mesh, exactly: a tree of boxes over the triangles, searched
 * nearest box first. Queries change nothing, so that threads share one tree.
 */

#define NEAREST_NONE ((size_t)-1)

struct nearest_point {
	size_t triangle;	/* its number in the mesh; NEAREST_NONE: nothing is within reach */
	size_t place;		/* where the search for a point nearby may begin */
	double point[3];
	double normal[3];	/* unit: of the face, edge or vertex where the point lies */
	double face[3];		/* unit normal of the triangle */
	double distance;	/* positive on the side that the normal points to */
	bool border;		/* it lies on an edge that belongs to one triangle only */
};

struct nearest_counts {
	size_t triangles, empty;	/* empty: without area; they take no part */
	size_t edges, border;		/* border: of one triangle only; a closed mesh has none */
	size_t against;			/* whose two triangles face to opposite sides */
};

/* path begins messages. 0, or -1 after fail(): no triangle, a coordinate that is not finite. */
int nearest_new(const char *path, const struct triangles *, struct nearest **);
void nearest_free(struct nearest *);
void nearest_count(const struct nearest *, struct nearest_counts *);
/* The nearest point of the mesh within a distance (INFINITY: any); of equally near ones that of the
 * triangle with the lowest number. from: the place that was found for a point nearby, which makes
 * the search shorter and changes nothing else, or NEAREST_NONE. */
void nearest_find(const struct nearest *, const double x[3], double within, size_t from,
    struct nearest_point *);
/* The corners of the triangle at a place < nearest_counts.triangles: neighbouring places lie near
 * each other on the mesh. */
const double (*nearest_corners(const struct nearest *, size_t place))[3];
/* Does the mesh hide the point `from` of the triangle at `place` from the point `to`: does another
 * triangle cross the line between them, farther than `clear` from `from`? */
bool nearest_hides(const struct nearest *, size_t place, const double from[3], const double to[3],
    double clear);
