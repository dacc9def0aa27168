/* The texture that came with a frame: below the planes of depth, in a picture of double height
 * (image/texture_below.h), or in a channel of its own. */
#ifndef DEPTHDEC_TEXTURE_H
#define DEPTHDEC_TEXTURE_H

#include "depthcode/depthcode.h"
#include "image/texture_below.h"

struct texture {
	bool is, below;			/* there is one; it is below */
	size_t channel;			/* of the planes; NO_CHANNEL: there is none */
	float scale;			/* its value for one level */
	struct texture_below flow;
};

/* For init: may the name that the user gives (NULL: none) be a channel's? -1 after fail_usage(). */
int texture_check(const char *name);
/* For plan: is there a texture, by its keys, or below by the user's name (NULL: none)? Of one below
 * flow.picture is then the head of the planes, with the texture behind them. -1 after fail(). */
int texture_plan(struct texture *, const char *name, const struct frame_head *in);
/* For plan, once `code` is known and the depth's keys are off the output: its channels, its size,
 * and max_value. -1 after fail(). */
int texture_output(struct texture *, const char *name, const struct depthcode *code,
    const struct meta *in, struct frame_head *out);

#endif
