/* A frame with its texture below the planes of depth, taken apart (image/texture_below.h). */
#ifndef DEPTHDEC_BELOW_H
#define DEPTHDEC_BELOW_H

#include "depthcode/depthcode.h"
#include "image/texture_below.h"

struct below {
	bool is;			/* there is a texture below */
	float scale;			/* its value for one level */
	struct texture_below flow;
};

/* For plan: is there a texture, by its key, or by the name that the user gives it (NULL: none)?
 * Then flow.picture is the head of the planes, with the texture behind them. -1 after fail(). */
int below_plan(struct below *, const char *name, const struct frame_head *in);
/* For plan, once `code` is known and the depth's keys are off the output: its channels, its size,
 * and max_value. -1 after fail(). */
int below_output(struct below *, const char *name, const struct depthcode *code,
    const struct meta *in, struct frame_head *out);

#endif
