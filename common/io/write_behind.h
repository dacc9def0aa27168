/*
 * Writing while the chain computes: frames go to a target in the order they were put, by a thread
 * of its own where the target may wait (for a reader, or for the disk), else by the pool's threads
 * while they have no items: a thread more than cores would hold up the others. A pool of one thread
 * writes each frame at once, out of the cache of the core that made it. A few frames may
 * wait besides the one that is being written, of a live stream one.
 */
#ifndef WRITE_BEHIND_H
#define WRITE_BEHIND_H

#include "base/thread_pool.h"
#include "io/target.h"

struct write_behind;

/* Takes ownership of the target. live: its reader wants the newest frame, so that no more than one
 * waits. All calls come from the pool's thread 0. NULL after fail() (the target is closed then). */
struct write_behind *write_behind_open(struct target *, bool live, struct thread_pool *);
/* Takes ownership of the frame. skip: so many numbers stay free before it. While there is no room
 * it blocks, or does idle work of the pool. -1 once writing has failed. */
int write_behind_put(struct write_behind *, struct frame *, size_t skip);
/* Writes the waiting frames, completes (keep) or removes the output. 0, or -1 after fail(). */
int write_behind_close(struct write_behind *, bool keep);

#endif
