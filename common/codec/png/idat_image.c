#include "codec/png/idat_image.h"

#include <stdint.h>
#include <string.h>

#include "base/fail.h"
#include "codec/png/deflate_runs.h"
#include "frame/samples.h"

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
		samples_swap(to, w * frame->head.c, 2);
}

static void
filter_rows(const struct idat_image *image, size_t y0, size_t y1, enum filter filter,
    unsigned char *to)
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
copy_rows(const struct idat_image *image, size_t y0, size_t y1, unsigned char *to)
{
	for (size_t y = y0; y < y1; y++, to += image->row_bytes + 1) {
		*to = 0;
		take_row(image->frame, y, image->options->one_bit, to + 1);
	}
}

void
idat_image_rows(const struct idat_image *image, size_t y0, size_t y1, enum filter filter,
    unsigned char *to)
{
	if (filter == FILTER_NONE)
		copy_rows(image, y0, y1, to);
	else
		filter_rows(image, y0, y1, filter, to);
}

size_t
idat_image_deflate(struct libdeflate_compressor *compressor, const unsigned char *from, size_t n,
    unsigned char *to)
{
	return !compressor ? deflate_runs(from, n, to) : libdeflate_zlib_compress(compressor, from,
	    n, to, libdeflate_zlib_compress_bound(compressor, n));
}

size_t
idat_image_room(size_t n)
{
	size_t runs = deflate_runs_most(n), matches = libdeflate_zlib_compress_bound(NULL, n);

	return runs > matches ? runs : matches;
}

size_t
idat_image_pack(const struct idat_image *image, const struct idat_packing *method,
    unsigned char *to)
{
	struct libdeflate_compressor *compressor = NULL;
	size_t n;

	if (!method->runs && !(compressor = compressor_take(method->level))) {
		fail_memory();
		return 0;
	}
	n = idat_image_deflate(compressor, image->rows, image->bytes, to);
	compressor_give(compressor, method->level);
	return n;
}
