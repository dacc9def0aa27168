/* What normals.c plans for a frame, and the loop of normals_rows.c. */
#pragma once

#include "run/stage.h"

struct normals {
	size_t channel[3];		/* x y z; of a depth map all the same */
	size_t first;			/* of nx ny nz in the output */
	bool depth;
	float sign;			/* of the sum of products */
	float per_column, per_row;	/* depth map: 1 / distance of pixels */
	bool warned;
};

struct normals_rows {
	/* struct body's `rows`. */
	body_rows *compute;
};
LEVELS_OF(normals_rows)
