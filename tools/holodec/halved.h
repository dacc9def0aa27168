/*
 * Fringes in colour planes of half the resolution, as video and JPEG of 4:2:2 and 4:2:0 leave them
 * to the layout yuv: each of their samples is the mean of a block of 2 or 2 x 2 pixels, and at the
 * boundary some of these are background, which is black and turns the angle of the mean. Luma is
 * sharp and says which; without these the mean is that of the surface alone, and a straight line
 * through the phases of the blocks around gives each pixel its own.
 */
#ifndef HOLODEC_HALVED_H
#define HOLODEC_HALVED_H

#include "tile.h"

/*
 * *out: the picture with the boundary's fringes mended and its background black, the caller's to
 * free; NULL where nothing is to be mended, since it is not of 8 bits, or its colour has full
 * resolution. sine, cosine, stair: its planes. -1 after fail().
 */
int halved_mend(struct run *, const struct reading *, const struct frame *in, struct frame **out);

#endif
