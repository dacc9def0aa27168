/* How much of a mesh's surface that faces the camera has been measured. */
#ifndef FRAMECMP_COVERAGE_H
#define FRAMECMP_COVERAGE_H

#include "mesh_distance.h"

/* Which side of its triangles a mesh shows to the outside. */
enum coverage_side {
	SIDE_FRONT,	/* a closed mesh whose faces look outwards */
	SIDE_BACK,	/* and inwards */
	SIDE_SEEN,	/* an open mesh: the side of which the camera sees more */
	SIDE_BOTH	/* triangles face to opposite sides: either */
};

/* Places on the mesh that a camera sees: each stands for the same area. */
struct coverage_surface {
	const struct nearest *mesh;
	enum coverage_side side;
	double size;		/* the diagonal of the mesh's box */
	double camera[4];	/* of `place`: x y z 1; or a direction towards it and 0 */
	double (*place)[3];
	size_t n;
};

struct coverage {
	double share;		/* of the area that faces the camera; NaN: none does */
	double within;		/* a place counts as measured with a point nearer than that */
	double camera[4];	/* as the mesh sees it */
};

/*
 * The share of the surface that has a point within `within`; NaN: within twice the points' spacing.
 * pose takes the points, and their camera, to the mesh. Points without a distance (d is NaN) do not
 * count. `surface` keeps its places where the camera is the same as last time; the caller zeroes
 * its last three fields before the first call, and frees `place`. -1 after fail().
 */
int coverage_find(struct run *, const struct mesh_points *, const struct mesh_distance *,
    const struct pose *, double within, struct coverage_surface *, struct coverage *);

#endif
