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

/* In surface: of the surface by its block's fringes, but as dark as background may be. */
#define HALVED_DOUBTFUL 3

/* The picture with the boundary's fringes mended and its background black, and of each of its
 * pixels 0 for the background, HALVED_DOUBTFUL, or another number for the surface. */
struct halved {
	struct frame *picture;
	unsigned char *surface;
};

/*
 * *out: as above; NULLs where nothing is to be mended, since the picture is not of 8 bits, or its
 * colour has full resolution. in: its planes sine, cosine, stair. -1 after fail().
 */
int halved_mend(struct run *, const struct reading *, const struct frame *in, struct halved *out);
void halved_free(struct halved *);

#endif
