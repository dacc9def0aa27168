/* Points of a frame and their distances from a mesh. */
#ifndef FRAMECMP_MESH_DISTANCE_H
#define FRAMECMP_MESH_DISTANCE_H

#include "frame/frame.h"
#include "mesh/nearest.h"
#include "points/pose.h"
#include "points/rigid_step.h"
#include "run/run.h"

struct mesh_points {
	size_t n;
	double (*x)[3];		/* as the frame has them */
	size_t *pixel;		/* y w + x of each */
	double low[3], high[3];	/* their box */
	char unit[16];		/* key length_unit; empty: not known */
	double camera[4];	/* x y z 1; or a direction towards it, far away, and 0 */
};

/* The finite points of a frame of floats, with channels x y z, or z over known spacings; n may be
 * 0. Points x y z are seen from their origin, those over pixels, and others whose z grows towards
 * the camera, along z. -1 after fail(); mesh_points_free() in either case. */
int mesh_points_take(const struct frame *, struct mesh_points *);
void mesh_points_free(struct mesh_points *);

struct mesh_distance {
	float d;		/* signed; NaN: beyond the border, or farther than `within` */
	bool border, far;
};

/* Of all points, after the motion. */
void mesh_distances(struct run *, const struct mesh_points *, const struct nearest *,
    const struct pose *, double within, struct mesh_distance *out);

struct mesh_fit {
	struct pose pose;	/* of the points, onto the mesh */
	size_t steps, pairs, used;
	double rms, cut;	/* of the pairs in use; 3 sigma of the residuals */
};

/*
 * Iterated closest points, point to plane, from where the points are: first on 5000 of them, then
 * on all, until a step turns by less than 1e-6 rad and shifts by less than 1e-6 of `size`, the
 * mesh's. -1 after fail(): fewer than 1000 pairs, a motion that the surface leaves free, no rest
 * after 100 steps.
 */
int mesh_fit_points(struct run *, const struct mesh_points *, const struct nearest *, double within,
    double size, struct mesh_fit *);

#endif
