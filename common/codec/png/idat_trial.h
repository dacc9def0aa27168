/* What a sample of an image's rows takes, by filter and search. */
#ifndef IDAT_TRIAL_H
#define IDAT_TRIAL_H

#include <stdint.h>

#include "codec/png/idat_image.h"

#define IDAT_TRIAL_STRIPS 6	/* at most */
#define IDAT_TRIAL_TOO_MANY (SIZE_MAX / 1024)	/* bytes: so many more than others have */

/* Strips of rows from all over the image. */
struct idat_strips {
	size_t n, rows, bytes;		/* of each: rows; of all: bytes */
	size_t lead;			/* the first rows of each, which the whole image has once */
};

/* A sample of the image, behind a filter. */
struct idat_trial {
	const struct idat_image *image;
	struct idat_strips strips;
	struct libdeflate_compressor *quick;
	int level;			/* of quick */
	enum filter base;		/* which is tried first */
	unsigned char *rows;
	size_t own, plain;		/* of FILTER_LEAST and FILTER_NONE: bytes by quick */
	size_t part[IDAT_TRIAL_STRIPS];	/* of the base after each strip */
	size_t lead[IDAT_TRIAL_STRIPS];	/* likewise, of its first rows */
	size_t first[FILTER_LEAST + 1];	/* of each filter after the first strip */
	size_t first_runs;		/* likewise, of runs, as they were tried last */
};

/*
 * How many hundredths of the words of unfiltered rows repeat within the window of matches, as they
 * do in oblique fringes without noise, whose neighbouring rows are not alike? A cheap look at rows
 * in the middle, which come to `rows`. 0 to 15 in captures, 20 to 91 in fringes of many directions
 * and periods.
 */
unsigned idat_trial_repeated(const struct idat_image *, unsigned char *rows);

/* Thin strips of an image of `all` bytes. */
struct idat_strips idat_trial_thin(const struct idat_image *, size_t all);
/* Strips of which all but the first rows show what a row takes behind many others. Of an image of
 * few rows one of half of it, of which all counts: the first rows are much of the image. */
struct idat_strips idat_trial_thick(const struct idat_image *, bool fast);
/* Fewer and thinner than others. */
struct idat_strips idat_trial_fast(const struct idat_image *, const struct idat_strips *others);
/* A strip longer than the window of matches. */
struct idat_strips idat_trial_far(const struct idat_image *);

/* Another level of the search; 0, or -1: no memory. */
int idat_trial_level(struct idat_trial *, int level);
/* The rows of strip i behind a filter. */
unsigned char *idat_trial_rows(const struct idat_trial *, size_t i, enum filter);
/*
 * The bytes of a strip, each by itself: strips of a symmetric picture are alike, but too far apart
 * in the whole for a match. A compressor that is NULL: runs. Where the first rows stand apart, the
 * bytes of the whole image: of these rows, and of the others, which are more there; *lead: of these
 * rows, and where that was less than half of it before, IDAT_TRIAL_TOO_MANY.
 */
size_t idat_trial_packed(const struct idat_trial *, struct libdeflate_compressor *,
    const unsigned char *rows, size_t *lead);
/* Of how many bytes idat_trial_packed() tells, all strips together. */
size_t idat_trial_counted(const struct idat_trial *, const struct idat_strips *);
/* The bytes of the sample behind a filter, matches found by a quick search. Another filter than the
 * base that leaves an eighth more than it of the first strips is tried no further. */
size_t idat_trial_matches(struct idat_trial *, enum filter);
/* Likewise of runs. part: bytes of the strips, the sum up to each, where a twentieth more than that
 * is IDAT_TRIAL_TOO_MANY; may be NULL. */
size_t idat_trial_runs(struct idat_trial *, enum filter, const size_t *part);
/* What another level leaves of the first n strips, in thousandths of what the quick one left; -1:
 * no memory. */
long idat_trial_other_level(const struct idat_trial *, int level, enum filter, size_t n,
    size_t quick);
#endif
