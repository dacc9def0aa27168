/* Writing NRRD: the subset of frame.5; declared in nrrd_stream.h. */
#define _GNU_SOURCE
#include "io/nrrd_stream.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/text.h"
#include "frame/keyline.h"
#include "frame/samples.h"
#include "io/nrrd_header.h"
#include "io/waiting_file.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "samples are written as they lie");

#define HEADER_UNIT 64		/* data begin at a multiple of this */
#define PIECES 256		/* of memory, written by one call */

static const char *
spacing_text(double v, char text[32])
{
	return isnan(nrrd_spacing(v)) ? "NaN" : number_format(v, text);
}

static void
put_geometry(FILE *file, const struct frame_head *head)
{
	char x[32], y[32];

	if (isnan(nrrd_spacing(head->spacing[0])) && isnan(nrrd_spacing(head->spacing[1])))
		return;
	fprintf(file, "spacings: %s %s%s\n", spacing_text(head->spacing[0], x),
	    spacing_text(head->spacing[1], y), head->c > 1 ? " NaN" : "");
	if (*head->unit && !strpbrk(head->unit, "\"\\\r\n"))
		fprintf(file, "units: \"%s\" \"%s\"%s\n", head->unit, head->unit,
		    head->c > 1 ? " \"\"" : "");
}

/* All lines but the padding and the blank one, as a new string; NULL after fail(). number: of a
 * shared frame, else 0. */
static char *
header_text(const struct frame_head *head, unsigned long number, size_t *length)
{
	struct text text;
	FILE *file = text_open(&text);

	if (!file)
		return NULL;
	fprintf(file, "NRRD0004\ntype: %s\ndimension: %d\nsizes: %zu %zu", sample_name(head->type),
	    head->c > 1 ? 3 : 2, head->w, head->h);
	if (head->c > 1)
		fprintf(file, " %zu", head->c);
	fprintf(file, "\nendian: little\nencoding: raw\nkinds: domain domain%s\n",
	    head->c > 1 ? " list" : "");
	if (number)
		fprintf(file, "data file: @%lu\n", number);
	put_geometry(file, head);
	keyline_put_head(file, head);
	return text_close(&text, length);
}

/* The whole header as a new string; NULL after fail(). */
static char *
padded_header(const char *name, const struct frame_head *head, unsigned long number, size_t *length)
{
	char *text = header_text(head, number, length), *padded;
	size_t padding;

	if (!text)
		return NULL;
	padding = (HEADER_UNIT - (*length + 3) % HEADER_UNIT) % HEADER_UNIT;
	if (*length + 3 + padding > NRRD_HEADER_MAX) {
		fail(name, "header is longer than %d bytes: %zu", NRRD_HEADER_MAX,
		    *length + 3 + padding);
		free(text);
		return NULL;
	}
	padded = realloc(text, *length + 3 + padding + 1);
	if (!padded) {
		free(text);
		fail_memory();
		return NULL;
	}
	*length += (size_t)sprintf(padded + *length, "#%*s\n\n", (int)padding, "");
	return padded;
}

/* What is written to a descriptor, in pieces as large as possible: adjacent memory is one piece. */
struct pieces {
	int fd;
	const char *name;		/* for messages */
	struct iovec piece[PIECES];
	size_t n;
	bool begun;			/* some bytes are written */
};

static void
pieces_drop(struct pieces *pieces, size_t bytes)
{
	size_t i = 0;

	for (; i < pieces->n && bytes >= pieces->piece[i].iov_len; i++)
		bytes -= pieces->piece[i].iov_len;
	pieces->n -= i;
	memmove(pieces->piece, pieces->piece + i, pieces->n * sizeof(*pieces->piece));
	if (bytes) {
		pieces->piece[0].iov_base = (char *)pieces->piece[0].iov_base + bytes;
		pieces->piece[0].iov_len -= bytes;
	}
}

static int
pieces_write(struct pieces *pieces)
{
	while (pieces->n) {
		ssize_t done = waiting_writev(pieces->fd, pieces->piece, (int)pieces->n);

		if (done < 0)
			return fail_errno(pieces->name, "cannot be written");
		if (done > 0) {
			pieces_drop(pieces, (size_t)done);
			pieces->begun = true;
		}
	}
	return 0;
}

static int
pieces_add(struct pieces *pieces, void *from, size_t bytes)
{
	struct iovec *last = pieces->n ? &pieces->piece[pieces->n - 1] : NULL;

	if (last && (char *)last->iov_base + last->iov_len == from) {
		last->iov_len += bytes;
		return 0;
	}
	if (pieces->n == PIECES && pieces_write(pieces) < 0)
		return -1;
	pieces->piece[pieces->n++] = (struct iovec){ from, bytes };
	return 0;
}

/* number: not 0, the header alone. */
static int
frame_write(struct pieces *pieces, const struct frame *frame, unsigned long number)
{
	const struct frame_head *head = &frame->head;
	size_t bytes = head->w * sample_size(head->type), length;
	char *text = padded_header(pieces->name, head, number, &length);
	int status;

	if (!text)
		return -1;
	status = pieces_add(pieces, text, length);
	for (size_t c = 0; c < head->c && number == 0; c++)
		for (size_t y = 0; y < head->h && status == 0; y++)
			status = pieces_add(pieces, frame_row(frame, c, y), bytes);
	if (status == 0)
		status = pieces_write(pieces);
	free(text);
	return status;
}

int
stream_write(FILE *file, const char *name, const struct frame *frame)
{
	size_t length;
	char *text = padded_header(name, &frame->head, 0, &length);
	int status = text ? samples_write_planes(name, file, text, length, frame, 0,
	    frame->head.c) : -1;

	free(text);
	return status;
}

/* A frame was cut: what follows would be taken for its samples. */
static atomic_bool torn;

int
stream_send(int fd, const char *name, const struct frame *frame, unsigned long number)
{
	struct pieces pieces = { .fd = fd, .name = name };
	int status = frame_write(&pieces, frame, number);

	if (status < 0 && pieces.begun)
		atomic_store(&torn, true);
	return status;
}

void
stream_send_failed(int fd)
{
	const char *text = STREAM_FAILED;
	size_t left = strlen(text);
	struct stat st;

	if (atomic_load(&torn) || fstat(fd, &st) < 0 ||
	    !(S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || S_ISREG(st.st_mode)))
		return;
	signal(SIGPIPE, SIG_IGN);	/* the reader may have gone, and the message counts */
	while (left) {
		ssize_t done = waiting_write(fd, text, left);

		if (done <= 0)
			return;
		text += done;
		left -= (size_t)done;
	}
}
