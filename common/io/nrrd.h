/* Reading and writing NRRD headers and streams. */
#ifndef NRRD_H
#define NRRD_H

#include <math.h>
#include <stdio.h>

#include "frame/frame.h"
#include "frame/head.h"
#include "frame/samples.h"
#include "io/shared_frames.h"

/* ---- the header of a NRRD, as a frame's head and how its samples follow ---- */

/* The order of the axes, the fastest first: W H C, W C H, C W H. */
enum nrrd_axes { NRRD_PLANES, NRRD_LINES, NRRD_PIXELS };
enum nrrd_encoding { NRRD_RAW, NRRD_GZIP, NRRD_TEXT };

struct nrrd_header {
	enum element element;
	enum nrrd_encoding encoding;
	enum nrrd_axes axes;
	bool swapped;		/* samples are big-endian */
	size_t expected;	/* bytes of data; samples when they are text */
	unsigned long number;	/* of a shared frame; 0: the data follow */
};

/* Takes in a header that lies in memory, n bytes from "NRRD000" to its blank line, none of them 0.
 * Whether a file holds what it claims is the caller's to check. 0 and a head to be freed, or -1
 * after fail(name, ...). */
int nrrd_header_take(const char *start, size_t n, const char *name, struct nrrd_header *,
    struct frame_head *);

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
/* The same; the process that writes the pipe may also share the pixels (shared_frames.h). */
int stream_receive(FILE *, struct shared_receiver *, const char *name, struct frame **out);
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
 * Writes that line to a descriptor that stream_send() wrote to, or nothing yet, if it is a pipe, a
 * socket or a file; not after a frame that was cut. Records no failure; SIGPIPE is ignored from
 * then on.
 */
void stream_send_failed(int fd);

#endif
