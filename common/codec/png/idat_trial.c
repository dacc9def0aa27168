#include "codec/png/idat_trial.h"

#include <string.h>

#define TRIAL_ROWS 5		/* of a strip, at least: what is repeated lies in the row above */
#define TRIAL_LEAST 20480	/* bytes of a sample, at least */
#define FAST_STRIPS 2
#define THICK_ROWS 16		/* of a strip where much is repeated, at least */
#define THICK_LARGE ((size_t)1 << 20)	/* bytes of an image that has two of them, of two thirds */
#define FAR_BYTES 49152		/* of a strip in which a match finds what lies far before */
#define REPEAT_BYTES 33792	/* are looked at for what repeats: the window of matches, and */
#define REPEAT_LOOKS 1024	/* so many more, at each of which a repeated word may start */
#define REPEAT_STEP 3		/* bytes between noted words: no multiple of rows' 4 n + 1 bytes */
#define REPEAT_BITS 13		/* of a word's place in the table of those */

/* n strips, each of so many rows or, if they do not fit, one of all rows. */
static struct idat_strips
strips_of(const struct idat_image *image, size_t n, size_t rows)
{
	const size_t h = image->frame->head.h;
	struct idat_strips strips = { .n = n, .rows = rows };

	if (rows >= h / n)
		strips = (struct idat_strips){ .n = 1, .rows = h };
	strips.bytes = strips.n * strips.rows * (image->row_bytes + 1);
	return strips;
}

struct idat_strips
idat_trial_thin(const struct idat_image *image, size_t all)
{
	const size_t stride = image->row_bytes + 1;
	const size_t least = all / 3 < TRIAL_LEAST ? all / 3 : TRIAL_LEAST;
	const size_t rows = 1 + (all / 24 > least ? all / 24 : least) / stride;
	const size_t n = all < 20 * TRIAL_LEAST ? IDAT_TRIAL_STRIPS / 2 : IDAT_TRIAL_STRIPS;

	return strips_of(image, n, rows / n < TRIAL_ROWS ? TRIAL_ROWS : 1 + rows / n);
}

struct idat_strips
idat_trial_thick(const struct idat_image *image, bool fast)
{
	const size_t h = image->frame->head.h, n = image->bytes < THICK_LARGE || fast ? 1 : 2;
	const size_t least = n == 1 ? THICK_ROWS : THICK_ROWS * 2 / 3;
	const size_t rows = h / 64 > least ? h / 64 : least;
	struct idat_strips strips;

	if (n * rows > h / 2)
		return strips_of(image, 1, h < THICK_ROWS ? h : h / 2);
	strips = strips_of(image, n, rows);
	strips.lead = rows / 3;
	return strips;
}

struct idat_strips
idat_trial_fast(const struct idat_image *image, const struct idat_strips *others)
{
	const size_t rows = others->rows / 3;

	return strips_of(image, FAST_STRIPS, rows < TRIAL_ROWS ? TRIAL_ROWS : rows);
}

struct idat_strips
idat_trial_far(const struct idat_image *image)
{
	struct idat_strips strips = strips_of(image, 1, 1 + FAR_BYTES / (image->row_bytes + 1));

	strips.lead = strips.rows / 2;
	return strips;
}

/* In the middle of its part of the image, since the border of many shows nothing; a single one and
 * the middle one of three not in the middle of all, where symmetric pictures have what they have
 * nowhere else. */
static size_t
strip_start(const struct idat_image *image, const struct idat_strips *strips, size_t i)
{
	const size_t left = image->frame->head.h - strips->rows;

	return strips->n % 2 ? (3 * i + 1) * left / (3 * strips->n) :
	    (2 * i + 1) * left / (2 * strips->n);
}

unsigned char *
idat_trial_rows(const struct idat_trial *trial, size_t i, enum filter filter)
{
	const struct idat_strips *strips = &trial->strips;
	const size_t y = strip_start(trial->image, strips, i);
	unsigned char *rows = trial->rows + i * (strips->bytes / strips->n);

	idat_image_rows(trial->image, y, y + strips->rows, filter, rows);
	return rows;
}

static uint64_t
word_at(const unsigned char *from)
{
	uint64_t word;

	memcpy(&word, from, sizeof(word));
	return word;
}

/* Fibonacci hashing. */
static size_t
place_of(uint64_t word)
{
	return (size_t)(word * 0x9e3779b97f4a7c15 >> (64 - REPEAT_BITS));
}

unsigned
idat_trial_repeated(const struct idat_image *image, unsigned char *rows)
{
	const size_t h = image->frame->head.h, stride = image->row_bytes + 1;
	const size_t most = 1 + REPEAT_BYTES / stride, n = most < h ? most : h, y = (h - n) / 3;
	const size_t used = n * stride < REPEAT_BYTES ? n * stride : REPEAT_BYTES;
	const size_t looks = used / 16 < REPEAT_LOOKS ? used / 16 : REPEAT_LOOKS;
	const unsigned char *from = rows + n * stride - used;
	uint16_t noted[1 << REPEAT_BITS] = { 0 };
	size_t repeated = 0;

	if (looks < sizeof(uint64_t))
		return 0;
	idat_image_rows(image, y, y + n, FILTER_NONE, rows);
	for (size_t i = 1; i < used - looks - sizeof(uint64_t); i += REPEAT_STEP)
		noted[place_of(word_at(from + i))] = (uint16_t)i;
	for (size_t i = used - looks - sizeof(uint64_t); i < used - sizeof(uint64_t); i++) {
		const uint64_t word = word_at(from + i);
		const size_t before = noted[place_of(word)];

		/* runs of one byte are no repetition here: filters leave them, too */
		repeated += (before > 0) & (word == word_at(from + before)) &
		    (word != word_at(from + i - 1));
	}
	return (unsigned)(repeated * 100 / looks);
}

size_t
idat_trial_packed(const struct idat_trial *trial, struct libdeflate_compressor *compressor,
    const unsigned char *rows, size_t *lead)
{
	const struct idat_strips *strips = &trial->strips;
	const size_t h = trial->image->frame->head.h, stride = trial->image->row_bytes + 1;
	const size_t most = *lead;
	unsigned char *to = trial->image->packed;
	size_t bytes;

	if (!strips->lead)
		return idat_image_deflate(compressor, rows, strips->rows * stride, to);
	*lead = idat_image_deflate(compressor, rows, strips->lead * stride, to);
	if (*lead > most * 2)
		return IDAT_TRIAL_TOO_MANY;
	bytes = idat_image_deflate(compressor, rows, strips->rows * stride, to);
	/* all may take less than the first, as libdeflate parts them into other blocks */
	bytes = bytes > *lead ? bytes - *lead : 0;
	return (*lead + bytes * (h - strips->lead) / (strips->rows - strips->lead)) / strips->n;
}

size_t
idat_trial_counted(const struct idat_trial *trial, const struct idat_strips *strips)
{
	return strips->lead ? trial->image->bytes : strips->bytes;
}

size_t
idat_trial_matches(struct idat_trial *trial, enum filter filter)
{
	const size_t n = trial->strips.n, some = n / 3;
	size_t bytes = 0;

	for (size_t i = 0; i < n; i++) {
		size_t lead = filter == trial->base ? IDAT_TRIAL_TOO_MANY : trial->lead[i];

		bytes += idat_trial_packed(
		    trial, trial->quick, idat_trial_rows(trial, i, filter), &lead);
		if (i == 0)
			trial->first[filter] = bytes;
		if (filter == trial->base) {
			trial->part[i] = bytes;
			trial->lead[i] = lead;
		} else if (bytes >= IDAT_TRIAL_TOO_MANY) {
			return IDAT_TRIAL_TOO_MANY;
		} else if (i + 1 < n && i + 1 >= some && bytes * 8 > trial->part[i] * 9) {
			return bytes * trial->part[n - 1] / (trial->part[i] + 1);
		}
	}
	return bytes;
}

size_t
idat_trial_runs(struct idat_trial *trial, enum filter filter, const size_t *part)
{
	size_t bytes = 0;

	for (size_t i = 0; i < trial->strips.n; i++) {
		size_t lead = IDAT_TRIAL_TOO_MANY;

		bytes += idat_trial_packed(trial, NULL, idat_trial_rows(trial, i, filter), &lead);
		if (i == 0)
			trial->first_runs = bytes;
		if (part && bytes * 20 > part[i] * 21)
			return IDAT_TRIAL_TOO_MANY;
	}
	return bytes;
}

int
idat_trial_level(struct idat_trial *trial, int level)
{
	compressor_give(trial->quick, trial->level);
	trial->quick = compressor_take(level);
	trial->level = level;
	return trial->quick ? 0 : -1;
}

long
idat_trial_other_level(const struct idat_trial *trial, int level, enum filter filter, size_t n,
    size_t quick)
{
	struct libdeflate_compressor *other = compressor_take(level);
	size_t bytes = 0;

	for (size_t i = 0; other && i < n; i++) {
		size_t lead = IDAT_TRIAL_TOO_MANY;

		bytes += idat_trial_packed(trial, other, idat_trial_rows(trial, i, filter), &lead);
	}
	compressor_give(other, level);
	return other ? (long)(bytes * 1000 / (quick + 1)) : -1;
}
