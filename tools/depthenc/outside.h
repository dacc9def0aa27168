/* Depths outside of the range, which have no level. */
#ifndef DEPTHENC_OUTSIDE_H
#define DEPTHENC_OUTSIDE_H

#include "depthcode/depthcode.px.h"
#include "run/stage.h"

struct outside {
	size_t frames, depths;		/* with some outside; of all of them */
};

/* Counts those of a frame, and prints a line for the first frame that has some. */
void outside_count(struct run *, struct outside *, const struct depthcode_code *,
    const struct frame *, size_t channel);
/* At the end: a line with all of them, where there is more to say than the first did. */
void outside_conclude(const struct outside *);

#endif
