/* Pixels of PNG files by libdeflate and filter.h. */
#ifndef IDAT_WRITE_H
#define IDAT_WRITE_H

#include <stdbool.h>
#include <stdio.h>

#include "frame/frame.h"

/* The most bytes of an image; libpng writes larger ones by the row. */
#define IDAT_WRITE_MOST ((size_t)256 << 20)

enum idat_method {
	IDAT_PLAIN,		/* no filter, matches */
	/* what makes least of a sample of the rows: */
	IDAT_LEAST_MATCHES,	/* no filter, one for all rows, or one by the row; matches */
	IDAT_LEAST,		/* of these and of runs: deflate_runs.h, filters by the row */
	IDAT_FAST		/* runs, and matches where they leave far less */
};

struct idat_options {
	enum idat_method method;
	/* of libdeflate's search for matches, 0 to 12; of small images; and, where most is repeated
	 * so that a longer search costs little and saves much, not less than level: */
	int level, level_small, level_repeated, level_longest;
	bool few_levels;	/* of each channel, as in dithered pictures, stripes and labels */
	bool one_bit;		/* one channel of zeros and ones, eight to a byte */
};

/* Is it to be written by idat_write()? Not where it is too large, or so small that libpng is sooner
 * done. */
bool idat_write_is_for(const struct frame_head *, const struct idat_options *);
/*
 * Writes a frame's pixels and the end of the file behind its head. 0, or -1 after fail(), also
 * where memory is short: the bytes of a file do not depend on that. It takes twice the bytes of
 * the pixels, of small images three times, and what libdeflate needs at its levels, up to 10 MB.
 */
int idat_write(const char *path, FILE *, const struct frame *, const struct idat_options *);

#endif
