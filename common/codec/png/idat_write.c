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
#define LEVEL_PLAIN 5	/* enough where filters do harm, as measured on maps of depth */

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

/* n strips that are one of `part` rows of all, or `least` bytes. */
static struct strips
strips_of(const struct image *image, size_t n, size_t part, size_t least)
{
	const size_t h = image->frame->head.h, stride = image->row_bytes + 1, all = h * stride;
	struct strips strips = { .n = n };

	strips.rows = 1 + (all / part > least ? all / part : least) / n / stride;
	if (strips.rows >= h / n)
		strips = (struct strips){ .n = 1, .rows = h };
	strips.bytes = strips.n * strips.rows * stride;
	return strips;
}

static size_t
strip_start(const struct image *image, const struct strips *strips, size_t i)
{
	return i ? i * (image->frame->head.h - strips->rows) / (strips->n - 1) : 0;
}

/* Strips of the image behind a filter. */
struct trial {
	const struct image *image;
	/* many of a few rows show noise, thicker ones repetitions */
	struct strips few, more;
	struct libdeflate_compressor *quick;
	unsigned char *rows;
};

static void
trial_rows(struct trial *trial, const struct strips *strips, enum filter filter)
{
	const size_t bytes = strips->bytes / strips->n;

	for (size_t i = 0; i < strips->n; i++) {
		size_t y = strip_start(trial->image, strips, i);

		make_rows(trial->image, y, y + strips->rows, filter, trial->rows + i * bytes);
	}
}

/* The bytes that few rows take behind a filter, their matches found by a quick search. */
static size_t
matches_of(struct trial *trial, enum filter filter)
{
	trial_rows(trial, &trial->few, filter);
	return pack(trial->quick, trial->rows, trial->few.bytes, trial->image->packed);
}

/* Those that more rows take, each strip by itself: strips of a symmetric picture are alike, but too
 * far apart in the whole for a match. */
static size_t
matches_apart(struct trial *trial, enum filter filter)
{
	const struct strips *strips = &trial->more;
	const size_t bytes = strips->bytes / strips->n;
	size_t sum = 0;

	trial_rows(trial, strips, filter);
	for (size_t i = 0; i < strips->n; i++)
		sum += pack(trial->quick, trial->rows + i * bytes, bytes, trial->image->packed);
	return sum;
}

/*
 * Do runs make least of it, as where there is noise? Up to 2.5 % more in a few strips, they are
 * shorter in the end, unless there is so little in the image that it has no noise.
 */
static bool
runs_are_least(struct trial *trial)
{
	const struct strips *few = &trial->few;
	const size_t matches = matches_of(trial, FILTER_LEAST);
	const size_t runs = pack(NULL, trial->rows, few->bytes, trial->image->packed);

	return runs > few->bytes / 16 && runs * 1000 <= matches * 1025 &&
	    runs * 1000 <= matches_of(trial, FILTER_NONE) * 1025;
}

/*
 * The filter of which least is left when matches are found. Pictures without noise often repeat
 * more behind one filter for all rows than where every row has its own; up to 2 % more in a sample,
 * unfiltered rows are shorter in the end. The margins are those of 40 captures and pictures.
 */
static enum filter
least_filter(struct trial *trial)
{
	const size_t own = matches_apart(trial, FILTER_LEAST);
	const size_t sub = matches_apart(trial, FILTER_SUB);
	const size_t up = matches_apart(trial, FILTER_UP);
	const size_t plain = matches_apart(trial, FILTER_NONE);
	const size_t one = sub < up ? sub : up;
	const size_t least = one * 100 < own * 101 ? one : own;

	if (least * 102 >= plain * 100)
		return FILTER_NONE;
	return least == own ? FILTER_LEAST : sub < up ? FILTER_SUB : FILTER_UP;
}

/* 0, or -1 after fail(). */
static int
choose_method(const struct image *image, struct method *method)
{
	struct trial trial = { .image = image, .few = strips_of(image, 8, 64, 16384),
		.more = strips_of(image, 6, 24, 32768) };
	const enum idat_method wanted = image->options->method;
	bool made;

	*method = (struct method){ wanted == IDAT_PLAIN ? FILTER_NONE : FILTER_LEAST,
		wanted == IDAT_RUNS };
	if (wanted < IDAT_LEAST_MATCHES)
		return 0;
	trial.quick = libdeflate_alloc_compressor(LEVEL_SAMPLE);
	trial.rows = malloc((trial.few.bytes > trial.more.bytes ? trial.few.bytes :
	    trial.more.bytes) + FILTER_MARGIN);
	made = trial.quick && trial.rows;
	if (made && wanted == IDAT_LEAST)
		method->runs = runs_are_least(&trial);
	if (made && !method->runs)
		method->filter = least_filter(&trial);
	free(trial.rows);
	libdeflate_free_compressor(trial.quick);
	return made ? 0 : fail_memory();
}

/* All rows become an IDAT chunk; its length, 0 after fail(). */
static size_t
make_chunk(const struct image *image, size_t all)
{
	struct libdeflate_compressor *compressor = NULL;
	int level = image->options->level;
	unsigned char *to = image->packed;
	struct method method;
	size_t n;

	if (choose_method(image, &method) < 0)
		return 0;
	if (method.filter == FILTER_NONE && image->options->method == IDAT_LEAST)
		level = level < LEVEL_PLAIN ? level : LEVEL_PLAIN;
	make_rows(image, 0, image->frame->head.h, method.filter, image->rows);
	if (!method.runs && !(compressor = libdeflate_alloc_compressor(level))) {
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
	bool zeroed;
	int status = -1;

	if (__builtin_mul_overflow(image.row_bytes + 1, head->h, &all) || all > IDAT_WRITE_MOST)
		return 0;
	/* kept for the next image: malloc() would give it back to the kernel */
	packed = CHUNK_HEAD + packed_room(all) + CHUNK_CRC;
	store = pixel_store_new(packed + all + FILTER_MARGIN, 1, &memory, &zeroed);
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
