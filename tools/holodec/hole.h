/* Holes of one to four pixels in a surface, which a lossy format fills in part: luma shows them. */
#ifndef HOLODEC_HOLE_H
#define HOLODEC_HOLE_H

#include "growing.h"

/* After growing, with regions->certainty: sets that of pixels that look like a filled hole to 0. */
void hole_find(struct run *, struct growing *);

#endif
