/* A texture below the planes of depth (image/texture_below.h), or in a channel of its own. */
#ifndef DEPTHENC_TEXTURE_H
#define DEPTHENC_TEXTURE_H

#include "depthcode/depthcode.h"
#include "image/texture_below.h"
#include "image/texture_cut.h"

struct texture_options {
	const char *channel;		/* NULL: none */
	double gain;
	int place;			/* enum depthcode_texture_place */
};

struct texture {
	size_t channel;			/* of the input; NO_CHANNEL */
	float levels_per_unit, most;	/* most: the largest level */
	struct texture_below below;
	struct texture_cut cut;
};

/* For init: options that need each other. -1 after fail_usage(). */
int texture_check(const struct texture_options *);
/* For plan, once keys and channels of the depth are set: the keys of the texture, and twice the
 * rows or one more channel. texture->channel is set. -1 after fail(). */
int texture_plan(struct texture *, const struct texture_options *, const struct depthcode *,
    const struct meta *in, struct frame_head *out);
/* The texture's levels of row y, into the last channel. */
void texture_row(const struct texture *, const struct frame *in, struct frame *out, size_t y);
/* For survey: counts samples that are cut, where there is a texture. */
void texture_count(struct run *, struct texture *, const struct frame *in);
/* At the end: says how many, and frees. */
void texture_conclude(struct texture *);

#endif
