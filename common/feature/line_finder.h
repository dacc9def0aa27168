/* What a line finder keeps from image to image; for the files of line*.c alone. */
#ifndef LINE_FINDER_H
#define LINE_FINDER_H

#include "feature/line_asymmetry.h"
#include "feature/line_level.h"
#include "feature/line_link.h"

struct line_finder {
	struct line_filter filter;
	const struct line_level *level;
	struct line_asymmetry asymmetry;
	/* of the image at hand */
	size_t w, h, tiles_x, tiles_y;
	float *least, *largest;		/* of each tile */
	bool *active;
	struct line_candidates *found;	/* of each row of tiles */
	struct line_candidates all;
	float *work;			/* `threads` pieces of work_size */
	size_t work_size;
	int threads;
	struct line_map map;
};

#endif
