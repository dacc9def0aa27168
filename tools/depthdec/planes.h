/* The channels of a frame that hold its depth. */
#ifndef DEPTHDEC_PLANES_H
#define DEPTHDEC_PLANES_H

#include "depthcode/depthcode.h"
#include "run/stage.h"

struct planes {
	size_t luma, mask;		/* input channels; NO_CHANNEL */
	size_t sine, cosine, coarse;	/* of colour, likewise: of mwd; of fold */
};

/* For plan: by their names. textured: one of the channels is a texture. -1 after fail() that names
 * what is missing. */
int planes_find(struct planes *, struct run *, const struct depthcode *, const struct frame_head *,
    bool textured);

#endif
