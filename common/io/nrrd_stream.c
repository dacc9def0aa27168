/* Reading the samples of NRRD from a pipe or a file; the header is nrrd_header.c's. */
#define _GNU_SOURCE
#include "io/nrrd_stream.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/fail.h"
#include "frame/pixel_store.h"
#include "io/gzip_file.h"
#include "io/nrrd_header.h"
#include "io/whole_file.h"

#define CHUNK 4096		/* samples converted at once */

struct input {
	FILE *file;
	const char *name;		/* for messages */
	struct nrrd_header header;
	size_t got;			/* bytes of data; samples when they are text */
	struct inflater *inflater;
	const unsigned char *unpacked;	/* the rest of gzip data that were unpacked in one piece */
};

struct inflater {
	z_stream z;
	bool ended;			/* a gzip member, with its checksum, is complete */
	unsigned char buffer[65536];
};

static int
inflater_start(struct input *in)
{
	struct inflater *inflater = calloc(1, sizeof(*inflater));

	if (!inflater)
		return fail_memory();
	if (inflateInit2(&inflater->z, 15 + 32) != Z_OK) {
		free(inflater);
		return fail_memory();
	}
	in->inflater = inflater;
	return 0;
}

static void
inflater_end(struct input *in)
{
	if (in->inflater)
		inflateEnd(&in->inflater->z);
	free(in->inflater);
	in->inflater = NULL;
}

/* Unpacks up to n bytes, maybe none. 1, 0 at the end of the file, -1 after fail(). */
static int
inflate_some(struct input *in, void *to, size_t n, size_t *got)
{
	struct inflater *inflater = in->inflater;
	z_stream *z = &inflater->z;
	int status;

	*got = 0;
	if (z->avail_in == 0) {
		z->next_in = inflater->buffer;
		z->avail_in = (uInt)fread(inflater->buffer, 1, sizeof(inflater->buffer), in->file);
		if (z->avail_in == 0)
			return 0;
	}
	z->next_out = to;
	z->avail_out = n > 1 << 30 ? 1 << 30 : (uInt)n;
	n = z->avail_out;
	status = inflate(z, Z_NO_FLUSH);
	if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
		return fail(in->name, "gzip data are damaged: %s", z->msg ? z->msg : "zlib failed");
	inflater->ended = status == Z_STREAM_END;
	*got = n - z->avail_out;
	return 1;
}

/* Up to n bytes, across gzip members; how many there were, or -1 after fail(). */
static ssize_t
inflate_bytes(struct input *in, unsigned char *to, size_t n)
{
	size_t done = 0, got;
	int status = 1;

	while (done < n && status == 1) {
		if (in->inflater->ended)
			inflateReset(&in->inflater->z);
		status = inflate_some(in, to + done, n - done, &got);
		done += got;
	}
	return status < 0 ? -1 : (ssize_t)done;
}

/* After the last sample: takes in the checksum; data beyond what the header claims stay unread. */
static int
inflate_end(struct input *in)
{
	unsigned char rest;
	size_t got = 0;
	int status = 1;

	while (!in->inflater->ended && status == 1 && got == 0)
		status = inflate_some(in, &rest, 1, &got);
	return status == 0 ? fail(in->name, "truncated: the gzip data lack their end") : status;
}

static int
read_bytes(struct input *in, void *to, size_t n)
{
	ssize_t got;

	if (in->unpacked) {
		memcpy(to, in->unpacked, n);
		in->unpacked += n;
		return 0;
	}
	got = in->header.encoding == NRRD_GZIP ? inflate_bytes(in, to, n) :
	    (ssize_t)fread(to, 1, n, in->file);
	if (got < 0)
		return -1;
	in->got += (size_t)got;
	if ((size_t)got == n)
		return 0;
	if (ferror(in->file))
		return fail_errno(in->name, "cannot be read");
	return fail(in->name, "truncated: expected %zu bytes, got %zu", in->header.expected,
	    in->got);
}

static void
swap_bytes(void *samples, size_t n, size_t size)
{
	unsigned char *byte = samples;

	for (size_t i = 0; i < n; i++, byte += size)
		for (size_t k = 0; k < size / 2; k++) {
			unsigned char kept = byte[k];

			byte[k] = byte[size - 1 - k];
			byte[size - 1 - k] = kept;
		}
}

/* The next number of text; blanks, line ends and commas separate them. */
static int
read_text_number(struct input *in, double *v)
{
	char word[64];
	size_t n = 0;
	int byte;

	do
		byte = getc_unlocked(in->file);
	while (byte != EOF && strchr(" \t\r\n,", byte));
	for (; byte != EOF && !strchr(" \t\r\n,", byte); byte = getc_unlocked(in->file))
		if (n < sizeof(word) - 1)
			word[n++] = (char)byte;
	word[n] = '\0';
	if (n == 0)
		return fail(in->name, "truncated: expected %zu samples, got %zu",
		    in->header.expected, in->got);
	if (n == sizeof(word) - 1 || number_parse(word, v) < 0)
		return fail(in->name, "sample is not a number: %s", word);
	in->got++;
	return 0;
}

static int
read_text(struct input *in, void *to, size_t n)
{
	enum sample as = in->header.kind->as;
	double top = as == SAMPLE_UCHAR ? UINT8_MAX : UINT16_MAX;

	for (size_t i = 0; i < n; i++) {
		double v;

		if (read_text_number(in, &v) < 0)
			return -1;
		if (as != SAMPLE_FLOAT && !(v >= 0 && v <= top))
			return fail(in->name, "sample does not fit into %s: %g", sample_name(as),
			    v);
		if (as == SAMPLE_UCHAR)
			((uint8_t *)to)[i] = (uint8_t)v;
		else if (as == SAMPLE_USHORT)
			((uint16_t *)to)[i] = (uint16_t)v;
		else
			((float *)to)[i] = (float)v;
	}
	return 0;
}

/* The next n samples, in the frame's type. */
static int
read_samples(struct input *in, void *to, size_t n)
{
	size_t size = in->header.kind->size;
	unsigned char raw[8 * CHUNK];

	if (in->header.encoding == NRRD_TEXT)
		return read_text(in, to, n);
	if (!in->header.kind->to_float) {
		if (read_bytes(in, to, n * size) < 0)
			return -1;
		if (in->header.swapped)
			swap_bytes(to, n, size);
		return 0;
	}
	for (size_t i = 0; i < n; i += CHUNK) {
		size_t some = n - i < CHUNK ? n - i : CHUNK;

		if (read_bytes(in, raw, some * size) < 0)
			return -1;
		if (in->header.swapped)
			swap_bytes(raw, some, size);
		in->header.kind->to_float(raw, some, (float *)to + i);
	}
	return 0;
}

/* A new frame's planes follow one another: without padding they are one piece. */
static bool
is_one_piece(const struct input *in, const struct frame *frame)
{
	return in->header.axes == NRRD_PLANES &&
	    frame->plane[0].stride == frame->head.w * sample_size(frame->head.type);
}

/* Rows whose samples lie in the file as in the frame, of all channels, to the frame's places. */
static int
read_row_groups(struct input *in, struct frame *frame)
{
	const struct frame_head *head = &frame->head;
	const size_t rows = head->h * head->c, bytes = head->w * in->header.kind->size;
	const size_t stride = frame->plane[0].stride;
	const size_t group = whole_file_group(rows, bytes, stride);

	for (size_t row = 0; row < rows; row += group) {
		const size_t n = rows - row < group ? rows - row : group;
		char *first = frame_row(frame, row / head->h, row % head->h);

		if (read_samples(in, first + n * (stride - bytes), head->w * n) < 0)
			return -1;
		whole_file_spread(first, n, bytes, stride);
	}
	return 0;
}

/* Do the samples of a row lie in the file as in the frame? */
static bool
comes_by_groups(const struct input *in)
{
	return in->header.axes == NRRD_PLANES && in->header.encoding != NRRD_TEXT &&
	    !in->header.kind->to_float;
}

static int
read_planes(struct input *in, struct frame *frame)
{
	const struct frame_head *head = &frame->head;
	const size_t rows = head->h * head->c;

	if (comes_by_groups(in))
		return read_row_groups(in, frame);
	if (is_one_piece(in, frame))
		return read_samples(in, frame_row(frame, 0, 0), head->w * rows);
	for (size_t row = 0; row < rows; row++)
		if (read_samples(in, frame_row(frame, row / head->h, row % head->h), head->w) < 0)
			return -1;
	return 0;
}

static int
read_lines(struct input *in, struct frame *frame)
{
	for (size_t y = 0; y < frame->head.h; y++)
		for (size_t c = 0; c < frame->head.c; c++)
			if (read_samples(in, frame_row(frame, c, y), frame->head.w) < 0)
				return -1;
	return 0;
}

static void
split_row(const void *pixels, struct frame *frame, size_t y)
{
	size_t w = frame->head.w, channels = frame->head.c;

	for (size_t c = 0; c < channels; c++) {
		void *row = frame_row(frame, c, y);

		if (frame->head.type == SAMPLE_UCHAR)
			for (size_t x = 0; x < w; x++)
				((uint8_t *)row)[x] = ((const uint8_t *)pixels)[x * channels + c];
		else if (frame->head.type == SAMPLE_USHORT)
			for (size_t x = 0; x < w; x++)
				((uint16_t *)row)[x] = ((const uint16_t *)pixels)[x * channels + c];
		else	/* as bits, so that no NaN changes */
			for (size_t x = 0; x < w; x++)
				((uint32_t *)row)[x] = ((const uint32_t *)pixels)[x * channels + c];
	}
}

static int
read_pixels(struct input *in, struct frame *frame)
{
	size_t n = frame->head.w * frame->head.c;
	void *pixels = malloc(n * sample_size(frame->head.type));
	int status = 0;

	if (!pixels)
		return fail_memory();
	for (size_t y = 0; y < frame->head.h && status == 0; y++) {
		status = read_samples(in, pixels, n);
		if (status == 0)
			split_row(pixels, frame, y);
	}
	free(pixels);
	return status;
}

/* Gzip and text end with the file: checks the checksum and leaves the file at its end. */
static int
finish_file(struct input *in)
{
	unsigned char rest[4096];

	if (in->header.encoding == NRRD_RAW)
		return 0;
	if (in->header.encoding == NRRD_GZIP && inflate_end(in) < 0)
		return -1;
	while (fread(rest, 1, sizeof(rest), in->file) > 0)
		;
	return ferror(in->file) ? fail_errno(in->name, "cannot be read") : 0;
}

static int
read_axes(struct input *in, struct frame *frame)
{
	if (in->header.axes == NRRD_PLANES)
		return read_planes(in, frame);
	if (in->header.axes == NRRD_LINES)
		return read_lines(in, frame);
	return read_pixels(in, frame);
}

/* Gzip data in one piece, into the frame where they lie there as they are. 1; 0: piece by piece. */
static int
unpack_whole(struct input *in, struct frame *frame)
{
	const size_t n = in->header.expected, size = in->header.kind->size;
	struct pixel_store *store;
	void *memory;
	bool zeroed;
	int status = 0;

	if (is_one_piece(in, frame) && !in->header.kind->to_float) {
		if (!gzip_file_unpack(in->file, frame_row(frame, 0, 0), n))
			return 0;
		if (in->header.swapped)
			swap_bytes(frame_row(frame, 0, 0), n / size, size);
		return 1;
	}
	store = pixel_store_new(n, 1, &memory, &zeroed);
	if (!store)
		return 0;
	if (gzip_file_unpack(in->file, memory, n)) {
		in->unpacked = memory;
		status = read_axes(in, frame) < 0 ? -1 : 1;
	}
	pixel_store_drop(store);
	return status;
}

static int
data_read(struct input *in, struct frame *frame)
{
	int status = in->header.encoding == NRRD_GZIP ? unpack_whole(in, frame) : 0;

	if (status != 0)
		return status < 0 ? -1 : 0;
	if (in->header.encoding == NRRD_GZIP && inflater_start(in) < 0)
		return -1;
	status = read_axes(in, frame);
	if (status == 0)
		status = finish_file(in);
	inflater_end(in);
	return status;
}

/* A frame with this head, whose data follow in the file or lie in shared memory. */
static int
frame_read(struct input *in, struct shared_receiver *receiver, const struct frame_head *head,
    struct frame **out)
{
	if (in->header.number)
		return shared_receiver_take(receiver, in->name, in->header.number, head, out);
	/* read_row_groups() sets the padding of rows */
	if ((comes_by_groups(in) ? frame_new_unset(head, out) : frame_new(head, out)) < 0)
		return -1;
	if (data_read(in, *out) == 0)
		return 0;
	frame_free(*out);
	*out = NULL;
	return -1;
}

int
stream_read(FILE *file, const char *name, struct frame **out)
{
	return stream_receive(file, NULL, name, out);
}

int
stream_receive(FILE *file, struct shared_receiver *receiver, const char *name, struct frame **out)
{
	struct input in = { .file = file, .name = name };
	struct frame_head head;
	int status;

	*out = NULL;
	status = nrrd_header_read(file, name, receiver != NULL, &in.header, &head);
	if (status != 1)
		return status;
	if (frame_read(&in, receiver, &head, out) < 0)
		status = -1;
	head_free(&head);
	return status;
}
