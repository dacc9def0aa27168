/* What depthdec keeps of its options and of a frame's keys, and the loops of depthdec_rows.c. */
#pragma once

#include <math.h>

#include "holo/depthcode.h"
#include "image/texture.h"
#include "run/stage.h"

/* The channels of a frame that hold its depth. */
struct planes {
	size_t luma, mask;		/* input channels; NO_CHANNEL */
	size_t sine, cosine, coarse;	/* of colour, likewise: of mwd; of fold */
};

/* The texture that came with a frame: below the planes of depth, in a picture of double height
 * (image/texture.h), or in a channel of its own. */
struct texture {
	bool is, below;			/* there is one; it is below */
	size_t channel;			/* of the planes; NO_CHANNEL: there is none */
	enum texture_matrix matrix;	/* TEXTURE_GREY: one channel, else three */
	float scale, most;		/* its value for one level; the largest level */
	struct texture_below flow;
};

/* Levels within the gap: what lossy coding leaves of a step from no depth to a depth. */
struct gap {
	size_t frames, moved;		/* so far; those with too many */
	size_t last;			/* run_inputs() of the last of these, + 1 */
};

#define GAP_BLOCKS 64		/* of rows, for the threads */

struct gap_counting {
	const struct frame *frame;
	size_t luma;
	float from, to, least;		/* levels: of the gap's middle half, of a depth */
	size_t inside[GAP_BLOCKS], depths[GAP_BLOCKS];
};

#define LEVELS 4096

struct priv {
	struct depthcode depthcode;
	struct depthcode_code code;
	struct planes planes;
	bool compared;				/* options with keys */
	bool waves_judged;			/* coarse depth with fine one */
	struct gap gap;
	struct texture texture;
};

struct depthdec_rows {
	/* A body's `rows`. */
	body_rows *depths;
	/* For run_for(), with a struct gap_counting, GAP_BLOCKS times. */
	void (*count_gap)(void *counting, size_t block);
	/* The channel of a bad sample, *bad, or NO_CHANNEL; seen: levels of luma. This one and the
	 * next ones look at every step-th row and column. */
	size_t (*find_bad)(const struct frame *, const struct planes *, size_t texture,
	    size_t step, float most, bool seen[LEVELS], float *bad);
	/* Of *n depths: how many have sine and cosine within this radius. */
	size_t (*count_inside)(const struct frame *, const struct planes *,
	    const struct depthcode_code *, double radius, size_t step, size_t *n);
	/* Of *n depths: in how many coarse and fine depth disagree. */
	size_t (*count_apart)(const struct frame *, const struct planes *,
	    const struct depthcode_code *, size_t step, size_t *n);
};
LEVELS_OF(depthdec_rows)
