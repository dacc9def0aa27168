/*
 * How coarsely JPEG has rounded luma: it cuts pictures into blocks of 8 x 8 pixels and rounds each
 * frequency of a block to multiples of a step. Of the lowest frequency along rows, which fringes
 * have much of, the step can be read off the picture.
 */
#ifndef HOLODEC_QUANTISED_H
#define HOLODEC_QUANTISED_H

#include "growing.h"

/* That step, in levels of an orthonormal transform: at libjpeg's qualities of 50, 60, 75 and 85 it is
 * 11, 9, 6 and 3. 0 where it is finer or does not show, as in what other formats have coded or moved.
 * Overwrites regions->certainty. */
float quantised_find(struct run *, struct growing *);

#endif
