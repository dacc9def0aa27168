/* Points of pixels become lines. */
#ifndef LINE_LINK_H
#define LINE_LINK_H

#include "feature/line_level.h"

/* Which candidate a pixel holds, and memory for linking. All zero at first. */
struct line_map {
	size_t w, h;
	uint32_t *at;		/* of w * h pixels: the candidate's number + 1; 0: none */
	uint32_t *order, *chain;	/* room for `room` candidates each */
	unsigned char *used;
	size_t room;
	struct line_point *point;
	size_t point_room;
};

/*
 * Steger 1998, section 3.3: from the strongest candidate on that is in no line, to both sides, to
 * that of three neighbours in the line's direction with the least sum of distance in px and change
 * of direction in rad. Candidates are ordered by row and column; of two neighbours that are the same
 * point one is dropped. A line needs a candidate of response `high` and min_length points.
 */
int line_link(struct line_map *, size_t w, size_t h, const struct line_candidates *, double high,
    size_t min_length, struct line_points *);
void line_map_free(struct line_map *);

#endif
