/*
 * Grown pixels settle: as refine.h for the whole picture, turns move to what bends least within
 * the bounds that the bits set; what they have grown from stays.
 */
#ifndef UNDITHER3_SETTLE_H
#define UNDITHER3_SETTLE_H

#include "growing.h"

/* The pixels that were taken; the planes' turns. */
void settle(struct run *run, struct growing *growing);

#endif
