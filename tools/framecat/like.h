/* Tables of points as images again, of the size of the frame that they came from. */
#ifndef FRAMECAT_LIKE_H
#define FRAMECAT_LIKE_H

#include "run/stage.h"

struct source;

struct like {
	const char *path;
	struct source *source;
	struct frame_head head;		/* of the frame for this table; channel NULL: none yet */
	size_t frames;			/* that were read */
	bool single;			/* the only frame, which serves all tables */
};

/* The frame for the next table, once per input: one for all, or as many as the input has. */
int like_next(struct like *);
/* The input has ended: so must the frames. -1 after fail(). */
int like_end(struct like *);
void like_close(struct like *);
/*
 * The table, each of whose rows has the pixel `column` and `row`, as an image of the frame's size:
 * NaN where no row is. Keys that the table lacks come from the frame, but for cmd.N and what
 * describes its samples. Replaces *frame; after a failure, -1, *frame is still the caller's.
 */
int like_restore(const struct like *, struct frame **frame);

#endif
