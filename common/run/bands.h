/* Bands of rows through the consecutive maps of a segment, on the processor's threads. */
#ifndef BANDS_H
#define BANDS_H

#include "run/band_layout.h"

struct check_sample;

/* Memory for the chain's threads. -1 after fail(). */
int bands_init(struct chain *);
/* Makes segment->out from segment->in, on all threads. -1 after fail(). */
int bands_run(struct segment *);
/* Makes a piece of the segment's frame, with what the thread keeps. */
void bands_make(const struct segment *, struct band_memory *, const struct piece *);
/* Rows at least between what a thread has taken and what another one takes off its share. */
size_t bands_least(const struct segment *);
/* All rows of the link's frame are made: its warnings. The sample may be NULL. */
void bands_conclude_map(struct link *, const struct check_sample *);
/* Adds what the last frame took to the times of its maps. */
void bands_add_times(struct segment *);
/* Frees what the chain's threads keep for it. */
void bands_free(struct chain *);

#endif
