/*
 * The frames of a chain's operands, in order. Where there are several files, the next few are
 * opened and their first images decoded on all threads at once: decoding PNG costs more than most
 * stages. A thread reads a stream's next frame while the chain works on the last one.
 */
#ifndef READ_AHEAD_H
#define READ_AHEAD_H

#include "base/thread_pool.h"
#include "frame/frame.h"

struct read_ahead;

/* Operands: files, folders, "-"; none: standard input. NULL after fail(). */
struct read_ahead *read_ahead_open(char *const *operand, size_t operands, struct thread_pool *);
/* The next frame: 1 and *out, 0 at the end, -1 after fail(). */
int read_ahead_next(struct read_ahead *, struct frame **out);
void read_ahead_close(struct read_ahead *);

#endif
