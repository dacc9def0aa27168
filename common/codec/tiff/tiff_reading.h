/* A TIFF file being read: what tiff_read.c knows of a page, for the samples in its blocks. */
#ifndef TIFF_READING_H
#define TIFF_READING_H

#include <stdint.h>

#include "codec/tiff/libtiff.h"
#include "frame/samples.h"

struct tiff_reading {
	const char *path;
	FILE *file;
	int fd;			/* of the file, read without stdio's copy; -1: it has none */
	off_t at;		/* in fd */
	TIFF *tif;
	unsigned page;
	char message[400];	/* libtiff's first error; it may still go on after some */
	bool lost;		/* after fail(): libtiff leaves out a tag that it could not read */
	bool ahead;		/* the next page is libtiff's current one already */
	uint64_t end;		/* of the samples of all pages so far, in the file */
	uint64_t most;		/* bytes of the largest of them, there */
	uint64_t tags;		/* bytes that the tags of all of them may take */
};

/* How one page keeps its samples. */
struct tiff_page {
	uint32_t w, h;
	uint16_t c;			/* samples per pixel in the file */
	uint16_t bits, format, planar, photometric, compression;
	uint32_t block_w, block_h;	/* a tile, or a strip as wide as the image */
	size_t block_row, block_bytes;
	enum element element;		/* bits >= 8 */
	bool tiled;
	bool keep_bits;			/* 1-bit values stay 0 and 1 */
	uint16_t *palette[3];
	size_t channel, channels;	/* of the frame that it belongs to; of 1 if it is a frame */
};

/* Opens a file's first page; what belongs to it is the caller's to close, also behind an error. -1
 * after fail(). */
int tiff_reading_open(struct tiff_reading *, const char *path, FILE *);
/* Fails with libtiff's message, else with "TIFF WHAT NUMBER is damaged". -1 */
int tiff_fail_damaged(struct tiff_reading *, const char *what, unsigned number);
uint64_t tiff_file_size(struct tiff_reading *);
/* Notes where the samples of libtiff's current page lie. */
void tiff_note_page(struct tiff_reading *);
/* Behind the last page: warns of more bytes behind all samples than any page has, as where another
 * file was put behind this one, or images that no page describes. */
void tiff_warn_rest(struct tiff_reading *);
/* The samples of a page into its frame, or into the one channel of it that it holds. 0 or -1 after
 * fail(). */
int tiff_read_blocks(struct tiff_reading *, const struct tiff_page *, struct frame *);

#endif
