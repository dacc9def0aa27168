/* Pixels of PNG files: a sample of the rows chooses filter and search, then all rows are packed. */
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
#define LEVEL_SAMPLE_REPEATED 4
#define LEVEL_SAMPLE_NOISE 5
#define TRIAL_STRIPS 6
#define FAST_STRIPS 2
#define FAST_LEAST 131072		/* bytes of an image whose sample is worth its time */
#define TRIAL_ROWS 5		/* of a strip, at least: what is repeated lies in the row above */
#define TRIAL_LEAST 32768	/* bytes of a sample, at least */
#define TRIAL_WHOLE 33000	/* the most bytes of an image that is its own sample */
#define THICK_STRIPS 2		/* where much is repeated */
#define THICK_ROWS 24		/* of each, at least */
#define REPEATED_LEAVES 850	/* thousandths, at most, for the level of what repeats */
#define LITTLE 12		/* no more than this part of the sample is left */
#define LITTLE_FOR_LEVEL 30	/* so little that a longer search costs no time */
#define LITTLE_RUNS 6		/* likewise, of runs, where a sample of matches is worth its time */

static void
put_big_endian(unsigned char *at, size_t v)
{
	for (int i = 0; i < 4; i++)
		at[i] = (unsigned char)(v >> (24 - 8 * i));
}

/* n zeros and ones, eight to a byte, the first one highest. */
static void
join_bits(const unsigned char *from, size_t n, unsigned char *to)
{
	size_t x = 0;

	for (; x + 8 <= n; x += 8) {
		uint64_t eight;

		memcpy(&eight, from + x, 8);
		/* byte i comes to bit 63 - i, and no two bits to the same place */
		*to++ = (unsigned char)((eight * 0x8040201008040201) >> 56);
	}
	if (x < n)
		*to = 0;
	for (size_t bit = 0; x < n; x++, bit++)
		*to |= (unsigned char)(from[x] << (7 - bit));
}

/* Row y of the frame as PNG has it. */
static void
take_row(const struct frame *frame, size_t y, bool one_bit, unsigned char *to)
{
	const size_t w = frame->head.w;

	if (one_bit) {
		const unsigned char *from = frame_row(frame, 0, y);

		join_bits(from, w, to);
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

/* Rows y0 to y1, filtered. Above the first of all is nothing: it has the filter that suits it. */
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
		filter_row(row, above, n, pixel_bytes, y ? filter : FILTER_LEAST, to);
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
	int level;		/* of that search */
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
	size_t lead;			/* the first rows of each, which the whole image has once */
};

/* n strips, each of so many rows or, if they do not fit, one of all rows. */
static struct strips
strips_of(const struct image *image, size_t n, size_t rows)
{
	const size_t h = image->frame->head.h;
	struct strips strips = { .n = n, .rows = rows };

	if (rows >= h / n)
		strips = (struct strips){ .n = 1, .rows = h };
	strips.bytes = strips.n * strips.rows * (image->row_bytes + 1);
	return strips;
}

/* Thin ones; of a small image one of all rows. */
static struct strips
thin_strips(const struct image *image, size_t all)
{
	const size_t stride = image->row_bytes + 1;
	const size_t least = all / 3 < TRIAL_LEAST ? all / 3 : TRIAL_LEAST;
	const size_t rows = 1 + (all / 24 > least ? all / 24 : least) / stride;
	const size_t n = all < 4 * TRIAL_LEAST ? TRIAL_STRIPS / 2 : TRIAL_STRIPS;

	if (all < TRIAL_WHOLE)
		return strips_of(image, 1, image->frame->head.h);
	return strips_of(image, n, rows / n < TRIAL_ROWS ? TRIAL_ROWS : 1 + rows / n);
}

/* Strips of which all but the first rows show what a row takes behind many others. Of a small image
 * one of half of it, of which all counts: the first rows are much of the image. */
static struct strips
thick_strips(const struct image *image, size_t n)
{
	const size_t h = image->frame->head.h;
	const size_t rows = h / 64 > THICK_ROWS ? h / 64 : THICK_ROWS;
	struct strips strips;

	if (n * rows > h / 2)
		return strips_of(image, 1, h < THICK_ROWS ? h : h / 2);
	strips = strips_of(image, n, rows);
	strips.lead = rows / 3;
	return strips;
}

/* Fewer and thinner than others. */
static struct strips
fast_strips(const struct image *image, const struct strips *others)
{
	const size_t rows = others->rows / 3;

	return strips_of(image, FAST_STRIPS, rows < TRIAL_ROWS ? TRIAL_ROWS : rows);
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
	struct strips strips;
	struct libdeflate_compressor *quick;
	unsigned char *rows;
	size_t own, plain;		/* of FILTER_LEAST and FILTER_NONE: bytes by quick */
	size_t part[TRIAL_STRIPS];	/* of FILTER_LEAST after each strip */
	size_t first[FILTER_LEAST + 1];	/* of each filter after the first strip */
};

static unsigned char *
strip_rows(const struct trial *trial, size_t i, enum filter filter)
{
	const struct strips *strips = &trial->strips;
	const size_t y = strip_start(trial->image, strips, i);
	unsigned char *rows = trial->rows + i * (strips->bytes / strips->n);

	make_rows(trial->image, y, y + strips->rows, filter, rows);
	return rows;
}

/* The bytes of a strip, each by itself: strips of a symmetric picture are alike, but too far apart
 * in the whole for a match. A compressor that is NULL: runs. Where the first rows stand apart, the
 * bytes of the whole image: of these rows, and of the others, which are more there. */
static size_t
packed_strip(const struct trial *trial, struct libdeflate_compressor *compressor,
    const unsigned char *rows)
{
	const struct strips *strips = &trial->strips;
	const size_t h = trial->image->frame->head.h, stride = trial->image->row_bytes + 1;
	unsigned char *to = trial->image->packed;
	size_t bytes = pack(compressor, rows, strips->rows * stride, to), lead;

	if (!strips->lead)
		return bytes;
	lead = pack(compressor, rows, strips->lead * stride, to);
	/* all may take less than the first, as libdeflate parts them into other blocks */
	bytes = bytes > lead ? bytes - lead : 0;
	return (lead + bytes * (h - strips->lead) / (strips->rows - strips->lead)) / strips->n;
}

/* Of how many bytes packed_strip() tells, all strips together. */
static size_t
counted_bytes(const struct trial *trial)
{
	return trial->strips.lead ? trial->image->frame->head.h * (trial->image->row_bytes + 1) :
	    trial->strips.bytes;
}

/* The bytes of the sample behind a filter, matches found by a quick search. Another filter than
 * FILTER_LEAST that leaves an eighth more than it of the first strips is tried no further. */
static size_t
matches_of(struct trial *trial, enum filter filter)
{
	const size_t n = trial->strips.n, first = n / 3;
	size_t bytes = 0;

	for (size_t i = 0; i < n; i++) {
		bytes += packed_strip(trial, trial->quick, strip_rows(trial, i, filter));
		if (i == 0)
			trial->first[filter] = bytes;
		if (filter == FILTER_LEAST)
			trial->part[i] = bytes;
		else if (i + 1 < n && i + 1 >= first && bytes * 8 > trial->part[i] * 9)
			return bytes * trial->part[n - 1] / (trial->part[i] + 1);
	}
	return bytes;
}

static size_t
runs_of(struct trial *trial, enum filter filter)
{
	size_t bytes = 0;

	for (size_t i = 0; i < trial->strips.n; i++)
		bytes += packed_strip(trial, NULL, strip_rows(trial, i, filter));
	return bytes;
}

/* The filter that all rows but a few have now, or FILTER_LEAST. */
static enum filter
common_filter(const struct trial *trial)
{
	const size_t rows = trial->strips.n * trial->strips.rows;
	size_t n[FILTER_LEAST] = { 0 };

	for (size_t y = 0; y < rows; y++)
		n[trial->rows[y * (trial->image->row_bytes + 1)]]++;
	for (enum filter filter = FILTER_NONE; filter < FILTER_LEAST; filter++)
		if (n[filter] * 16 >= rows * 15)
			return filter;
	return FILTER_LEAST;
}

/*
 * The filter of which least is left when matches are found, and what is left of the sample.
 * Pictures without noise often repeat more behind one filter for all rows than where every row has
 * its own; up to 2 % more in a sample, unfiltered rows are shorter in the end. The margins are
 * those of 40 captures and pictures. common: of the rows behind FILTER_LEAST.
 */
static size_t
least_filter(struct trial *trial, enum filter common, bool paeth_too, struct method *method)
{
	const enum filter others[] = { FILTER_SUB, FILTER_UP, FILTER_PAETH };
	const size_t own = trial->own;
	enum filter one = common;
	/* the one that most rows have by themselves, unless another leaves 2 % less */
	size_t bytes = own, one_bytes = common == FILTER_LEAST ? SIZE_MAX : own - own / 50;

	for (size_t i = 0; i < (paeth_too ? 3 : 2); i++) {
		const size_t matches = others[i] == common ? own : matches_of(trial, others[i]);

		if (matches < one_bytes) {
			one_bytes = matches;
			one = others[i];
		}
	}
	if (one == common && common != FILTER_LEAST)
		one_bytes = own;
	method->filter = FILTER_LEAST;
	if (one_bytes < own + own / 100) {
		bytes = one_bytes;
		method->filter = one;
	}
	if (bytes * 102 < trial->plain * 100)
		return bytes;
	method->filter = FILTER_NONE;
	return trial->plain;
}

/* Another level of the search; 0, or -1: no memory. */
static int
set_level(struct trial *trial, int level)
{
	libdeflate_free_compressor(trial->quick);
	trial->quick = libdeflate_alloc_compressor(level);
	return trial->quick ? 0 : -1;
}

/* What a longer search leaves of the first n strips, in thousandths of what the quick one left; -1:
 * no memory. */
static long
longer_leaves(const struct trial *trial, int level, enum filter filter, size_t n, size_t quick)
{
	struct libdeflate_compressor *longer = libdeflate_alloc_compressor(level);
	size_t bytes = 0;

	for (size_t i = 0; longer && i < n; i++)
		bytes += packed_strip(trial, longer, strip_rows(trial, i, filter));
	libdeflate_free_compressor(longer);
	return longer ? (long)(bytes * 1000 / (quick + 1)) : -1;
}

/*
 * Do runs make least of it, as where there is noise? Not where there is so little in the image that
 * it has no noise. Matches of noise are accidents, of which a longer search finds no better ones,
 * and which save less in the whole than in a sample. 1: yes; -1: no memory.
 */
static int
runs_are_least(struct trial *trial)
{
	const size_t runs = runs_of(trial, FILTER_LEAST), some = 1 + trial->strips.n / 3;
	long leaves;

	if (runs <= trial->strips.bytes / 16 || runs * 1000 > trial->plain * 975 ||
	    runs * 1000 > trial->own * 990)
		return 0;
	if (runs * 1000 <= trial->own * 975)
		return 1;
	leaves = longer_leaves(trial, LEVEL_SAMPLE_NOISE, FILTER_LEAST, some,
	    trial->part[some - 1]);
	return leaves < 0 ? -1 : leaves >= 997;
}

/* By the thick strips: of what repeats so much the first rows of a thin one are the most. */
static int
try_repeated(struct trial *trial, const struct strips *thick, struct method *method)
{
	const struct idat_options *options = trial->image->options;
	enum filter common;
	size_t least;
	long leaves = 0;

	if (set_level(trial, LEVEL_SAMPLE_REPEATED) < 0)
		return -1;
	trial->strips = *thick;
	trial->own = matches_of(trial, FILTER_LEAST);
	common = common_filter(trial);
	trial->plain = matches_of(trial, FILTER_NONE);
	least = least_filter(trial, common, true, method);
	if (options->few_levels && options->method == IDAT_LEAST &&
	    runs_of(trial, FILTER_LEAST) < least) {
		method->runs = true;
		method->filter = FILTER_LEAST;
	} else if (!options->few_levels && least * LITTLE_FOR_LEVEL > counted_bytes(trial)) {
		leaves = longer_leaves(trial, options->level_repeated, method->filter, 1,
		    trial->first[method->filter == common ? FILTER_LEAST : method->filter]);
	}
	if (leaves >= 0 && leaves <= REPEATED_LEAVES)
		method->level = options->level_repeated;
	return leaves < 0 ? -1 : 0;
}

static int
try_methods(struct trial *trial, const struct strips *thick, struct method *method)
{
	const struct idat_options *options = trial->image->options;
	int runs = 0;

	trial->own = matches_of(trial, FILTER_LEAST);
	if (trial->own * LITTLE < trial->strips.bytes)
		return try_repeated(trial, thick, method);
	trial->plain = matches_of(trial, FILTER_NONE);
	if (options->method == IDAT_LEAST && !options->few_levels)
		runs = runs_are_least(trial);
	if (runs < 0)
		return -1;
	method->runs = runs;
	if (!runs)
		least_filter(trial, FILTER_LEAST, false, method);
	return 0;
}

/*
 * Runs, which take half the time of matches, unless these leave far less also without a filter, by
 * which others write in little time. Dithered pictures repeat patterns, not bytes: of them what
 * leaves less.
 */
static int
try_fast(struct trial *trial, struct method *method)
{
	const struct idat_options *options = trial->image->options;
	size_t runs = runs_of(trial, FILTER_LEAST), plain_runs, least;
	bool little;

	method->runs = true;
	if (!options->few_levels && runs * LITTLE_RUNS > trial->strips.bytes)
		return 0;
	trial->own = matches_of(trial, FILTER_LEAST);
	trial->plain = matches_of(trial, FILTER_NONE);
	least = trial->own < trial->plain ? trial->own : trial->plain;
	little = least * LITTLE < counted_bytes(trial);
	if (!options->few_levels && !(little && least * 2 < runs && trial->plain < runs))
		return 0;
	plain_runs = options->few_levels ? runs_of(trial, FILTER_NONE) : SIZE_MAX;
	if (least < runs && least < plain_runs) {
		method->runs = false;
		method->filter = trial->own * 100 < trial->plain * 90 ? FILTER_LEAST : FILTER_NONE;
		method->level = little ? options->level_repeated : options->level;
	} else if (plain_runs < runs) {
		method->filter = FILTER_NONE;
	}
	return 0;
}

/* 0, or -1 after fail(). */
static int
choose_method(const struct image *image, struct method *method)
{
	const size_t all = image->frame->head.h * (image->row_bytes + 1);
	const struct strips thick = thick_strips(image, THICK_STRIPS);
	const enum idat_method wanted = image->options->method;
	struct trial trial = { .image = image, .strips = thin_strips(image, all) };
	int status = -1;

	*method = (struct method){ wanted == IDAT_PLAIN ? FILTER_NONE : FILTER_LEAST, false,
		image->options->level };
	method->runs = wanted == IDAT_FAST && !image->options->few_levels && all < FAST_LEAST;
	if (wanted == IDAT_PLAIN || method->runs)
		return 0;
	if (wanted == IDAT_FAST && image->options->few_levels)
		trial.strips = thick_strips(image, 1);
	else if (wanted == IDAT_FAST)
		trial.strips = fast_strips(image, &trial.strips);
	trial.quick = libdeflate_alloc_compressor(LEVEL_SAMPLE);
	trial.rows = malloc((thick.bytes > trial.strips.bytes ? thick.bytes : trial.strips.bytes) +
	    FILTER_MARGIN);
	if (trial.quick && trial.rows)
		status = wanted == IDAT_FAST ? try_fast(&trial, method) :
		    try_methods(&trial, &thick, method);
	libdeflate_free_compressor(trial.quick);
	free(trial.rows);
	return status < 0 ? fail_memory() : 0;
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
	if (!method.runs && !(compressor = libdeflate_alloc_compressor(method.level))) {
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
