/* The frame that unwrapq gives. */
#ifndef UNWRAPQ_UNWRAPPED_H
#define UNWRAPQ_UNWRAPPED_H

#include "unwrap/components.h"
#include "run/passthrough.h"

/* Fills channels 0 and 1 of a frame, absphase and label, hands on those that pass, and sets the
 * keys components and cuts. rad: of a unit of the phase. -1 after fail(). */
int unwrapped_write(struct run *, const struct components *, const struct frame *in, double rad,
    const struct passthrough *, struct frame *out);

#endif
