/* What a line finder keeps from image to image: for line.c, and for steger, which finds candidates
 * on a device. */
#ifndef LINE_FINDER_H
#define LINE_FINDER_H

#include "feature/line.h"

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

/* Room for n candidates in a list, whose own stay. -1 after fail(). */
int line_candidates_room(struct line_candidates *, size_t n);
/* The points of an image from its candidates in `all`, which are in the order of rows and columns.
 * As line_find(). */
int line_find_listed(struct line_finder *, const struct line_image *, struct line_points *);

#endif
