/*
 * Pixels beside the background that are fainter than a surface there would be: what a lossy format
 * lets run out of the surface. Its neighbours, carried on to the pixel, say how bright it would be.
 */
#ifndef HOLODEC_FAINT_H
#define HOLODEC_FAINT_H

#include "growing.h"

/* After growing and hole_find(), with regions->certainty: sets that of such pixels to 0. */
void faint_find(struct run *, struct growing *);

#endif
