/*
 * The rows of one frame or several, shared out among threads. Each works through its own share from
 * the top, a few rows at a time, and then takes the lower half of what is left of another one. So a
 * thread begins in the middle of a frame hardly more often than once, and none waits long for
 * another.
 */
#ifndef ROW_SHARES_H
#define ROW_SHARES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct row_shares {
	pthread_mutex_t lock;
	struct row_share *share;
	size_t n, room;
	size_t step, least;
};

/* Rows y0 to y1 are to be made now, of those to `end` that are this thread's as things stand;
 * `begins`: they do not follow those taken before. */
struct piece {
	size_t y0, y1, end;
	bool begins;
	void *frame;			/* as row_shares_begin() was given it */
};

void row_shares_init(struct row_shares *);
void row_shares_free(struct row_shares *);
/*
 * Divides h rows among n shares, or fewer if they are few, to be taken `step` at a time. `least`
 * rows at least lie between what one has taken and what another takes off its share; SIZE_MAX:
 * none takes from another. The number of shares, or 0 after fail().
 */
size_t row_shares_divide(struct row_shares *, size_t h, size_t n, size_t step, size_t least);
/* The same without rows: n shares, each of which begins with a frame of its own. */
size_t row_shares_open(struct row_shares *, size_t n, size_t step, size_t least);
/* Share i, which has no rows left, is a whole frame of h rows. */
void row_shares_begin(struct row_shares *, size_t i, size_t h, void *frame);
/* Has share i rows that nobody has taken? */
bool row_shares_left(struct row_shares *, size_t i);
/* The next rows for the thread that works on share i. last: no frame waits, so that others may soon
 * take some. False: there are none. */
bool row_shares_take(struct row_shares *, size_t i, bool last, struct piece *);

#endif
