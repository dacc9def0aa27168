/*
 * What JPEG makes of the stairs beside a jump: luma has the full resolution, but the colour planes
 * may have half of it (4:2:2, 4:2:0), so that the level of blue that a pixel reads is that of a
 * mean over blocks of pixels, some of them of another surface. From the turns of all these the
 * level that a right decoding would read is made again.
 */
#ifndef HOLODEC_MIXING_H
#define HOLODEC_MIXING_H

#include "growing.h"

/* Finds growing->mixing: over which pixels colour is averaged. */
void mixing_find(struct growing *);
/* The turns that a pixel's own stair reads, which have no whole order. */
float mixing_read(const struct growing *, const struct pixel *);
/* By how many orders the pixel's stair is read above what its turns and those around would make of
 * it; growing->turns must hold them. */
float mixing_offset(const struct growing *, const struct pixel *);

#endif
