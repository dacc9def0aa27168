/*
 * The rows of a table (frame(5)) as a reader meets them, until their number is known. Memory grows
 * with what was read.
 */
#ifndef TABLE_ROWS_H
#define TABLE_ROWS_H

#include "frame/frame.h"

struct table_rows {
	size_t c;		/* values of a row; set by the user, all else 0 */
	size_t n, room;
	float *v;		/* row by row */
};

/* Room for one more row, which the caller fills; NULL after fail(). */
float *table_rows_add(struct table_rows *);
/* The table with that head, whose size and `points` it sets. 0 or -1 after fail(). */
int table_rows_frame(const struct table_rows *, struct frame_head *, struct frame **out);
void table_rows_free(struct table_rows *);

#endif
