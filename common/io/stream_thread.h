/* A thread that reads a stream's next frame while the chain works on the last one. */
#ifndef STREAM_THREAD_H
#define STREAM_THREAD_H

#include <stdbool.h>

#include "io/source.h"

struct stream_thread;

/* Begins to read the next frame. NULL: no thread could be started; the caller reads by itself. */
struct stream_thread *stream_thread_open(struct source *);
/* Takes the frame that the thread has read, or waits for it; the thread begins with the next one.
 * As source_next(). */
int stream_thread_next(struct stream_thread *, struct frame **out);
/* Need nobody wait for what the next call returns? */
bool stream_thread_is_ready(struct stream_thread *);
/* False where the thread still waits for input after some time: then a chain has failed, and the
 * thread ends with the process. */
bool stream_thread_close(struct stream_thread *);

#endif
