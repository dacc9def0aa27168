/* What depthenc keeps of its options and of frames, and the loops of depthenc_rows.c. */
#pragma once

#include "holo/depthcode.h"
#include "image/depth_range.h"
#include "image/texture.h"
#include "run/stage.h"

/*
 * Holes filled smoothly, so that a video codec has no edge to code: push-pull [Gortler et al. 1996,
 * The Lumigraph, sec. 3.4.2]. Each coarser level has the means of the pixels that have a value, and
 * each pixel without one takes it from the next coarser level between its four nearest pixels.
 */
#define FILL_LEVELS 40

struct fill {
	size_t w[FILL_LEVELS], h[FILL_LEVELS];	/* level 0 is the frame itself */
	float *value;			/* of all other levels */
	size_t begin[FILL_LEVELS];	/* of each of them */
	size_t floats;			/* there is memory for */
};

static inline size_t
fill_half(size_t n)
{
	return (n + 1) / 2;
}

#define FILL_BLOCKS 64		/* of a level's rows, for the threads */

/* The work of one level. */
struct filling {
	const struct fill *fill;
	const struct depthcode_code *code;
	const struct frame *frame;
	size_t channel, level;
};

/* Depths outside of the range, which have no level; a range that is far too wide; and numbers that
 * stand for no depth. */
struct outside {
	size_t frames, depths;		/* with some outside; of all of them */
	struct depth_use use;
	struct hole_value hole;
};

#define OUTSIDE_BLOCKS 64	/* of rows, for the threads */

struct outside_counting {
	const struct depthcode_code *code;
	const struct frame *frame;
	size_t channel;
	size_t depths[OUTSIDE_BLOCKS], outside[OUTSIDE_BLOCKS];
	float low[OUTSIDE_BLOCKS], high[OUTSIDE_BLOCKS];
};

/* A texture below the planes of depth (image/texture.h), or in a channel of its own. */
struct texture {
	struct texture_source from;	/* channels of the input */
	float levels_per_unit, most;	/* most: the largest level */
	struct texture_below below;
	struct texture_cut cut;
};

struct priv {
	struct depthcode depthcode;
	struct depthcode_code code;
	size_t depth;		/* input channel */
	size_t mask;		/* output channel, with a mask */
	bool fills;		/* holes are filled: in all planes, or those of colour */
	struct depth_range_of_file range_of_file;
	struct fill fill;
	struct outside outside;
	struct texture texture;
	bool dropped;		/* a line about colours was printed */
};

struct depthenc_rows {
	/* A body's `rows`. */
	body_rows *encode;
	/* For run_for(), with a struct outside_counting, OUTSIDE_BLOCKS times. */
	void (*count_outside)(void *counting, size_t block);
	/* For run_for(), with a struct filling, FILL_BLOCKS times: a level from the finer one, then
	 * its holes from the coarser one. */
	void (*push_block)(void *filling, size_t block);
	void (*pull_block)(void *filling, size_t block);
};
LEVELS_OF(depthenc_rows)
