/* Measured points against a nominal mesh: framecmp --to. */
#ifndef FRAMECMP_TO_MESH_H
#define FRAMECMP_TO_MESH_H

#include "compare.h"
#include "run/run.h"

struct to_mesh_options {
	const char *mesh;	/* its file; NULL: two inputs are compared */
	bool icp;
	double within;		/* points farther off do not count; NaN: all do */
	double coverage;	/* least share of the surface that faces the camera; NaN: any */
	const char *deviation;	/* a file for the frames with the channel deviation; NULL: none */
};

/*
 * Compares the frames of one operand with the mesh and prints what is found, with histograms if
 * table is true. run->status is 1 where a limit is not kept. -1 after fail().
 */
int to_mesh_compare(struct run *, const struct to_mesh_options *, const struct compare_limits *,
    bool table, FILE *out);

#endif
