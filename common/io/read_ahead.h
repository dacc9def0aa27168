/*
 * The frames of a chain's operands, in order. Where there are several files, the next few are
 * opened and their first images decoded on all threads at once: decoding PNG costs more than most
 * stages. The frames of a stream are read one ahead by a thread, while the last one is worked.
 */
#ifndef READ_AHEAD_H
#define READ_AHEAD_H

#include "io/codec.h"
#include "base/thread_pool.h"

struct reader;

/* Operands: files, folders, "-"; none: standard input. NULL after fail(). */
struct reader *reader_open(char *const *operand, size_t operands, struct pool *);
/* The next frame: 1 and *out, 0 at the end, -1 after fail(). */
int reader_next(struct reader *, struct frame **out);
void reader_close(struct reader *);

#endif
