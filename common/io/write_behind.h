/*
 * Writing beside computing: a thread takes frames to a target in the order they were put, while the
 * chain goes on. One frame waits, besides the one that is written.
 */
#ifndef WRITE_BEHIND_H
#define WRITE_BEHIND_H

#include "io/codec.h"

struct outbox;

/* Takes ownership of the target. NULL after fail() (the target is closed then). */
struct outbox *outbox_open(struct target *);
/* Takes ownership of the frame. Waits while another one is waiting. -1 once writing has failed. */
int outbox_put(struct outbox *, struct frame *);
/* Writes what waits, completes (keep) or removes what was written. 0, or -1 after fail(). */
int outbox_close(struct outbox *, bool keep);

#endif
