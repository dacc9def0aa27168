/* Writing into a pipe without SIGPIPE, which would end this process when the reader has ended. */
#ifndef VIDEO_PIPE_WRITE_H
#define VIDEO_PIPE_WRITE_H

#include <stddef.h>
#include <sys/types.h>

/* As write(): the number of bytes, or -1 with errno. */
ssize_t pipe_write(int pipe, const void *from, size_t n);
/*
 * The same without a copy: the pipe refers to the memory, whose bytes must stay as they are until
 * the reader has read them. It never waits for room: errno is EAGAIN then.
 */
ssize_t pipe_lend(int pipe, const void *from, size_t n);

#endif
