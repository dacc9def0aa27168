/* Reading and writing streams of NRRD. */
#pragma once

#include <stdio.h>

#include "frame/frame.h"

/*
 * Frames on a pipe: each one a complete NRRD (frame.5); frames follow each other without delimiter.
 */

/*
 * The next frame: 1 and *out, 0 at a clean end (a frame boundary), -1 after fail().
 * Reads our own subset and what other programs write: fields in any order; double, int, big-endian
 * samples (converted to float, or to ushort/uchar where they are), interleaved channels, gzip.
 * A header is at most 16 MiB; sizes are multiplied with overflow checks before any allocation.
 */
int stream_read(FILE *, const char *name, struct frame **out);
/* Same frame, same bytes. 0 or -1 after fail(). */
int stream_write(FILE *, const char *name, const struct frame *);
/*
 * The same straight to a descriptor, without a copy: adjacent planes in one piece. Waits where the
 * descriptor does not block. number: of a frame that shared_sender_put() has sent, of which only
 * the header is written; else 0.
 */
int stream_send(int fd, const char *name, const struct frame *, unsigned long number);
/* The line that a writer which fails leaves behind its last frame, in place of a header; to a
 * reader of ours it is an error. */
#define STREAM_FAILED "FAILED: the writer of this stream failed\n"
/*
 * Writes that line to a descriptor that stream_send() wrote to, or
 * nothing yet, if it is a pipe, a socket or a file; not after a frame that was cut. Records no
 * failure; SIGPIPE is ignored from then on.
 */
void stream_send_failed(int fd);
