/* The functions of the codec for PNG, and those of its parts that tests call. */
#pragma once

#include <libdeflate.h>
#include <stdio.h>
#include <string.h>

#include "frame/frame.h"
#include "frame/head.h"
#include "io/codec.h"

/* Does the key bits say that a sample is one bit, of the values 0 and 1, not 0 and 255? */
static inline bool
png_is_one_bit(const struct frame_head *head)
{
	const char *bits = meta_get(&head->meta, "bits");

	return bits && !strcmp(bits, "1");
}

struct png_options {
	bool fast;
	long level;
};

extern const struct opt png_options[];

int png_load(struct loader *, struct frame **out);
/* The same by libpng alone: what png_load() returns is this, and so are its messages. */
int png_load_by_libpng(struct loader *, struct frame **out);
int png_save(struct saver *, const struct frame *);

/*
 * Unpacks a whole zlib stream (RFC 1950), with nothing behind it, to exactly n bytes, 2^31 at most;
 * is its Adler-32 right? It refers back as far as n allows, whatever its head says. False also
 * where memory is
 * short; nothing is recorded.
 */
bool inflate_whole(const unsigned char *packed, size_t packed_bytes, unsigned char *to, size_t n);
/* The same by one library. false of the first also where it is not installed. */
bool inflate_by_isal(const unsigned char *packed, size_t packed_bytes, unsigned char *to, size_t n);
bool inflate_by_libdeflate(const unsigned char *packed, size_t packed_bytes, unsigned char *to,
    size_t n);

/*
 * Reads all pixels, by libdeflate or ISA-L, of 8 or 16 bits a sample, not interlaced, without a
 * palette: of a frame whose size, channels and type are the image's. The file stands behind
 * the head (length and type) of the first IDAT chunk and has `left` bytes from there on.
 * 1: done. 0: libpng is to read them, because something is unusual, damaged or too large, or
 * memory short; the file stands where it was. -1 after fail(). Besides the frame it takes the
 * packed bytes and those of the filtered rows, IDAT_READ_MOST * 17 / 8 at most.
 */
int idat_read(const char *path, FILE *, size_t left, struct frame *);

/* ---- PNG's filters (PNG specification, 9), for writing ---- */

/* As the specification numbers them. */
enum filter { FILTER_NONE, FILTER_SUB, FILTER_UP, FILTER_AVERAGE, FILTER_PAETH, FILTERS };

/* Bytes before and behind the rows that may be read; those before the pixels count as 0. */
#define FILTER_MARGIN 16

/*
 * One row of n bytes, of pixels of pixel_bytes bytes, becomes the byte of the filter whose
 * differences have the smallest sum of magnitudes, and n bytes, at `to`. `above` is the row before
 * it, all zero for the first one. FILTER_MARGIN bytes before both rows are zero; as many behind
 * them, and behind the n + 1 bytes of `to`, are there to be used.
 */
void filter_row(const unsigned char *row, const unsigned char *above, size_t n, size_t pixel_bytes,
    unsigned char *to);
