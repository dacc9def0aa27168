/* One table of the points of many frames. */
#ifndef LASER2XYZ_JOINED_H
#define LASER2XYZ_JOINED_H

#include <stdbool.h>

#include "frame/table_rows.h"

struct joined {
	bool begun;
	struct frame_head head;		/* of the table: the first frame's channels and `frame` */
	struct table_rows rows;
};

/* Adds those points of a frame (channels ... x y z) that have x y z. -1 after fail(). */
int joined_add(struct joined *, const struct frame *, double number);
/* The table; nothing is left. -1 after fail(). */
int joined_take(struct joined *, struct frame **out);
void joined_free(struct joined *);

#endif
