/* Chooses filter and search of a PNG file's pixels by a sample of the rows. */
#include "codec/png/idat_sample.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/fail.h"

#define LEVEL_SAMPLE 3
#define LEVEL_SAMPLE_NOISE 5
#define LEVEL_FAST_SAMPLE 1
#define TRIAL_STRIPS 6
#define FAST_STRIPS 2
#define TRIAL_ROWS 5		/* of a strip, at least: what is repeated lies in the row above */
#define TRIAL_LEAST 20480	/* bytes of a sample, at least */
#define THICK_ROWS 16		/* of a strip where much is repeated, at least */
#define THICK_LARGE ((size_t)1 << 20)	/* bytes of an image that has two of them, of two thirds */
#define REPEATED_LONGER 720	/* thousandths: a level that leaves less is worth its time, */
#define LITTLE_PART 900		/* or less than this, where it costs less because less is left */
#define LITTLE_LONGER 50	/* than this part */
#define FAR_BYTES 49152		/* of a strip in which a match finds what lies far before, */
#define MANY_MATCHES 18		/* where runs leave so many tenths of what matches do, */
#define FAR_PLAIN 26		/* and matches without filter so many tenths of others, at most */
#define LITTLE 12		/* no more than this part of the sample is left */
#define TOO_MANY (SIZE_MAX / 1024)	/* bytes: so many more than others have */
#define VERY_LITTLE 200		/* so little that another filter saves hardly a byte */
#define VERY_LITTLE_RUNS 100	/* likewise, of runs, that matches save none */
#define LITTLE_RUNS 4	/* likewise, of runs, where a sample of matches is worth its time, */
#define SOME_RUNS 2	/* or this, where there are signs of matches */
#define LITTLE_RUNS_FEW 16	/* likewise, so little that runs may do */

/* Strips of rows from all over the image. */
struct strips {
	size_t n, rows, bytes;		/* of each: rows; of all: bytes */
	size_t lead;			/* the first rows of each, which the whole image has once */
};

/* n strips, each of so many rows or, if they do not fit, one of all rows. */
static struct strips
strips_of(const struct idat_image *image, size_t n, size_t rows)
{
	const size_t h = image->frame->head.h;
	struct strips strips = { .n = n, .rows = rows };

	if (rows >= h / n)
		strips = (struct strips){ .n = 1, .rows = h };
	strips.bytes = strips.n * strips.rows * (image->row_bytes + 1);
	return strips;
}

/* Thin ones. */
static struct strips
thin_strips(const struct idat_image *image, size_t all)
{
	const size_t stride = image->row_bytes + 1;
	const size_t least = all / 3 < TRIAL_LEAST ? all / 3 : TRIAL_LEAST;
	const size_t rows = 1 + (all / 24 > least ? all / 24 : least) / stride;
	const size_t n = all < 20 * TRIAL_LEAST ? TRIAL_STRIPS / 2 : TRIAL_STRIPS;

	return strips_of(image, n, rows / n < TRIAL_ROWS ? TRIAL_ROWS : 1 + rows / n);
}

/* Strips of which all but the first rows show what a row takes behind many others. Of an image of
 * few rows one of half of it, of which all counts: the first rows are much of the image. */
static struct strips
thick_strips(const struct idat_image *image, bool fast)
{
	const size_t h = image->frame->head.h, n = image->bytes < THICK_LARGE || fast ? 1 : 2;
	const size_t least = n == 1 ? THICK_ROWS : THICK_ROWS * 2 / 3;
	const size_t rows = h / 64 > least ? h / 64 : least;
	struct strips strips;

	if (n * rows > h / 2)
		return strips_of(image, 1, h < THICK_ROWS ? h : h / 2);
	strips = strips_of(image, n, rows);
	strips.lead = rows / 3;
	return strips;
}

/* Fewer and thinner than others. */
static struct strips
fast_strips(const struct idat_image *image, const struct strips *others)
{
	const size_t rows = others->rows / 3;

	return strips_of(image, FAST_STRIPS, rows < TRIAL_ROWS ? TRIAL_ROWS : rows);
}

/* In the middle of its part of the image, since the border of many shows nothing; a single one and
 * the middle one of three not in the middle of all, where symmetric pictures have what they have
 * nowhere else. */
static size_t
strip_start(const struct idat_image *image, const struct strips *strips, size_t i)
{
	const size_t left = image->frame->head.h - strips->rows;

	return strips->n % 2 ? (3 * i + 1) * left / (3 * strips->n) :
	    (2 * i + 1) * left / (2 * strips->n);
}

/* A sample of the image, behind a filter. */
struct trial {
	const struct idat_image *image;
	struct strips strips;
	struct libdeflate_compressor *quick;
	int level;			/* of quick */
	enum filter base;		/* which is tried first */
	unsigned char *rows;
	size_t own, plain;		/* of FILTER_LEAST and FILTER_NONE: bytes by quick */
	size_t part[TRIAL_STRIPS];	/* of the base after each strip */
	size_t lead[TRIAL_STRIPS];	/* likewise, of its first rows */
	size_t first[FILTER_LEAST + 1];	/* of each filter after the first strip */
	size_t first_runs;		/* likewise, of runs, as they were tried last */
};

static unsigned char *
strip_rows(const struct trial *trial, size_t i, enum filter filter)
{
	const struct strips *strips = &trial->strips;
	const size_t y = strip_start(trial->image, strips, i);
	unsigned char *rows = trial->rows + i * (strips->bytes / strips->n);

	idat_image_rows(trial->image, y, y + strips->rows, filter, rows);
	return rows;
}

/*
 * The bytes of a strip, each by itself: strips of a symmetric picture are alike, but too far apart
 * in the whole for a match. A compressor that is NULL: runs. Where the first rows stand apart, the
 * bytes of the whole image: of these rows, and of the others, which are more there; *lead: of these
 * rows, and where that was less than half of it before, TOO_MANY.
 */
static size_t
packed_strip(const struct trial *trial, struct libdeflate_compressor *compressor,
    const unsigned char *rows, size_t *lead)
{
	const struct strips *strips = &trial->strips;
	const size_t h = trial->image->frame->head.h, stride = trial->image->row_bytes + 1;
	const size_t most = *lead;
	unsigned char *to = trial->image->packed;
	size_t bytes;

	if (!strips->lead)
		return idat_image_deflate(compressor, rows, strips->rows * stride, to);
	*lead = idat_image_deflate(compressor, rows, strips->lead * stride, to);
	if (*lead > most * 2)
		return TOO_MANY;
	bytes = idat_image_deflate(compressor, rows, strips->rows * stride, to);
	/* all may take less than the first, as libdeflate parts them into other blocks */
	bytes = bytes > *lead ? bytes - *lead : 0;
	return (*lead + bytes * (h - strips->lead) / (strips->rows - strips->lead)) / strips->n;
}

/* Of how many bytes packed_strip() tells, all strips together. */
static size_t
counted_bytes(const struct trial *trial, const struct strips *strips)
{
	return strips->lead ? trial->image->bytes : strips->bytes;
}

/* The bytes of the sample behind a filter, matches found by a quick search. Another filter than
 * FILTER_LEAST that leaves an eighth more than it of the first strips is tried no further. */
static size_t
matches_of(struct trial *trial, enum filter filter)
{
	const size_t n = trial->strips.n, some = n / 3;
	size_t bytes = 0;

	for (size_t i = 0; i < n; i++) {
		size_t lead = filter == trial->base ? TOO_MANY : trial->lead[i];

		bytes += packed_strip(trial, trial->quick, strip_rows(trial, i, filter), &lead);
		if (i == 0)
			trial->first[filter] = bytes;
		if (filter == trial->base) {
			trial->part[i] = bytes;
			trial->lead[i] = lead;
		} else if (bytes >= TOO_MANY) {
			return TOO_MANY;
		} else if (i + 1 < n && i + 1 >= some && bytes * 8 > trial->part[i] * 9) {
			return bytes * trial->part[n - 1] / (trial->part[i] + 1);
		}
	}
	return bytes;
}

/* Likewise of runs. part: bytes of the strips, the sum up to each, where a twentieth more than that
 * is TOO_MANY; may be NULL. */
static size_t
runs_of(struct trial *trial, enum filter filter, const size_t *part)
{
	size_t bytes = 0;

	for (size_t i = 0; i < trial->strips.n; i++) {
		size_t lead = TOO_MANY;

		bytes += packed_strip(trial, NULL, strip_rows(trial, i, filter), &lead);
		if (i == 0)
			trial->first_runs = bytes;
		if (part && bytes * 20 > part[i] * 21)
			return TOO_MANY;
	}
	return bytes;
}

/*
 * The filter of which least is left when matches are found, and what is left of the sample.
 * Pictures without noise often repeat more behind one filter for all rows than where every row has
 * its own, but those of few levels behind none; up to 2 % more in a sample, unfiltered rows are
 * shorter in the end. The margins are those of 40 captures and pictures.
 */
static size_t
least_filter(struct trial *trial, struct idat_packing *method)
{
	static const enum filter others[] = { FILTER_SUB, FILTER_UP };
	const size_t tried = trial->image->options->few_levels ? 0 : 2, own = trial->own;
	size_t least = own + own / 100;

	method->filter = FILTER_LEAST;
	for (size_t i = 0; i < tried; i++) {
		const size_t matches = matches_of(trial, others[i]);

		if (matches >= least)
			continue;
		least = matches;
		method->filter = others[i];
	}
	if (method->filter == FILTER_LEAST)
		least = own;
	if (least * 102 < trial->plain * 100)
		return least;
	method->filter = FILTER_NONE;
	return trial->plain;
}

/* Another level of the search; 0, or -1: no memory. */
static int
set_level(struct trial *trial, int level)
{
	compressor_give(trial->quick, trial->level);
	trial->quick = compressor_take(level);
	trial->level = level;
	return trial->quick ? 0 : -1;
}

/* What another level leaves of the first n strips, in thousandths of what the quick one left; -1:
 * no memory. */
static long
other_leaves(const struct trial *trial, int level, enum filter filter, size_t n, size_t quick)
{
	struct libdeflate_compressor *other = compressor_take(level);
	size_t bytes = 0;

	for (size_t i = 0; other && i < n; i++) {
		size_t lead = TOO_MANY;

		bytes += packed_strip(trial, other, strip_rows(trial, i, filter), &lead);
	}
	compressor_give(other, level);
	return other ? (long)(bytes * 1000 / (quick + 1)) : -1;
}

/*
 * Do runs make least of it, as where there is noise? Not where there is so little in the image that
 * it has no noise. Matches of noise are accidents, of which a longer search finds no better ones,
 * and which save less in the whole than in a sample. 1: yes; -1: no memory.
 */
static int
runs_are_least(struct trial *trial)
{
	const size_t runs = runs_of(trial, FILTER_LEAST, trial->part);
	const size_t some = 1 + trial->strips.n / 3;
	long leaves;

	if (runs <= trial->strips.bytes / 16 || runs * 1000 > trial->plain * 975 ||
	    runs * 1000 > trial->own * 990)
		return 0;
	if (runs * 1000 <= trial->own * 975)
		return 1;
	leaves = other_leaves(trial, LEVEL_SAMPLE_NOISE, FILTER_LEAST, some,
	    trial->part[some - 1]);
	return leaves < 0 ? -1 : leaves >= 997;
}

/* Where most is repeated, a longer search may save much, behind the filter so far or behind none.
 * 0, or -1: no memory. first: what is left of the first strip by level_repeated. */
static int
try_longest(const struct trial *trial, size_t bytes, size_t first, struct idat_packing *method)
{
	const int longest = trial->image->options->level_longest;
	const enum filter filters[] = { method->filter, FILTER_NONE };
	long least = bytes * LITTLE_LONGER < counted_bytes(trial, &trial->strips) ? LITTLE_PART :
	    REPEATED_LONGER;

	for (size_t i = 0; i < 2; i++) {
		long leaves;

		if (i && (filters[0] == FILTER_NONE || trial->first[FILTER_NONE] >= 2 * first))
			break;
		leaves = other_leaves(trial, longest, filters[i], 1, first);
		if (leaves < 0)
			return -1;
		if (leaves >= least)
			continue;
		least = leaves * 3 / 4;
		method->level = longest;
		method->filter = filters[i];
	}
	return 0;
}

/* Are runs without filter, or behind the one above, worth their quarter of the time, as they leave
 * at most so many bytes of the sample, and a long search not much less? 1: yes; -1: no memory. */
static int
try_runs(struct trial *trial, size_t most, struct idat_packing *method)
{
	const size_t plain = runs_of(trial, FILTER_NONE, NULL);
	const size_t up = runs_of(trial, FILTER_UP, NULL);
	const enum filter filter = plain * 20 < up * 19 ? FILTER_NONE : FILTER_UP;
	const size_t runs = filter == FILTER_NONE ? plain : up;
	long leaves;

	if (runs > most)
		return 0;
	leaves = other_leaves(trial, trial->image->options->level_longest, filter, trial->strips.n,
	    runs);
	if (leaves < 0)
		return -1;
	if (leaves < LITTLE_PART)
		return 0;
	method->runs = true;
	method->filter = filter;
	return 1;
}

/* By the thick strips: of what repeats so much the first rows of a thin one are the most. */
static int
try_repeated(struct trial *trial, const struct strips *thick, struct idat_packing *method)
{
	static const enum filter filters[] = { FILTER_PAETH, FILTER_NONE, FILTER_UP,
		FILTER_SUB };
	const struct idat_options *options = trial->image->options;
	const bool may_run = options->method == IDAT_LEAST;
	size_t least = TOO_MANY, first = 0;
	int runs = 0;

	if (set_level(trial, options->level_repeated) < 0)
		return -1;
	trial->strips = *thick;
	trial->base = filters[0];
	method->level = options->level_repeated;
	for (size_t i = 0; i < sizeof(filters) / sizeof(*filters) && !runs; i++) {
		const size_t bytes = matches_of(trial, filters[i]);

		if (bytes < least - least / 50) {
			least = bytes;
			first = trial->first[filters[i]];
			method->filter = filters[i];
		}
		if (i == 0 && least * VERY_LITTLE < counted_bytes(trial, thick)) {
			method->filter = FILTER_LEAST;
			return !may_run ? 0 : try_runs(trial, least * 3 / 4, method) < 0 ? -1 : 0;
		}
		if (i == 1 && may_run)
			runs = try_runs(trial, least + least / 32, method);
	}
	if (runs)
		return runs < 0 ? -1 : 0;
	return options->level_longest == options->level_repeated ? 0 :
	    try_longest(trial, least, first, method);
}

/* A strip longer than the window of matches. */
static struct strips
far_strips(const struct idat_image *image)
{
	struct strips strips = strips_of(image, 1, 1 + FAR_BYTES / (image->row_bytes + 1));

	strips.lead = strips.rows / 2;
	return strips;
}

/*
 * Of matches without filter, where there are many: oblique fringes without noise repeat far apart,
 * which no thin strip shows. Does no filter leave less of a long one?
 */
static void
try_far(struct trial *trial, struct idat_packing *method)
{
	if (trial->plain * 10 > trial->own * FAR_PLAIN ||
	    runs_of(trial, FILTER_NONE, NULL) * 10 < MANY_MATCHES * trial->plain)
		return;
	trial->strips = far_strips(trial->image);
	trial->own = matches_of(trial, FILTER_LEAST);
	trial->plain = matches_of(trial, FILTER_NONE);
	if (trial->plain >= trial->own)
		return;
	method->filter = FILTER_NONE;
	if (trial->plain * 5 < trial->own * 4)
		method->level = trial->image->options->level_longest;
}

static int
try_methods(struct trial *trial, const struct strips *thick, struct idat_packing *method)
{
	const struct idat_options *options = trial->image->options;
	size_t least;
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
	if (runs)
		return 0;
	least = least_filter(trial, method);
	if (options->method == IDAT_LEAST && options->few_levels &&
	    runs_of(trial, FILTER_NONE, NULL) * 32 <= least * 33) {
		method->runs = true;
		method->filter = FILTER_NONE;
	} else if (!options->few_levels && method->filter != FILTER_NONE) {
		try_far(trial, method);
	}
	return 0;
}

/* Of few levels: matches without filter, or behind one where that leaves less of runs, too. Where
 * runs leave little, what matches leave of the sample decides, and whether runs do. */
static void
try_fast_few(struct trial *trial, struct idat_packing *method)
{
	const size_t all = counted_bytes(trial, &trial->strips);
	const size_t runs = runs_of(trial, FILTER_LEAST, NULL);
	const size_t plain = runs_of(trial, FILTER_NONE, NULL);
	size_t least;

	method->level = trial->image->options->level;
	method->filter = runs * 100 < plain * 90 ? FILTER_LEAST : FILTER_NONE;
	if ((runs < plain ? runs : plain) * LITTLE_RUNS_FEW >= all)
		return;
	trial->own = matches_of(trial, FILTER_LEAST);
	trial->plain = matches_of(trial, FILTER_NONE);
	least = trial->own < trial->plain ? trial->own : trial->plain;
	method->runs = (runs < plain ? runs : plain) * 2 < least * 3;
	if (!method->runs)
		method->filter = trial->own < trial->plain ? FILTER_LEAST : FILTER_NONE;
	else if (runs < plain)
		method->filter = FILTER_LEAST;
}

/* Is a sample of matches worth its time? Not in captures, of which a filter takes much away. runs:
 * what they leave behind FILTER_LEAST. */
static bool
may_repeat(struct trial *trial, size_t runs)
{
	const size_t all = trial->strips.bytes, first = trial->first_runs;
	const unsigned char *rows;
	size_t lead = TOO_MANY, plain;

	if (runs * VERY_LITTLE_RUNS < all || runs * SOME_RUNS > all)
		return false;
	if (runs * LITTLE_RUNS <= all)
		return true;
	rows = strip_rows(trial, 0, FILTER_NONE);
	plain = packed_strip(trial, NULL, rows, &lead);
	if (plain * 10 <= first * 11 || plain * 10 < first * MANY_MATCHES)
		return plain * 10 <= first * 11;
	return plain * 10 >= MANY_MATCHES * packed_strip(trial, trial->quick, rows, &lead);
}

/*
 * Runs, which take half the time of matches, unless so much repeats that these leave far less, also
 * without a filter, by which others write in little time.
 */
static int
try_fast(struct trial *trial, const struct strips *thick, struct idat_packing *method)
{
	size_t runs = runs_of(trial, FILTER_LEAST, NULL);

	method->runs = true;
	if (set_level(trial, LEVEL_FAST_SAMPLE) < 0)
		return -1;
	if (!may_repeat(trial, runs))
		return 0;
	trial->strips = *thick;
	runs = runs_of(trial, FILTER_LEAST, NULL);
	trial->own = matches_of(trial, FILTER_LEAST);
	trial->lead[0] = TOO_MANY;	/* what is left without filter is to be known */
	trial->plain = matches_of(trial, FILTER_NONE);
	if (runs <= trial->plain && runs < 2 * trial->own)
		return 0;
	method->runs = false;
	method->filter = trial->own < trial->plain ? FILTER_LEAST : FILTER_NONE;
	method->level = trial->image->options->level;
	return 0;
}

/* 0, or -1 where memory is short. */
static int
try_sample(struct trial *trial, struct idat_packing *method)
{
	const struct idat_image *image = trial->image;
	const bool fast = image->options->method == IDAT_FAST;
	const struct strips thick = thick_strips(image, fast), far = far_strips(image);
	size_t bytes;

	trial->strips = thin_strips(image, image->bytes);
	if (fast && image->options->few_levels)
		trial->strips = thick;
	else if (fast)
		trial->strips = fast_strips(image, &trial->strips);
	bytes = thick.bytes > trial->strips.bytes ? thick.bytes : trial->strips.bytes;
	bytes = bytes > far.bytes ? bytes : far.bytes;
	trial->rows = malloc(bytes + FILTER_MARGIN);
	if (!trial->rows || set_level(trial, LEVEL_SAMPLE) < 0)
		return -1;
	if (!fast)
		return try_methods(trial, &thick, method);
	if (!image->options->few_levels)
		return try_fast(trial, &thick, method);
	try_fast_few(trial, method);
	return 0;
}

int
idat_sample_packing(const struct idat_image *image, struct idat_packing *method)
{
	const enum idat_method wanted = image->options->method;
	struct trial trial = { .image = image, .base = FILTER_LEAST };
	int status;

	*method = (struct idat_packing){ wanted == IDAT_PLAIN ? FILTER_NONE : FILTER_LEAST, false,
		image->options->level };
	if (wanted == IDAT_PLAIN)
		return 0;
	status = try_sample(&trial, method);
	compressor_give(trial.quick, trial.level);
	free(trial.rows);
	return status < 0 ? fail_memory() : 0;
}
