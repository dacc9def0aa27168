/* What holoenc keeps of its options and of a frame. */
#ifndef HOLOENC_HOLOENC_H
#define HOLOENC_HOLOENC_H

#include "holo/holo.h"
#include "run/stage.h"

struct priv {
	struct holo holo;
	struct holo_code code;
	size_t depth;        /* input channel */
	size_t x, y;         /* of an xyz frame; NO_CHANNEL */
	size_t texture;      /* input channel that becomes alpha; NO_CHANNEL */
	float texture_scale; /* grey levels per its unit */
	bool range_wanted;   /* the depth range is each frame's own */
	bool warned;         /* of depths outside a range that was given */
};

/* What a device does, for the body's passes. */
int holoenc_passes(struct run *, struct passes *);

#endif
