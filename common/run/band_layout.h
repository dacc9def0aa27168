/* What a thread keeps while it takes a band of rows through a segment, and where things lie in it.
 */
#ifndef BAND_LAYOUT_H
#define BAND_LAYOUT_H

#include <stdalign.h>

#include "run/segment.h"

/* Threads write to memory of their own all the time: where two threads' memory shares a cache line,
 * or the pair of lines that is fetched together, each waits for the other. */
#define BAND_ALIGN 128

/* What one thread needs to take a band through a segment. */
struct band_memory {
	alignas(BAND_ALIGN) void *memory;	/* rows between the maps, state rows, scratch */
	size_t bytes;
	struct plane *plane;			/* of all the views below */
	size_t planes;
	struct plane *in[SEGMENT_MOST], *out[SEGMENT_MOST];
	size_t first[SEGMENT_MOST];		/* first row of map k's output that is kept */
	size_t slot[SEGMENT_MOST];		/* and its place in the window, a ring */
	size_t done[SEGMENT_MOST];		/* rows of map k's output are made up to here */
	bool direct[SEGMENT_MOST];		/* see place_output() */
	bool continues[SEGMENT_MOST];		/* map k has made the rows before in this band */
	double seconds[SEGMENT_MOST];		/* of this frame */
	bool worked;				/* it made rows of this frame */
	size_t y0, y1;				/* of the band, as things stand */
};

static inline size_t
size_at_least(size_t n, size_t least)
{
	return n < least ? least : n;
}

static inline size_t
size_at_most(size_t n, size_t most)
{
	return n > most ? most : n;
}

/* Rows that map k makes at once, at most: a band begins with its halos on both sides. */
size_t band_most_rows(const struct segment *, size_t k);
/* Bytes from row to row of a window, which are those of a frame or more. */
size_t band_window_stride(const struct frame_head *);
/* Bytes of a row of a state plane. */
size_t band_state_stride(const struct link *);
/* What so many threads keep. NULL after fail(). */
struct band_memory *band_memory_new(size_t threads);
void band_memory_free(struct band_memory *, size_t threads);
/* Sets what a band needs: halos from the last map back to the first, heights, places in a thread's
 * memory. */
void band_lay_out(struct segment *);
/* Makes room in a thread's memory for segment->bytes and for the planes of all maps' views. -1
 * after fail(). */
int band_reserve(struct band_memory *, const struct segment *);
/* Finds what the last map hands on and no two of its channels share, in memory that lasts as long
 * as the second argument. -1 after fail(). */
int band_find_producers(struct segment *, struct producers *);
void band_free_producers(struct producers *);

#endif
