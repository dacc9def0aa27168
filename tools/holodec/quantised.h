/*
 * How coarsely JPEG has rounded luma: it cuts pictures into blocks of 8 x 8 pixels and rounds each
 * frequency of a block to multiples of a step. Of the lowest frequency along rows, which fringes
 * have much of, the step can be read off the picture.
 */
#ifndef HOLODEC_QUANTISED_H
#define HOLODEC_QUANTISED_H

#include "growing.h"

/*
 * Finds growing->coarser: by how many levels of an orthonormal transform that step is greater than
 * quality 75's. At libjpeg's qualities of 50, 60, 75 and 85 it is 11, 9, 6 and 3, from 88 on it is
 * too fine to be seen. 0 where it is not, as in what other formats have coded or what was moved; at
 * most 6.
 * Overwrites regions->certainty.
 */
void quantised_find(struct run *, struct growing *);

#endif
