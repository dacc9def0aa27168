/* What normals.comp reads, in C and in GLSL. */
#ifndef NORMALS_BLOCK_H
#define NORMALS_BLOCK_H

#include "base/px.h"

struct normals_block {
	uint x, y, z;			/* channels; of a depth map all the same */
	uint depth;			/* 1: a depth map */
	uint made;			/* the first of nx ny nz */
	float sign, per_column, per_row;
};

#endif
