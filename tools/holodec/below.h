/* A picture with its texture below it, taken apart (image/texture_below.h). */
#ifndef HOLODEC_BELOW_H
#define HOLODEC_BELOW_H

#include "holodec.h"

/* For plan: does the texture lie below? Then priv->below.picture is the head of the picture alone,
 * with the texture as alpha. -1 after fail(). */
int below_plan(struct priv *, const struct holo_options *, const struct frame_head *in);
/* For plan, at its end: the head of what below_frame() gives. -1 after fail(). */
int below_output(struct priv *, struct frame_head *out);
/* What a flow does with such a frame. */
int below_frame(struct run *, struct frame *in);

#endif
