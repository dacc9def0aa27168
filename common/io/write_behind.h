/*
 * Writing while the chain computes: a thread writes frames to a target in the order they were put.
 * A few frames may wait besides the one that the thread writes, of a live stream one.
 */
#ifndef WRITE_BEHIND_H
#define WRITE_BEHIND_H

#include "io/target.h"

struct write_behind;

/* Takes ownership of the target. live: its reader wants the newest frame, so that no more than one
 * waits. NULL after fail() (the target is closed then). */
struct write_behind *write_behind_open(struct target *, bool live);
/* Takes ownership of the frame. skip: so many numbers stay free before it. Blocks while there
 * is no room. -1 once writing has failed. */
int write_behind_put(struct write_behind *, struct frame *, size_t skip);
/* Writes the waiting frames, completes (keep) or removes the output. 0, or -1 after fail(). */
int write_behind_close(struct write_behind *, bool keep);

#endif
