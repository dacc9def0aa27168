/* Channels that a map hands on unchanged, together with those it makes. */
#ifndef PASSTHROUGH_H
#define PASSTHROUGH_H

#include "run/stage.h"

struct passthrough {
	size_t *channel;	/* of the input */
	size_t n;
	size_t first;		/* where they begin in the output */
};

/*
 * Gives `out`, which has the input's own channels, those of `before`, then its own less those of
 * `replaced`, then those of `behind` (lists, blank-separated, maybe empty). -1 after fail(). Free
 * with passthrough_free.
 */
int passthrough_plan(struct run *, struct passthrough *, struct frame_head *out, const char *before,
    const char *replaced, const char *behind);
/* Hands on row y of them. */
void
passthrough_row(const struct passthrough *, const struct frame *in, struct frame *out, size_t y);
void passthrough_free(struct passthrough *);

#endif
