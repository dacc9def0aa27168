/* The samples of TIFF pages: strips and tiles of any bits, into planes. */
#define _GNU_SOURCE
#include "codec/tiff/tiff_reading.h"

#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "frame/pixel_store.h"

#define PLAIN_BYTES ((size_t)128 << 10)	/* of rows that are not packed, read at once */

/* Samples of 1, 2 or 4 bits from bit `first` on, `step` samples apart, each to one byte. */
static void
unpack_bits(const struct tiff_page *page, const unsigned char *row, size_t first, size_t step,
    unsigned char *to, size_t n)
{
	unsigned bits = page->bits, mask = (1u << bits) - 1;
	unsigned scale = page->palette[0] || page->keep_bits ? 1 : 255 / mask;

	for (size_t i = 0; i < n; i++) {
		size_t at = (first + i * step) * bits;

		to[i] = (unsigned char)((row[at / 8] >> (8 - bits - at % 8) & mask) * scale);
	}
}

/* For MINISWHITE, where 0 is white. */
static void
invert(const struct tiff_page *page, void *row, size_t n)
{
	unsigned char *bytes = row;
	uint16_t *shorts = row;

	if (page->element == ELEMENT_U8)
		for (size_t i = 0; i < n; i++)
			bytes[i] = (unsigned char)((page->keep_bits ? 1 : 255) - bytes[i]);
	else if (page->element == ELEMENT_U16)
		for (size_t i = 0; i < n; i++)
			shorts[i] = (uint16_t)(65535 - shorts[i]);
}

static void
place_palette(const struct tiff_page *page, const unsigned char *index, struct frame *frame,
    size_t x, size_t y, size_t n)
{
	for (size_t c = 0; c < 3; c++) {
		unsigned char *to = (unsigned char *)frame_row(frame, c, y) + x;

		for (size_t i = 0; i < n; i++)
			to[i] = (unsigned char)(page->palette[c][index[i]] >> 8);
	}
}

/* Are the samples in the file those of the frame? */
static bool
is_plain(const struct tiff_page *page)
{
	return !page->palette[0] && page->bits >= 8 &&
	    page->photometric != PHOTOMETRIC_MINISWHITE && (page->element == ELEMENT_U8 ||
	    page->element == ELEMENT_U16 || page->element == ELEMENT_F32);
}

/* n pixels of one row of a block, which holds channels first .. first + count - 1. */
static void
place_row(const struct tiff_page *page, const unsigned char *row, size_t first, size_t count,
    struct frame *frame, size_t x, size_t y, size_t n)
{
	size_t sample = sample_size(frame->head.type), size = samples_element_size(page->element);
	unsigned char index[256];

	if (page->palette[0]) {
		for (size_t i = 0, k; i < n; i += k) {
			k = n - i < 256 ? n - i : 256;
			if (page->bits < 8)
				unpack_bits(page, row, i, 1, index, k);
			else
				memcpy(index, row + i, k);
			place_palette(page, index, frame, x + i, y, k);
		}
		return;
	}
	if (is_plain(page)) {
		samples_split_part(row, count, frame, first, x, y, n);
		return;
	}
	for (size_t k = 0; k < count; k++) {
		unsigned char *to = (unsigned char *)frame_row(frame, first + k, y) + x * sample;

		if (page->bits < 8)
			unpack_bits(page, row, k, count, to, n);
		else
			samples_convert(page->element, false, row + k * size, count * size, to, n);
		if (page->photometric == PHOTOMETRIC_MINISWHITE)
			invert(page, to, n);
	}
}

static int
read_block(struct tiff_reading *reading, const struct tiff_page *page, uint32_t number, size_t rows,
    unsigned char *block)
{
	tmsize_t expected = (tmsize_t)(rows * page->block_row), got;

	if (page->tiled)
		got = libtiff.ReadEncodedTile(reading->tif, number, block,
		    (tmsize_t)page->block_bytes);
	else
		got = libtiff.ReadEncodedStrip(reading->tif, number, block, expected);
	if (got < expected)
		return tiff_fail_damaged(reading, "block", number);
	return 0;
}

/* Is a strip the same bytes in the file and in the frame? Then libtiff unpacks it there. */
static bool
lies_in_place(const struct tiff_page *page, size_t count, const struct frame *frame)
{
	return is_plain(page) && count == 1 && !page->tiled &&
	    frame->plane[0].stride == page->block_row;
}

/* The block whose first pixel is (x, y), of channels first .. first + count - 1. */
static int
place_block(struct tiff_reading *reading, const struct tiff_page *page, uint32_t number,
    size_t first, size_t count, size_t x, size_t y, unsigned char *block, struct frame *frame)
{
	size_t rows = page->h - y < page->block_h ? page->h - y : page->block_h;
	size_t n = page->w - x < page->block_w ? page->w - x : page->block_w;

	if (lies_in_place(page, count, frame))
		return read_block(reading, page, number, rows, frame_row(frame, first, y));
	if (read_block(reading, page, number, rows, block) < 0)
		return -1;
	for (size_t i = 0; i < rows; i++)
		place_row(page, block + i * page->block_row, first, count, frame, x, y + i, n);
	return 0;
}

/* Do the strips of a plane lie in the file as they do in the image, as plain bytes? Where, or 0. */
static uint64_t
plain_plane(struct tiff_reading *reading, const struct tiff_page *page, uint32_t first)
{
	const uint64_t start = libtiff.GetStrileOffset(reading->tif, first);
	uint16_t order = FILLORDER_MSB2LSB;
	uint64_t at = start;

	libtiff.GetFieldDefaulted(reading->tif, TIFFTAG_FILLORDER, &order);
	if (!is_plain(page) || page->tiled || page->compression != COMPRESSION_NONE ||
	    order != FILLORDER_MSB2LSB || libtiff.IsByteSwapped(reading->tif))
		return 0;
	for (size_t y = 0; y < page->h; y += page->block_h, first++) {
		size_t rows = page->h - y < page->block_h ? page->h - y : page->block_h;

		if (libtiff.GetStrileOffset(reading->tif, first) != at ||
		    libtiff.GetStrileByteCount(reading->tif, first) < rows * page->block_row)
			return 0;
		at += rows * page->block_row;
	}
	return at <= (uint64_t)tiff_file_size(reading) ? start : 0;
}

/* Rows of several channels from `at` on, `once` of them at once by way of `buffer`. */
static bool
read_plain_rows(const struct tiff_reading *reading, const struct tiff_page *page, off_t at,
    size_t once, void *buffer, size_t first, size_t count, struct frame *frame)
{
	const size_t row = page->block_row;

	for (size_t y = 0; y < page->h; y += once) {
		size_t n = page->h - y < once ? page->h - y : once;

		if (pread(reading->fd, buffer, n * row, at) != (ssize_t)(n * row))
			return false;
		for (size_t i = 0; i < n; i++)
			samples_split_part((char *)buffer + i * row, count, frame, first, 0, y + i,
			    page->w);
		at += (off_t)(n * row);
	}
	return true;
}

/* Reads such a plane without libtiff: false where the caller is to do it, and to find the error. */
static bool
read_plain_plane(struct tiff_reading *reading, const struct tiff_page *page, uint32_t number,
    size_t first, size_t count, struct frame *frame)
{
	const size_t row = page->block_row, once = row < PLAIN_BYTES ? PLAIN_BYTES / row : 1;
	off_t at = reading->fd < 0 ? 0 : (off_t)plain_plane(reading, page, number);
	struct pixel_store *store;
	void *buffer;
	bool done;

	if (at == 0)
		return false;
	if (lies_in_place(page, count, frame))
		return pread(reading->fd, frame_row(frame, first, 0), row * page->h, at) ==
		    (ssize_t)(row * page->h);
	store = pixel_store_scratch(once * row, &buffer);
	if (!store)
		return false;
	done = read_plain_rows(reading, page, at, once, buffer, first, count, frame);
	pixel_store_drop(store);
	return done;
}

static uint32_t
blocks_of(const struct tiff_page *page)
{
	return (uint32_t)(((page->h - 1) / page->block_h + 1) *
	    ((page->w - 1) / page->block_w + 1));
}

static int
read_plane(struct tiff_reading *reading, const struct tiff_page *page, uint32_t number,
    size_t first, size_t count, struct frame *frame)
{
	struct pixel_store *store = NULL;
	void *block = NULL;
	bool zeroed;
	int status = 0;

	/* whose pages are there already when the next file is read */
	if (!lies_in_place(page, count, frame)) {
		store = pixel_store_new(page->block_bytes, 1, &block, &zeroed);
		if (!store)
			return fail_memory();
	}
	for (size_t y = 0; y < page->h; y += page->block_h)
		for (size_t x = 0; x < page->w && status == 0; x += page->block_w)
			status = place_block(reading, page, number++, first, count, x, y, block,
			    frame);
	pixel_store_drop(store);
	return status;
}

/* Blocks are numbered plane by plane, then row by row, then from the left. */
int
tiff_read_blocks(struct tiff_reading *reading, const struct tiff_page *page, struct frame *frame)
{
	bool contiguous = page->planar == PLANARCONFIG_CONTIG;
	size_t planes = contiguous ? 1 : page->c, count = contiguous ? page->c : 1;
	const size_t channel = frame->head.c > 1 ? page->channel : 0;
	uint32_t number = 0;

	for (size_t plane = 0; plane < planes; plane++, number += blocks_of(page))
		if (!read_plain_plane(reading, page, number, plane + channel, count, frame) &&
		    read_plane(reading, page, number, plane + channel, count, frame) < 0)
			return -1;
	return 0;
}
