/* Consecutive maps that a frame is taken through together; for the runner's parts only. */
#ifndef SEGMENT_H
#define SEGMENT_H

#include "run/chain.h"

#define SEGMENT_MOST 64		/* maps taken through together */

/*
 * A band is a thread's piece of work (shares.h). It is taken through the maps a few rows at a time:
 * each map makes the rows that the next ones need now, and a window of its last rows is kept for
 * their halos. So a row is made once, but for the halos at the band's two ends.
 */
/* A map and a channel of its output. */
struct producer {
	size_t k, c;
};

struct segment {
	struct chain *chain;
	struct link *link;		/* the first map */
	size_t n;			/* maps */
	struct frame *in;
	struct frame *out;
	size_t step, h;			/* rows made at a time, rows of the image */
	size_t halo[SEGMENT_MOST]; /* rows of map k's output needed beyond the band, each side */
	size_t window[SEGMENT_MOST];	/* rows of map k's output that are kept at most */
	size_t reader[SEGMENT_MOST];	/* the last map that reads what map k made */
	size_t offset[SEGMENT_MOST];	/* where map k's output lies in the scratch memory */
	size_t bytes;			/* of scratch memory */
	struct producer *maker; /* of what the last map only hands on, by its channels; else k = n */
};

/* The channel that map k hands on as its channel c without touching it; NO_CHANNEL if it makes it.
 */
size_t segment_passed_from(const struct segment *, size_t k, size_t c);
/* Follows a channel of map k's output back to the map that makes it: *k and *c. False: it is the
 * input's channel *c. */
bool segment_produced_by(const struct segment *, size_t *k, size_t *c);
/* Sets halo[]. */
void segment_halos(struct segment *);

#endif
