/* What dither3 keeps of its options and of a picture's keys. */
#ifndef DITHER3_DITHER3_H
#define DITHER3_DITHER3_H

#include "diffuse.h"
#include "held.h"
#include "holo/bits.h"
#include "run/stage.h"

#define PIECE 512 /* pixels of a row that are dithered together; whole tiles */

struct priv {
	float price;			/* of a bit off the ordered pattern */
	struct dither_keys keys;
	struct frame_head out;
	bool to_circle;			/* R and G were rounded together, to the nearest angle */
	size_t channel[4];		/* sine, cosine, stair, texture; NO_CHANNEL: none is kept */
	float threshold[4][DITHER_TILE_PIXELS];
	struct bits_code bits;		/* of pictures that are marked */
	struct held held;		/* of the frame before, by the search */
	struct diffusion diffusion;	/* by the methods fs */
	unsigned char *mark;		/* of a frame, mark.h */
	bool judged;			/* the fringes of a frame were looked at */
	struct { long level; } png;	/* of the file */
};

/* What a device does, for the body's passes. */
int dither3_passes(struct run *, struct passes *);

#endif
