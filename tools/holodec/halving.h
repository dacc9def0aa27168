/* What halved.c and unlit.c know of a picture whose colour has half the resolution. */
#ifndef HOLODEC_HALVING_H
#define HOLODEC_HALVING_H

#include "halved.h"

#define HALVING_STAIRS_LEAST 16	/* levels: luma of stairs that are clearly no background */
#define HALVING_ROWS 16		/* blocks' rows that a thread takes at a time */
/* Of a pixel of which luma does not say whether it is of the surface; and of one that is by its
 * block's fringes, but as dark as background may be. */
#define UNTOLD 2
#define DOUBTFUL HALVED_DOUBTFUL

struct block {
	float rest;		/* mean phase of the surface, in turns */
	float x, y;		/* centre of its pixels */
	float level[2];		/* sine and cosine as stored; unlit.c */
	unsigned char n, of;	/* pixels of the surface; all of them */
};

struct halving {
	const struct reading *reading;
	const struct frame *in;
	struct frame *out;
	size_t w, h;		/* blocks */
	size_t wide, high;	/* pixels of a block */
	unsigned char *near, *surface;	/* of each pixel: 0, 1, UNTOLD, DOUBTFUL */
	unsigned char *mixed;	/* of each block: has one up to two away background? */
	unsigned char *untold;	/* of each block: has it UNTOLD pixels? Two away, too */
	struct block *block;
};

static inline int
halving_sample(const struct frame *frame, size_t c, size_t x, size_t y)
{
	return ((const unsigned char *)frame_row(frame, c, y))[x];
}

/* R + G of a pixel. */
static inline int
halving_both(const struct halving *halving, size_t x, size_t y)
{
	const size_t *channel = halving->reading->channel;

	return halving_sample(halving->in, channel[0], x, y) +
	    halving_sample(halving->in, channel[1], x, y);
}

/* Marks all within `reach` of a mark; memory: as many bytes. */
void halving_widen(unsigned char *mark, unsigned char *memory, size_t w, size_t h, size_t reach);
/* The colour plane's sample of the block whose first pixel is (x, y). */
float halving_block_sample(const struct halving *, size_t c, size_t x, size_t y);
/* The greatest luma of the 3 x 3 pixels around. */
int halving_brightest(const struct halving *, size_t x, size_t y);

#endif
