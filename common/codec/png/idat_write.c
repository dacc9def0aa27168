#include "codec/png/idat_write.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/png/deflate_runs.h"
#include "codec/png/filter.h"
#include "frame/samples.h"

#define CHUNK_HEAD 8	/* length and type */
#define CHUNK_CRC 4
#define LEVEL_SAMPLE 3
#define LEVEL_PLAIN 5	/* enough where filters do harm, as measured on maps of depth */
#define STRIPS 8	/* of 4, few may show what the image holds */
#define SAMPLE_LEAST 32768	/* bytes: what matches are searched for in */

static void
put_big_endian(unsigned char *at, size_t v)
{
	for (int i = 0; i < 4; i++)
		at[i] = (unsigned char)(v >> (24 - 8 * i));
}

/* Row y of the frame as PNG has it. */
static void
take_row(const struct frame *frame, size_t y, bool one_bit, unsigned char *to)
{
	const size_t w = frame->head.w;

	if (one_bit) {
		const unsigned char *from = frame_row(frame, 0, y);

		memset(to, 0, (w + 7) / 8);
		for (size_t x = 0; x < w; x++)
			to[x / 8] |= (unsigned char)(from[x] << (7 - x % 8));
		return;
	}
	samples_join(frame, y, to);
	if (frame->head.type == SAMPLE_USHORT)
		samples_swap16(to, w * frame->head.c);
}

/* The image while it is written. */
struct image {
	const struct frame *frame;
	const struct idat_options *options;
	size_t row_bytes;		/* without the filter's */
	unsigned char *lines;		/* two rows with margins, zero at first */
	unsigned char *rows;		/* all rows as they are packed */
	unsigned char *packed;		/* the IDAT chunk */
};

/* Rows y0 to y1, filtered. */
static void
filter_rows(const struct image *image, size_t y0, size_t y1, unsigned char *to)
{
	const struct frame_head *head = &image->frame->head;
	const size_t pixel_bytes = head->c * sample_size(head->type), n = image->row_bytes;
	unsigned char *row = image->lines + FILTER_MARGIN, *above = row + n + 2 * FILTER_MARGIN;

	if (y0)
		take_row(image->frame, y0 - 1, false, above);
	else
		memset(above, 0, n);
	for (size_t y = y0; y < y1; y++, to += n + 1) {
		unsigned char *last = above;

		take_row(image->frame, y, false, row);
		filter_best(row, above, n, pixel_bytes, to);
		above = row;
		row = last;
	}
}

/* Rows y0 to y1 without filters. */
static void
copy_rows(const struct image *image, size_t y0, size_t y1, unsigned char *to)
{
	for (size_t y = y0; y < y1; y++, to += image->row_bytes + 1) {
		*to = 0;
		take_row(image->frame, y, image->options->one_bit, to + 1);
	}
}

/* ---- packing ---- */

/* The bytes of a zlib stream of n bytes at `to`, which has room for packed_room(n). A compressor
 * that is NULL: runs. */
static size_t
pack(struct libdeflate_compressor *compressor, const unsigned char *from, size_t n,
    unsigned char *to)
{
	return !compressor ? deflate_runs(from, n, to) : libdeflate_zlib_compress(compressor, from,
	    n, to, libdeflate_zlib_compress_bound(compressor, n));
}

static size_t
packed_room(size_t n)
{
	size_t runs = deflate_runs_most(n), matches = libdeflate_zlib_compress_bound(NULL, n);

	return runs > matches ? runs : matches;
}

/* Strips of rows from all over the image. */
struct strips {
	size_t n, rows, bytes;		/* of each: rows; of all: bytes */
};

/* A sixteenth of all rows, or SAMPLE_LEAST bytes. */
static struct strips
strips_of(const struct image *image)
{
	const size_t h = image->frame->head.h, stride = image->row_bytes + 1, all = h * stride;
	struct strips strips = { .n = STRIPS };

	strips.rows = 1 + (all / 16 > SAMPLE_LEAST ? all / 16 : SAMPLE_LEAST) / STRIPS / stride;
	if (strips.rows >= h / STRIPS)
		strips = (struct strips){ .n = 1, .rows = h };
	strips.bytes = strips.n * strips.rows * stride;
	return strips;
}

static size_t
strip_start(const struct image *image, const struct strips *strips, size_t i)
{
	return i ? i * (image->frame->head.h - strips->rows) / (strips->n - 1) : 0;
}

/*
 * The method that makes least of a sample. Matches are searched for at a level that is quick. The
 * margins are those of 30 captures and pictures: up to 1 % more in a sample, runs are shorter in
 * the end, unless there is so little in the image that it has no noise; up to 2 % more, unfiltered
 * rows are.
 */
static int
least_method(const struct image *image, enum idat_method *method)
{
	const struct strips strips = strips_of(image);
	const size_t stride = image->row_bytes + 1, bytes = strips.rows * stride;
	struct libdeflate_compressor *quick = libdeflate_alloc_compressor(LEVEL_SAMPLE);
	unsigned char *sample = malloc(strips.bytes + FILTER_MARGIN);
	size_t runs = 0, matches = 0, plain = 0;
	bool made = sample && quick;

	if (made) {
		for (size_t i = 0; i < strips.n; i++) {
			size_t y = strip_start(image, &strips, i);

			filter_rows(image, y, y + strips.rows, sample + i * bytes);
		}
		runs = pack(NULL, sample, strips.bytes, image->packed);
		matches = pack(quick, sample, strips.bytes, image->packed);
		for (size_t i = 0; i < strips.n; i++) {
			size_t y = strip_start(image, &strips, i);

			copy_rows(image, y, y + strips.rows, sample + i * bytes);
		}
		plain = pack(quick, sample, strips.bytes, image->packed);
	}
	free(sample);
	libdeflate_free_compressor(quick);
	if (!made)
		return fail_memory();
	*method = matches * 102 < plain * 100 ? IDAT_MATCHES : IDAT_PLAIN;
	if (image->options->method == IDAT_LEAST && runs > strips.bytes / 16 &&
	    runs * 100 <= (matches < plain ? matches : plain) * 101)
		*method = IDAT_RUNS;
	return 0;
}

/* All rows become an IDAT chunk; its length, 0 after fail(). */
static size_t
make_chunk(const struct image *image, size_t all)
{
	enum idat_method method = image->options->method;
	struct libdeflate_compressor *compressor = NULL;
	int level = image->options->level;
	unsigned char *to = image->packed;
	size_t n;

	if (method >= IDAT_LEAST_MATCHES && least_method(image, &method) < 0)
		return 0;
	if (method == IDAT_PLAIN && image->options->method == IDAT_LEAST)
		level = level < LEVEL_PLAIN ? level : LEVEL_PLAIN;
	if (method == IDAT_PLAIN)
		copy_rows(image, 0, image->frame->head.h, image->rows);
	else
		filter_rows(image, 0, image->frame->head.h, image->rows);
	if (method != IDAT_RUNS && !(compressor = libdeflate_alloc_compressor(level))) {
		fail_memory();
		return 0;
	}
	n = pack(compressor, image->rows, all, to + CHUNK_HEAD);
	libdeflate_free_compressor(compressor);
	put_big_endian(to, n);
	memcpy(to + 4, "IDAT", 4);
	put_big_endian(to + CHUNK_HEAD + n, libdeflate_crc32(0, to + 4, n + 4));
	return CHUNK_HEAD + n + CHUNK_CRC;
}

int
idat_write(const char *path, FILE *file, const struct frame *frame,
    const struct idat_options *options)
{
	static const unsigned char end[] = "\0\0\0\0IEND\xae\x42\x60\x82";
	const struct frame_head *head = &frame->head;
	struct image image = { .frame = frame, .options = options,
		.row_bytes = options->one_bit ? (head->w + 7) / 8 :
		    head->w * head->c * sample_size(head->type) };
	size_t all, n;
	int status = -1;

	if (__builtin_mul_overflow(image.row_bytes + 1, head->h, &all) || all > IDAT_WRITE_MOST)
		return 0;
	image.lines = calloc(2, image.row_bytes + 2 * FILTER_MARGIN);
	image.rows = malloc(all + FILTER_MARGIN);
	image.packed = malloc(CHUNK_HEAD + packed_room(all) + CHUNK_CRC);
	if (!image.lines || !image.rows || !image.packed)
		fail_memory();
	else if ((n = make_chunk(&image, all)) > 0)
		status = samples_write(path, file, image.packed, n) < 0 ||
		    samples_write(path, file, end, sizeof(end) - 1) < 0 ? -1 : 1;
	free(image.lines);
	free(image.rows);
	free(image.packed);
	return status;
}
