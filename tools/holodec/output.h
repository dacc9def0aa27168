/* The head of what holodec gives: channels and keys. */
#ifndef HOLODEC_OUTPUT_H
#define HOLODEC_OUTPUT_H

#include "holodec.h"

/* Sets what differs from the picture's head. -1 after fail(). */
int output_plan(struct priv *, const struct frame_head *in, struct frame_head *out);

#endif
