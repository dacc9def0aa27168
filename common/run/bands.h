/* Bands of rows through the consecutive maps of a segment, on the processor's threads. */
#ifndef BANDS_H
#define BANDS_H

#include "run/segment.h"

/* Memory for the chain's threads. -1 after fail(). */
int bands_init(struct chain *);
/* Makes segment->out from segment->in, on all threads. -1 after fail(). */
int bands_run(struct segment *);
/* Adds what the last frame took to the times of its maps. */
void bands_add_times(struct segment *);
/* Frees what the chain's threads keep for it. */
void bands_free(struct chain *);

#endif
