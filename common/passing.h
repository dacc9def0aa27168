/* Channels that a map hands on unchanged behind those it makes. */
#ifndef PASSING_H
#define PASSING_H

#include "frame.h"

struct passing {
	size_t *channel;	/* of the input */
	size_t n;
	size_t first;		/* where they begin in the output */
};

/*
 * Gives `out`, which has the input's own channels, the channels of `result` (blank-separated) and then
 * its own less those of `replaced` (blank-separated). -1 after fail(). Free with passing_free.
 */
int passing_plan(struct passing *, struct frame_head *out, const char *result, const char *replaced);
/* Copies row y of them. */
void passing_row(const struct passing *, const struct frame *in, struct frame *out, size_t y);
void passing_free(struct passing *);

#endif
