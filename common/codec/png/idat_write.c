#include "codec/png/idat_write.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/png/deflate_runs.h"
#include "codec/png/filter.h"
#include "frame/pixel_store.h"
#include "frame/samples.h"

#define CHUNK_HEAD 8	/* length and type */
#define CHUNK_CRC 4
#define LEVEL_SAMPLE 3
#define TRIAL_STRIPS 6
#define TRIAL_ROWS 5		/* of a strip, at least: what is repeated lies in the row above */
#define TRIAL_LEAST 32768	/* bytes of a sample, at least */
#define TRIAL_THICK 64		/* rows of one that stands alone, at least */
#define LITTLE 12		/* no more than this part of the sample is left */

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
filter_rows(const struct image *image, size_t y0, size_t y1, enum filter filter, unsigned char *to)
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
		filter_row(row, above, n, pixel_bytes, filter, to);
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

/* How the pixels are packed. */
struct method {
	enum filter filter;
	bool runs;		/* no search for matches: deflate_runs.h */
};

static void
make_rows(const struct image *image, size_t y0, size_t y1, enum filter filter, unsigned char *to)
{
	if (filter == FILTER_NONE)
		copy_rows(image, y0, y1, to);
	else
		filter_rows(image, y0, y1, filter, to);
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

/* n strips, together of so many bytes or more, each of so many rows or more. */
static struct strips
strips_of(const struct image *image, size_t n, size_t rows, size_t bytes)
{
	const size_t h = image->frame->head.h, stride = image->row_bytes + 1;
	struct strips strips = { n, 1 + bytes / n / stride, 0 };

	if (strips.rows < rows)
		strips.rows = rows;
	if (strips.rows >= h / strips.n)
		strips = (struct strips){ .n = 1, .rows = h };
	strips.bytes = strips.n * strips.rows * stride;
	return strips;
}

/* In the middle of its part of the image: the border of many shows nothing. */
static size_t
strip_start(const struct image *image, const struct strips *strips, size_t i)
{
	const size_t left = image->frame->head.h - strips->rows;

	return (2 * i + 1) * left / (2 * strips->n);
}

/* A sample of the image, behind a filter. */
struct trial {
	const struct image *image;
	struct strips strips, thick;
	struct libdeflate_compressor *quick;
	unsigned char *rows;
};

static void
trial_rows(struct trial *trial, enum filter filter)
{
	const struct strips *strips = &trial->strips;
	const size_t bytes = strips->bytes / strips->n;

	for (size_t i = 0; i < strips->n; i++) {
		size_t y = strip_start(trial->image, strips, i);

		make_rows(trial->image, y, y + strips->rows, filter, trial->rows + i * bytes);
	}
}

/* The bytes that the sample takes, each strip by itself: strips of a symmetric picture are alike,
 * but too far apart in the whole for a match. A compressor that is NULL: runs. */
static size_t
packed_apart(struct trial *trial, struct libdeflate_compressor *compressor)
{
	const struct strips *strips = &trial->strips;
	const size_t bytes = strips->bytes / strips->n;
	size_t sum = 0;

	for (size_t i = 0; i < strips->n; i++)
		sum += pack(compressor, trial->rows + i * bytes, bytes, trial->image->packed);
	return sum;
}

/* Those that it takes behind a filter, its matches found by a quick search. Of a thick strip the
 * second half: the whole image has its first rows but once. */
static size_t
matches_of(struct trial *trial, enum filter filter)
{
	const size_t stride = trial->image->row_bytes + 1;
	size_t first = 0;

	trial_rows(trial, filter);
	if (trial->strips.n == 1 && trial->strips.rows < trial->image->frame->head.h)
		first = pack(trial->quick, trial->rows, trial->strips.rows / 2 * stride,
		    trial->image->packed);
	return packed_apart(trial, trial->quick) - first;
}

/*
 * The filter of which least is left when matches are found. Pictures without noise often repeat
 * more behind one filter for all rows than where every row has its own; up to 2 % more in a sample,
 * unfiltered rows are shorter in the end. The margins are those of 40 captures and pictures.
 */
static enum filter
least_filter(struct trial *trial, size_t own, size_t plain, bool paeth_too)
{
	const enum filter others[] = { FILTER_SUB, FILTER_UP, FILTER_PAETH };
	enum filter least = FILTER_LEAST, one = FILTER_SUB;
	size_t bytes = own, one_bytes = SIZE_MAX;

	for (size_t i = 0; i < (paeth_too ? 3 : 2); i++) {
		const size_t matches = matches_of(trial, others[i]);

		if (matches < one_bytes) {
			one_bytes = matches;
			one = others[i];
		}
	}
	if (one_bytes * 100 < own * 101) {
		bytes = one_bytes;
		least = one;
	}
	return bytes * 102 >= plain * 100 ? FILTER_NONE : least;
}

/*
 * Do runs make least of it, as where there is noise? Not where there is so little in the image that
 * it has no noise.
 */
static bool
runs_are_least(struct trial *trial, size_t matches, size_t plain)
{
	size_t runs;

	trial_rows(trial, FILTER_LEAST);
	runs = packed_apart(trial, NULL);
	return runs > trial->strips.bytes / 16 && runs * 1000 <= matches * 975 &&
	    runs * 1000 <= plain * 975;
}

static void
try_methods(struct trial *trial, bool may_be_runs, struct method *method)
{
	size_t own = matches_of(trial, FILTER_LEAST), plain;
	const bool little = own * LITTLE < trial->strips.bytes;

	/* the first rows of a strip are most of it then; a thick one tells more */
	if (little) {
		trial->strips = trial->thick;
		own = matches_of(trial, FILTER_LEAST);
	}
	plain = matches_of(trial, FILTER_NONE);
	method->runs = may_be_runs && !little && runs_are_least(trial, own, plain);
	if (!method->runs)
		method->filter = least_filter(trial, own, plain, little);
}

/* 0, or -1 after fail(). */
static int
choose_method(const struct image *image, struct method *method)
{
	const size_t all = image->frame->head.h * (image->row_bytes + 1);
	struct trial trial = { .image = image, .thick = strips_of(image, 1, TRIAL_THICK, all / 16),
		.strips = strips_of(image, TRIAL_STRIPS, TRIAL_ROWS,
		    all / 24 > TRIAL_LEAST ? all / 24 : TRIAL_LEAST) };
	const enum idat_method wanted = image->options->method;
	bool made;

	*method = (struct method){ wanted == IDAT_PLAIN ? FILTER_NONE : FILTER_LEAST,
		wanted == IDAT_RUNS };
	if (wanted < IDAT_LEAST_MATCHES)
		return 0;
	trial.quick = libdeflate_alloc_compressor(LEVEL_SAMPLE);
	trial.rows = malloc((trial.thick.bytes > trial.strips.bytes ? trial.thick.bytes :
	    trial.strips.bytes) + FILTER_MARGIN);
	made = trial.quick && trial.rows;
	if (made)
		try_methods(&trial, wanted == IDAT_LEAST, method);
	libdeflate_free_compressor(trial.quick);
	free(trial.rows);
	return made ? 0 : fail_memory();
}

/* All rows become an IDAT chunk; its length, 0 after fail(). */
static size_t
make_chunk(const struct image *image, size_t all)
{
	struct libdeflate_compressor *compressor = NULL;
	unsigned char *to = image->packed;
	struct method method;
	size_t n;

	if (choose_method(image, &method) < 0)
		return 0;
	make_rows(image, 0, image->frame->head.h, method.filter, image->rows);
	if (!method.runs && !(compressor = libdeflate_alloc_compressor(image->options->level))) {
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
	struct pixel_store *store;
	size_t all, n, packed;
	void *memory;
	int status = -1;

	if (__builtin_mul_overflow(image.row_bytes + 1, head->h, &all) || all > IDAT_WRITE_MOST)
		return 0;
	/* kept for the next image: malloc() would give it back to the kernel */
	packed = CHUNK_HEAD + packed_room(all) + CHUNK_CRC;
	store = pixel_store_scratch(packed + all + FILTER_MARGIN, &memory);
	image.lines = calloc(2, image.row_bytes + 2 * FILTER_MARGIN);
	image.packed = store ? memory : NULL;
	image.rows = store ? image.packed + packed : NULL;
	if (!image.lines || !store)
		fail_memory();
	else if ((n = make_chunk(&image, all)) > 0)
		status = samples_write(path, file, image.packed, n) < 0 ||
		    samples_write(path, file, end, sizeof(end) - 1) < 0 ? -1 : 1;
	free(image.lines);
	pixel_store_drop(store);
	return status;
}
