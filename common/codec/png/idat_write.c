#include "codec/png/idat_write.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/png/deflate_runs.h"
#include "codec/png/idat_sample.h"
#include "codec/png/idat_trial.h"
#include "frame/pixel_store.h"
#include "frame/samples.h"

#define CHUNK_HEAD 8	/* length and type */
#define CHUNK_CRC 4
#define TINY 4096	/* bytes of an image: below, zlib with its smaller tables is sooner done */
#define SMALL 66000	/* bytes, at most, of an image that is packed whole by every method */
/* Runs leave no more than this part of a small image where much is repeated. */
#define LITTLE 4
#define LITTLE_FAST 5		/* and where matches are worth their time in a fast one */
#define REPEATED 75		/* hundredths of words in an image where no filter leaves least, */
#define REPEATED_FAST 50	/* and where it leaves less than runs do */
#define LEVEL_MIDDLE 1	/* of the search that tells where a filter leaves less all the same */
/* Matches are looked for without filter where runs of unfiltered rows take no more percent of
 * filtered ones. */
#define PLAIN_PERCENT 125

static void
put_big_endian(unsigned char *at, size_t v)
{
	for (int i = 0; i < 4; i++)
		at[i] = (unsigned char)(v >> (24 - 8 * i));
}

static size_t
pack_large(const struct idat_image *image)
{
	struct idat_packing method;

	if (idat_sample_packing(image, &method) < 0)
		return 0;
	idat_image_rows(image, 0, image->frame->head.h, method.filter, image->rows);
	return idat_image_pack(image, &method, image->packed + CHUNK_HEAD);
}

/* ---- small images: all of them is packed by each method that may leave least ---- */

struct attempts {
	const struct idat_image *image;
	size_t least;			/* bytes, which lie at `at`; 0 at first */
	unsigned char *at, *other;
	enum filter rows;		/* of what lies in the image's rows now */
	bool any_rows;			/* do all of them lie there? */
};

/* Its bytes, 0 after fail(). */
static size_t
attempt(struct attempts *attempts, enum filter filter, bool runs, int level)
{
	const struct idat_image *image = attempts->image;
	const struct idat_packing method = { filter, runs, level };
	unsigned char *at = attempts->other;
	size_t n;

	if (!attempts->any_rows || attempts->rows != filter)
		idat_image_rows(image, 0, image->frame->head.h, filter, image->rows);
	attempts->any_rows = true;
	attempts->rows = filter;
	n = idat_image_pack(image, &method, at);
	if (n && (!attempts->least || n < attempts->least)) {
		attempts->other = attempts->at;
		attempts->at = at;
		attempts->least = n;
	}
	return n;
}

/* Filters rows in the middle of the image; how many. */
static size_t
middle_rows(struct attempts *attempts, enum filter filter)
{
	const struct idat_image *image = attempts->image;
	const size_t h = image->frame->head.h, rows = h < 32 ? h : h / 4, y = (h - rows) / 2;

	idat_image_rows(image, y, y + rows, filter, image->rows);
	attempts->any_rows = false;
	return rows;
}

/* The bytes of runs of these. */
static size_t
middle_runs(struct attempts *attempts, enum filter filter)
{
	const struct idat_image *image = attempts->image;
	const size_t rows = middle_rows(attempts, filter);

	return deflate_runs(image->rows, rows * (image->row_bytes + 1), attempts->other);
}

/* Of few levels: matches, behind a filter where that leaves less of runs, too. */
static int
attempt_few(struct attempts *attempts)
{
	const struct idat_image *image = attempts->image;
	enum filter filter = FILTER_LEAST;

	if (image->options->method == IDAT_FAST && image->bytes < TINY)
		return attempt(attempts, filter, true, 0) ? 0 : -1;
	if (middle_runs(attempts, filter) * 100 >= middle_runs(attempts, FILTER_NONE) * 90)
		filter = FILTER_NONE;
	return attempt(attempts, filter, false, image->options->level) ? 0 : -1;
}

/* Do matches behind a filter leave less of rows in the middle than their share of so many bytes? */
static bool
filter_leaves_less(struct attempts *attempts, size_t bytes)
{
	const struct idat_image *image = attempts->image;
	struct libdeflate_compressor *compressor = compressor_take(LEVEL_MIDDLE);
	size_t rows, n;

	if (!compressor)
		return true;	/* the attempt says that memory is short */
	rows = middle_rows(attempts, FILTER_LEAST);
	n = idat_image_deflate(compressor, image->rows, rows * (image->row_bytes + 1),
	    attempts->other);
	compressor_give(compressor, LEVEL_MIDDLE);
	return n * image->frame->head.h < bytes * rows;
}

/* Runs, and matches: without filter where rows repeat far apart, unless they do more behind a
 * filter, or where runs say that a filter takes little away. */
static int
attempt_all(struct attempts *attempts)
{
	const struct idat_options *options = attempts->image->options;
	const bool fast = options->method == IDAT_FAST;
	const size_t all = attempts->image->bytes;
	const size_t runs = attempt(attempts, FILTER_LEAST, true, 0);
	int level = options->level_small;

	if (fast && all < TINY)
		return 0;
	if (runs * LITTLE_FAST > all && idat_trial_repeated(attempts->image, attempts->other) >=
	    (fast ? REPEATED_FAST : REPEATED)) {
		if (!attempt(attempts, FILTER_NONE, false, level))
			return -1;
		if (!filter_leaves_less(attempts, attempts->least))
			return 0;
		return attempt(attempts, FILTER_LEAST, false, level) ? 0 : -1;
	}
	if (fast && runs * LITTLE_FAST > all)
		return 0;
	if (!fast && runs * LITTLE < all)
		level = options->level_repeated;
	if (options->method == IDAT_LEAST_MATCHES)
		attempts->least = 0;
	if (!attempt(attempts, FILTER_LEAST, false, level))
		return -1;
	if (middle_runs(attempts, FILTER_NONE) * 100 >=
	    middle_runs(attempts, FILTER_LEAST) * PLAIN_PERCENT)
		return 0;
	return attempt(attempts, FILTER_NONE, false, level) ? 0 : -1;
}

static size_t
pack_small(const struct idat_image *image)
{
	struct attempts attempts = { .image = image, .at = image->packed + CHUNK_HEAD,
		.other = image->packed + CHUNK_HEAD + idat_image_room(image->bytes) };
	int status = 0;

	if (image->options->method == IDAT_PLAIN)
		status = attempt(&attempts, FILTER_NONE, false, image->options->level) ? 0 : -1;
	else
		status = image->options->few_levels ? attempt_few(&attempts) :
		    attempt_all(&attempts);
	if (status < 0)
		return 0;
	memmove(image->packed + CHUNK_HEAD, attempts.at, attempts.least);
	return attempts.least;
}

/* All rows become an IDAT chunk; its length, 0 after fail(). */
static size_t
make_chunk(const struct idat_image *image)
{
	unsigned char *to = image->packed;
	const size_t n = image->bytes <= SMALL ? pack_small(image) : pack_large(image);

	if (!n)
		return 0;
	put_big_endian(to, n);
	memcpy(to + 4, "IDAT", 4);
	put_big_endian(to + CHUNK_HEAD + n, libdeflate_crc32(0, to + 4, n + 4));
	return CHUNK_HEAD + n + CHUNK_CRC;
}

static size_t
row_bytes_of(const struct frame_head *head, const struct idat_options *options)
{
	return options->one_bit ? (head->w + 7) / 8 : head->w * head->c * sample_size(head->type);
}

bool
idat_write_is_for(const struct frame_head *head, const struct idat_options *options)
{
	const bool least = options->method == IDAT_LEAST || options->method == IDAT_PLAIN;
	size_t all;

	return !__builtin_mul_overflow(row_bytes_of(head, options) + 1, head->h, &all) &&
	    all <= IDAT_WRITE_MOST && (all >= TINY || !least);
}

int
idat_write(const char *path, FILE *file, const struct frame *frame,
    const struct idat_options *options)
{
	static const unsigned char end[] = "\0\0\0\0IEND\xae\x42\x60\x82";
	const struct frame_head *head = &frame->head;
	struct idat_image image = { .frame = frame, .options = options,
		.row_bytes = row_bytes_of(head, options) };
	struct pixel_store *store;
	size_t n, packed;
	void *memory;
	int status = -1;

	image.bytes = (image.row_bytes + 1) * head->h;
	/* kept for the next image: malloc() would give it back to the kernel */
	packed = CHUNK_HEAD + (image.bytes <= SMALL ? 2 : 1) * idat_image_room(image.bytes) +
	    CHUNK_CRC;
	store = pixel_store_scratch(packed + image.bytes + FILTER_MARGIN, &memory);
	image.lines = calloc(2, image.row_bytes + 2 * FILTER_MARGIN);
	image.packed = store ? memory : NULL;
	image.rows = store ? image.packed + packed : NULL;
	if (!image.lines || !store)
		fail_memory();
	else if ((n = make_chunk(&image)) > 0)
		status = samples_write(path, file, image.packed, n) < 0 ||
		    samples_write(path, file, end, sizeof(end) - 1) < 0 ? -1 : 0;
	free(image.lines);
	pixel_store_drop(store);
	return status;
}
