/* From columns, rows and depths to points. */
#ifndef HOLODEC_PLACE_H
#define HOLODEC_PLACE_H

#include "holo/holo.h"

struct place {
	bool in_mesh;	  /* in the coordinates of the mesh that mesh2depth(1) drew */
	double row[3][4]; /* x, y, z of (column, row, depth, 1) */
};

/* An option of two numbers, which wins over what pair has. -1 after fail_usage(). */
int place_take_pair(const struct numbers *option, const char *name, double pair[2]);
/*
 * Points in the coordinates that the frame's rows and columns have; or, where mesh2depth(1) left
 * the view of a mesh in the metadata, in those of the mesh. -1 after fail().
 */
int place_plan(struct place *out, const struct holo *holo, const struct meta *meta);
/* Depths to coordinates: z holds the depth on entry. */
void place_points(const struct place *to, size_t row, float *restrict x, float *restrict y,
    float *restrict z, size_t w);

#endif
