/* Bands of rows, their memory, and planes that pass unchanged. */
#pragma once

#include <stdalign.h>

#include "run/segment.h"
#include "run/stage.h"

struct check_sample;

/* ---- state planes of maps (run_state_in, run_state_out in run.h): memory across frames ---- */

/* Makes room for this frame's state planes of all maps of the segment. -1 after fail(). */
int state_begin(struct segment *);
/* This frame's state becomes the last one's; keep = false: it is thrown away. */
void state_finish(struct segment *, bool keep);
/* Does some map of the segment have state planes? */
bool state_used(const struct segment *);
void state_free(struct link *);

/* What a thread keeps while it takes a band of rows through a segment, and where things lie in it.
 */

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
	bool direct[SEGMENT_MOST];		/* see place_band_output() */
	bool continues[SEGMENT_MOST];		/* map k has made the rows before in this band */
	double seconds[SEGMENT_MOST];		/* of this frame */
	bool worked;				/* it made rows of this frame */
	size_t y0, y1;				/* of the band, as things stand */
};

/* What so many threads keep. */
struct band_memory *band_memory_new(size_t threads);
void band_memory_free(struct band_memory *, size_t threads);
/* Sets what a band needs: halos from the last map back to the first, heights, places in a thread's
 * memory. */
void band_lay_out(struct segment *);
/* Makes room in a thread's memory for segment->bytes and for the planes of all maps' views. -1
 * after fail(). */
int band_reserve(struct band_memory *, const struct segment *);
/* Finds what the last map hands on and no two of its channels share, in memory that lasts as long
 * as the second argument. */
void band_find_producers(struct segment *, struct producers *);
void band_free_producers(struct producers *);

/* ---- bands of rows through the consecutive maps of a segment, on the processor's threads ---- */

/* Makes segment->out from segment->in, on all threads. -1 after fail(). */
int bands_run(struct segment *);
/* Makes a piece of the segment's frame, with what the thread keeps. */
void bands_make(const struct segment *, struct band_memory *, const struct row_piece *);
/* Rows at least between what a thread has taken and what another one takes off its share. */
size_t bands_least(const struct segment *);
/* All rows of the link's frame are made: its warnings. The sample may be NULL. */
void bands_conclude_map(struct link *, const struct check_sample *);
/* Adds what the last frame took to the times of its maps. */
void bands_add_times(struct segment *);
