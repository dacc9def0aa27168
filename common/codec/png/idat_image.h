/* Rows of an image as PNG has them, and streams of them. */
#ifndef IDAT_IMAGE_H
#define IDAT_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "codec/png/compressor.h"
#include "codec/png/filter.h"
#include "codec/png/idat_write.h"
#include "frame/frame.h"

/* The image while it is written. */
struct idat_image {
	const struct frame *frame;
	const struct idat_options *options;
	size_t row_bytes;		/* without the filter's */
	size_t bytes;			/* of all rows */
	unsigned char *lines;		/* two rows with margins, zero at first */
	unsigned char *rows;		/* all rows as they are packed */
	unsigned char *packed;		/* the IDAT chunk; of a small image, two of them */
};

/* How the pixels are packed. */
struct idat_packing {
	enum filter filter;
	bool runs;		/* no search for matches: deflate_runs.h */
	int level;		/* of that search */
};

/* Rows y0 to y1 behind a filter, each with the filter's byte. The first of all has the one that
 * suits it, as nothing lies above it, unless there is none. */
void idat_image_rows(const struct idat_image *, size_t y0, size_t y1, enum filter,
    unsigned char *to);
/* The bytes of a zlib stream of n bytes at `to`, which has room for idat_image_room(n). A
 * compressor that is NULL: runs. */
size_t idat_image_deflate(struct libdeflate_compressor *, const unsigned char *from, size_t n,
    unsigned char *to);
size_t idat_image_room(size_t n);
/* Packs the image's rows, which are behind the filter already; their bytes, 0 after fail(). */
size_t idat_image_pack(const struct idat_image *, const struct idat_packing *, unsigned char *to);

#endif
