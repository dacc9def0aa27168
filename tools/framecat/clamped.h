/* Do values survive --as uchar and ushort? */
#ifndef FRAMECAT_CLAMPED_H
#define FRAMECAT_CLAMPED_H

#include "convert.h"

/* Warns of the first channel of a float frame of which many samples on a coarse grid lie outside
 * what the integers stand for, or that is nothing but fractions. True: it did. */
bool clamped_warn(const struct frame *, const struct encoding *);

#endif
