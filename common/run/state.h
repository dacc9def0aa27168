/* State planes of maps (run_state_in, run_state_out in run.h): memory across frames. */
#ifndef STATE_H
#define STATE_H

#include "run/segment.h"

/* Makes room for this frame's state planes of all maps of the segment. -1 after fail(). */
int state_begin(struct segment *);
/* This frame's state becomes the last one's; keep = false: it is thrown away. */
void state_finish(struct segment *, bool keep);
/* Does some map of the segment have state planes? */
bool state_used(const struct segment *);
void state_free(struct link *);

#endif
