/* The texture of a Holoimage: in alpha, or below the picture. */
#ifndef HOLOENC_TEXTURE_H
#define HOLOENC_TEXTURE_H

#include "holoenc.h"

struct texture_options {
	const char *channel;		/* NULL: none */
	int place;			/* enum texture_place */
	double gain;
};

/* For init: options that need each other. -1 after fail_usage(). */
int texture_check(const struct texture_options *);
/* For plan, once all other keys are set: scale, keys, channels, and the size of the output, whose
 * head is kept for texture_frame(). -1 after fail(). */
int texture_plan(struct priv *, const struct texture_options *, const struct frame_head *in,
    struct frame_head *out);
/* What a flow does with a frame whose texture goes below. */
int texture_frame(struct run *, struct frame *in);

#endif
