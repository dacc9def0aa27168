/* Depths outside of the range, which have no level; a range that is far too wide; and numbers that
 * stand for no depth. */
#ifndef DEPTHENC_OUTSIDE_H
#define DEPTHENC_OUTSIDE_H

#include "depthcode/depthcode.px.h"
#include "image/depth_use.h"
#include "image/hole_value.h"
#include "run/stage.h"

struct outside {
	size_t frames, depths;		/* with some outside; of all of them */
	struct depth_use use;
	struct hole_value hole;
};

/* Counts those of a frame, and prints a line for the first frame that has some. One more line where
 * depths of the first frame seem to be holes. */
void outside_count(struct run *, struct outside *, const struct depthcode_code *,
    const struct frame *, size_t channel);
/* At the end: a line with all of them, where there is more to say than the first did, and one where
 * depths use a small share of the range. step: of depth_use_conclude(). */
void outside_conclude(const struct outside *, double step);

#endif
