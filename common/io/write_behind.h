/*
 * Writing beside computing: a thread takes frames to a target in the order they were put, while the
 * chain goes on. One frame waits, besides the one that is written.
 */
#ifndef WRITE_BEHIND_H
#define WRITE_BEHIND_H

#include "io/target.h"

struct write_behind;

/* Takes ownership of the target. NULL after fail() (the target is closed then). */
struct write_behind *write_behind_open(struct target *);
/* Takes ownership of the frame. Waits while another one is waiting. -1 once writing has failed. */
int write_behind_put(struct write_behind *, struct frame *);
/* Writes what waits, completes (keep) or removes what was written. 0, or -1 after fail(). */
int write_behind_close(struct write_behind *, bool keep);

#endif
