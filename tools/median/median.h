/* What median.c plans for a frame, and the loop of median_rows.c. */
#pragma once

#include "run/stage.h"

enum median_shape { SHAPE_AUTO, SHAPE_ROW, SHAPE_COLUMN, SHAPE_BOX };

struct median {
	enum median_shape shape;
	size_t phase, out;		/* the channel that is filtered, of input and output */
};

struct median_rows {
	/* struct body's `rows`. */
	body_rows *filter;
};
LEVELS_OF(median_rows)
