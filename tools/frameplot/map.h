/* --map: one channel, or its difference from the first frame's, as an image with statistics. */
#ifndef MAP_H
#define MAP_H

#include "frameplot.h"

/* Takes a frame, which it owns, and draws it unless it is the first of a difference. -1 after
 * fail(). */
int map_take(struct run *run, struct frame *);
/* No frame, or none that was drawn, is an error. */
int map_end(struct run *run);

#endif
