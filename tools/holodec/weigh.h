/*
 * Pixels whose neighbours do not agree, or are too few: the order that these and the pixel's own
 * stair make most likely, and how certain that is.
 */
#ifndef HOLODEC_WEIGH_H
#define HOLODEC_WEIGH_H

#include "growing.h"

/* How far stairs of pixels that neighbours have agreed on are off: growing->noise, in orders. */
void weigh_noise(struct growing *);
/* The most likely turns of a pixel that has trusted neighbours, and their margin. */
void weigh(const struct growing *, struct pixel *);
/* How far the means of their stairs are off: growing->spread. Uses regions->certainty as memory,
 * as the next one does. */
void weigh_spread(struct growing *);
/* 0 to 1, of the order of a pixel that was taken by its margin. */
float weigh_certainty(const struct growing *, const struct pixel *);

#endif
