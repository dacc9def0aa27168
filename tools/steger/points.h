/* Points of lines as frames. */
#ifndef STEGER_POINTS_H
#define STEGER_POINTS_H

#include "feature/line.h"
#include "run/stage.h"

/* Channels of the output. */
int points_head(struct frame_head *);
/* A table of all points. -1 after fail(). */
int points_table(const struct line_points *, const struct frame_head *, struct frame **out);
/* The strongest point of each row, in an image of one column, or of each column, in one of one row;
 * NaN where there is none. Of equal ones the first. -1 after fail(). */
int points_per_line(const struct line_points *, bool columns, const struct line_image *,
    const struct frame_head *, struct frame **out);

#endif
