/* Do holes stay apart from values where samples become integers? */
#ifndef FRAMECAT_HOLES_H
#define FRAMECAT_HOLES_H

#include "convert.h"

/*
 * Warns, without --fill, of the first channel of a float frame in which NaN and many values become
 * the same sample, 0. Light, where black is black, is left out. True: it did.
 */
bool holes_warn(const struct frame *, const struct encoding *);

#endif
