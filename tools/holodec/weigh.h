/*
 * Pixels whose neighbours do not agree, or are too few: the order that these and the pixel's own
 * stair make most likely.
 */
#ifndef HOLODEC_WEIGH_H
#define HOLODEC_WEIGH_H

#include "growing.h"

/* How far stairs of pixels that neighbours have agreed on are off: growing->noise, in orders. */
void weigh_noise(struct growing *);
/* The most likely turns of a pixel that has trusted neighbours, and their margin. */
void weigh(const struct growing *, struct pixel *);

#endif
