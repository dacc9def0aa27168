#include "codec/png/idat_read.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/large_memory.h"
#include "codec/png/inflate.h"
#include "codec/png/unfilter.h"
#include "frame/pixel_store.h"
#include "frame/samples.h"

#define CHUNK_HEAD 8		/* length and type */
#define CHUNK_CRC 4
#define TAIL_MOST 65536		/* bytes of chunks behind the pixels that are looked through */
#define WINDOW_MOST 32768
#define STORE_STEP ((size_t)65536)	/* so that files of about one size use one store again */
#define STORE_MOST ((size_t)8 << 20)	/* more is not kept while other stages need memory */

struct packed {
	unsigned char *byte;	/* `room` bytes for IDATs, and the head of a chunk */
	size_t n, room;
};

static size_t
big_endian(const unsigned char *at)
{
	return (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
}

/* The head of the next chunk, as the last chunk's read brought it along. */
struct chunk {
	size_t length;
	unsigned char type[4];
};

static struct chunk
chunk_at(const unsigned char *at)
{
	struct chunk chunk = { .length = big_endian(at) };

	memcpy(chunk.type, at + 4, 4);
	return chunk;
}

/* Reads a chunk's data to `to`, its CRC and `behind` bytes more; is the CRC right? */
static bool
read_data(FILE *file, const struct chunk *chunk, unsigned char *to, size_t behind)
{
	size_t n = chunk->length + CHUNK_CRC + behind;
	uint32_t crc = libdeflate_crc32(0, chunk->type, sizeof(chunk->type));

	if (fread(to, 1, n, file) != n)
		return false;
	crc = libdeflate_crc32(crc, to, chunk->length);
	return crc == big_endian(to + chunk->length);
}

static bool
is_type(const struct chunk *chunk, const char *type)
{
	return !memcmp(chunk->type, type, 4);
}

/* Chunks whose type begins with a small letter may be passed over. */
static bool
is_ancillary(const struct chunk *chunk)
{
	bool letters = true;

	for (int i = 0; i < 4; i++) {
		unsigned char letter = chunk->type[i] | 32;

		letters &= letter >= 'a' && letter <= 'z';
	}
	return letters && chunk->type[0] & 32;
}

/* Chunks that libpng takes something from, or warns of: key lines that came behind the pixels, and
 * a colour that is clear, which comes too late there. Other texts are nobody's. */
static bool
needs_libpng(const struct chunk *chunk, const unsigned char *data)
{
	static const char keyword[] = "fringepipe";

	return is_type(chunk, "zTXt") || is_type(chunk, "iTXt") || is_type(chunk, "tRNS") ||
	    (is_type(chunk, "tEXt") && chunk->length >= sizeof(keyword) &&
	    !memcmp(data, keyword, sizeof(keyword)));
}

/*
 * All IDAT chunks in a row, and then the end and a few chunks that libpng passes over, as we do not
 * ask for what they hold. Bytes behind the end are nobody's.
 */
static bool
gather(FILE *file, size_t left, struct packed *packed)
{
	unsigned char tail[CHUNK_HEAD + CHUNK_CRC + TAIL_MOST];
	struct chunk chunk;
	size_t tails = 0;

	if (fread(tail, 1, CHUNK_HEAD, file) != CHUNK_HEAD)
		return false;
	chunk = chunk_at(tail);
	while (is_type(&chunk, "IDAT")) {
		if (chunk.length > packed->room - packed->n || chunk.length > left ||
		    !read_data(file, &chunk, packed->byte + packed->n, CHUNK_HEAD))
			return false;
		packed->n += chunk.length;
		chunk = chunk_at(packed->byte + packed->n + CHUNK_CRC);
	}
	while (is_ancillary(&chunk)) {
		if (chunk.length > TAIL_MOST - tails ||
		    !read_data(file, &chunk, tail, CHUNK_HEAD) || needs_libpng(&chunk, tail))
			return false;
		tails += chunk.length;
		chunk = chunk_at(tail + chunk.length + CHUNK_CRC);
	}
	return is_type(&chunk, "IEND") && chunk.length == 0 && read_data(file, &chunk, tail, 0);
}

/* Unpacks exactly n bytes, of which no one refers further back than the stream's window allows:
 * zlib, which keeps no more, would refuse some. */
static bool
unpack(const struct packed *packed, unsigned char *to, size_t n)
{
	size_t window;

	if (packed->n < 2)
		return false;
	window = (size_t)256 << (packed->byte[0] >> 4);
	return (window >= WINDOW_MOST || window >= n) &&
	    inflate_whole(packed->byte, packed->n, to, n);
}

static void
deliver(struct frame *frame, size_t y, unsigned char *pixels)
{
	if (frame->head.type == SAMPLE_USHORT)
		samples_swap(pixels, frame->head.w * frame->head.c, 2);
	samples_split(pixels, frame, y);
}

/* Undoes the filters of a few rows, then passes them on while they are in cache: but for the last
 * one, which the next ones need, and which is passed on with them. */
static bool
unfilter_all(struct frame *frame, unsigned char *rows, size_t row_bytes, size_t pixel_bytes)
{
	const size_t h = frame->head.h, stride = row_bytes + 1;

	for (size_t y = 0; y < h; y += UNFILTER_ROWS) {
		size_t n = h - y < UNFILTER_ROWS ? h - y : UNFILTER_ROWS;

		if (unfilter(rows + y * stride, n, row_bytes, pixel_bytes) < 0)
			return false;
		for (size_t i = y ? y - 1 : 0; i < y + n - 1; i++)
			deliver(frame, i, rows + i * stride + 1);
	}
	deliver(frame, h - 1, rows + (h - 1) * stride + 1);
	return true;
}

static bool
read_all(FILE *file, size_t left, struct frame *frame, struct packed *packed,
    unsigned char *before, size_t row_bytes)
{
	const size_t stride = row_bytes + 1, h = frame->head.h;
	const size_t pixel_bytes = frame->head.c * sample_size(frame->head.type);
	unsigned char *rows = before + UNFILTER_MARGIN + stride;

	memset(before, 0, UNFILTER_MARGIN + stride);
	memset(rows + h * stride, 0, UNFILTER_MARGIN);
	return gather(file, left, packed) && unpack(packed, rows, h * stride) &&
	    unfilter_all(frame, rows, row_bytes, pixel_bytes);
}

/* Memory for `all` bytes, unset: free() takes it where there is no store. */
static void *
take_memory(size_t all, struct pixel_store **store)
{
	void *memory = NULL;

	*store = NULL;
	if (all > STORE_MOST)
		return large_memory(1, all);
	*store = pixel_store_scratch((all + STORE_STEP - 1) / STORE_STEP * STORE_STEP, &memory);
	return *store ? memory : NULL;
}

int
idat_read(const char *path, FILE *file, size_t left, struct frame *frame)
{
	const struct frame_head *head = &frame->head;
	const size_t row_bytes = head->w * head->c * sample_size(head->type);	/* fits: checked */
	const off_t here = ftello(file);
	struct packed packed = { 0 };
	struct pixel_store *store;
	size_t unpacked, rows_bytes, all;
	unsigned char *rows;
	bool done;

	if (here < CHUNK_HEAD || __builtin_mul_overflow(row_bytes + 1, head->h, &unpacked) ||
	    unpacked > IDAT_READ_MOST)
		return 0;
	/* what deflate makes of it is longer by a few bytes at most, unless it is strange */
	packed.room = unpacked + unpacked / 8 + 4096;
	packed.room = left < packed.room ? left : packed.room;
	rows_bytes = unpacked + row_bytes + 1 + 2 * UNFILTER_MARGIN;
	all = rows_bytes + packed.room + CHUNK_CRC + CHUNK_HEAD;
	rows = take_memory(all, &store);
	packed.byte = rows ? rows + rows_bytes : NULL;
	done = rows && fseeko(file, here - CHUNK_HEAD, SEEK_SET) == 0 &&
	    read_all(file, left, frame, &packed, rows, row_bytes);
	if (!store)
		free(rows);
	pixel_store_drop(store);
	if (done)
		return 1;
	clearerr(file);
	if (fseeko(file, here, SEEK_SET) < 0)
		return fail_errno(path, "cannot be read");
	return 0;
}
