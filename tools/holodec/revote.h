/* Small regions beside jumps: their orders are asked again, now that those of the pixels around are
 * known. */
#ifndef HOLODEC_REVOTE_H
#define HOLODEC_REVOTE_H

#include "growing.h"

/*
 * Moves regions->order and growing->turns of small regions by whole orders. In a picture whose
 * colour has half the resolution, the stairs of a small region are mixed with those beyond its
 * jumps, and so are the medians that it voted by.
 */
void revote(struct growing *growing);

#endif
