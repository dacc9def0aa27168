/*
 * BMP. Written: 8 bits of grey, one bit, or 24 bits, from the bottom, with BITMAPINFOHEADER, as
 * projectors take them; it has no place for metadata. Read: BITMAPINFOHEADER, V4 and V5; 1, 4 and
 * 8 bits with a palette; 16, 24 and 32 bits,
 * with bit masks where the file gives them; rows from the bottom or from the top. A palette of
 * greys, the only way BMP has to keep a grey image, gives one channel. The fourth byte of 32 bits
 * is a channel only if the file says, by a mask, that it is alpha.
 */
#include "io/codec.h"

#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "frame/samples.h"

enum { RGB_PLAIN = 0, RGB_BITFIELDS = 3, RGB_ALPHABITFIELDS = 6 };

struct bmp {
	size_t w, h, channels;
	unsigned bits;
	bool from_top;
	size_t row_bytes;
	size_t colours;				/* in the palette */
	unsigned char level[3][256];		/* r g b of its entries */
	bool levels_are_indices;		/* greys that are their own indices */
	uint32_t mask[4];			/* r g b a */
	bool profile;				/* of colours, behind the pixels */
};

static bool
bmp_sniff(const unsigned char *start, size_t n)
{
	/* two letters are a weak sign; the size of the second header is a stronger one */
	return n >= 18 && start[0] == 'B' && start[1] == 'M' && start[14] >= 12 &&
	    start[14] <= 124 && !start[15] && !start[16] && !start[17];
}

static uint32_t
number(const unsigned char *at, int bytes)
{
	uint32_t v = 0;

	for (int i = 0; i < bytes; i++)
		v |= (uint32_t)at[i] << 8 * i;
	return v;
}

static int
set_masks(struct loader *loader, struct bmp *bmp, uint32_t compression,
    const unsigned char *masks, size_t header_size)
{
	if (compression == RGB_PLAIN) {
		uint32_t five = 31;

		bmp->mask[0] = bmp->bits == 16 ? five << 10 : 0xff0000;
		bmp->mask[1] = bmp->bits == 16 ? five << 5 : 0xff00;
		bmp->mask[2] = bmp->bits == 16 ? five : 0xff;
	} else {
		if (bmp->bits != 16 && bmp->bits != 32)
			return fail(loader->path, "BMP has bit masks for %u bits", bmp->bits);
		for (int c = 0; c < 3; c++)
			bmp->mask[c] = number(masks + 4 * c, 4);
		if (header_size >= 56 || compression == RGB_ALPHABITFIELDS)
			bmp->mask[3] = number(masks + 12, 4);
	}
	bmp->channels = bmp->mask[3] ? 4 : 3;
	return 0;
}

/* Reads both headers and the masks behind them: BITMAPINFOHEADER is followed by them, the later
 * headers contain them at the same place. *start is where the pixels begin. */
static int
read_header(struct loader *loader, struct bmp *bmp, uint32_t *start, uint32_t *palette_start)
{
	unsigned char h[14 + 124 + 16] = { 0 };
	uint32_t size, compression, masks = 0;
	int32_t height;

	if (samples_read(loader->path, loader->file, h, 18) < 0)
		return -1;
	size = number(h + 14, 4);
	if (size < 40 || size > 124)
		return fail(loader->path, "BMP header of %u bytes is not known", size);
	if (samples_read(loader->path, loader->file, h + 18, size - 4) < 0)
		return -1;
	compression = number(h + 30, 4);
	if (compression != RGB_PLAIN && compression != RGB_BITFIELDS &&
	    compression != RGB_ALPHABITFIELDS)
		return fail(loader->path, "BMP compression %u is not read (1 and 2 are run "
		    "lengths)", compression);
	if (size == 40 && compression != RGB_PLAIN)
		masks = compression == RGB_BITFIELDS ? 12 : 16;
	if (samples_read(loader->path, loader->file, h + 14 + size, masks) < 0)
		return -1;
	height = (int32_t)number(h + 22, 4);
	bmp->w = number(h + 18, 4);
	bmp->from_top = height < 0;
	bmp->h = height < 0 ? -(size_t)(int64_t)height : (size_t)height;
	bmp->bits = number(h + 28, 2);
	bmp->colours = number(h + 46, 4);
	bmp->profile = number(h + 130, 4) > 0;
	*start = number(h + 10, 4);
	*palette_start = 14 + size + masks;
	if (bmp->w > INT32_MAX || bmp->w == 0 || bmp->h == 0)
		return fail(loader->path, "BMP has no valid size: %zu x %d", bmp->w, height);
	if (bmp->bits > 8)
		return set_masks(loader, bmp, compression, h + 54, size);
	return 0;
}

static int
read_palette(struct loader *loader, struct bmp *bmp)
{
	size_t most = (size_t)1 << bmp->bits;
	unsigned char palette[256][4];		/* b g r 0 */

	if (bmp->colours == 0 || bmp->colours > most)
		bmp->colours = most;
	if (samples_read(loader->path, loader->file, palette, bmp->colours * 4) < 0)
		return -1;
	bmp->channels = 1;
	bmp->levels_are_indices = bmp->colours == 256;
	for (size_t i = 0; i < bmp->colours; i++) {
		const unsigned char *colour = palette[i];

		if (colour[0] != colour[1] || colour[0] != colour[2])
			bmp->channels = 3;
		bmp->levels_are_indices = bmp->levels_are_indices && colour[2] == i;
		for (size_t c = 0; c < 3; c++)
			bmp->level[c][i] = colour[2 - c];
	}
	return 0;
}

static int
read_head(struct loader *loader, struct bmp *bmp)
{
	uint32_t start = 0, palette_start = 0;

	if (read_header(loader, bmp, &start, &palette_start) < 0)
		return -1;
	if (bmp->bits == 1 || bmp->bits == 4 || bmp->bits == 8) {
		if (fseeko(loader->file, palette_start, SEEK_SET) < 0)
			return fail_errno(loader->path, "cannot be read");
		if (read_palette(loader, bmp) < 0)
			return -1;
	} else if (bmp->bits != 16 && bmp->bits != 24 && bmp->bits != 32) {
		return fail(loader->path, "BMP of %u bits a pixel is not known", bmp->bits);
	}
	if (start < palette_start)
		return fail(loader->path, "BMP pixels are said to begin inside the header, at %u",
		    start);
	if (fseeko(loader->file, start, SEEK_SET) < 0)
		return fail_errno(loader->path, "cannot be read");
	/* w is below 2^31 and bits at most 32, so that this cannot overflow */
	bmp->row_bytes = (bmp->w * bmp->bits + 31) / 32 * 4;
	return samples_check_claim(loader->path, image_bytes_left(loader), bmp->row_bytes, bmp->h,
	    1, 8, 1);
}

/* The bits under a mask as a value from 0 to 255. */
static unsigned char
under_mask(uint32_t v, uint32_t mask)
{
	uint64_t top, bits;

	if (!mask)
		return 0;
	top = mask >> __builtin_ctz(mask);
	bits = (v & mask) >> __builtin_ctz(mask);
	return (unsigned char)((bits * 255 + top / 2) / top);
}

/* Up to 8 bits: indices into the palette. */
static void
place_indices(const struct bmp *bmp, const unsigned char *row, size_t c, unsigned char *to)
{
	const unsigned mask = (1u << bmp->bits) - 1;
	const unsigned char *level = bmp->level[c];

	if (bmp->channels == 1 && bmp->levels_are_indices)
		memcpy(to, row, bmp->w);
	else if (bmp->bits == 8)
		for (size_t x = 0; x < bmp->w; x++)
			to[x] = level[row[x]];
	else
		for (size_t x = 0; x < bmp->w; x++) {
			const size_t at = x * bmp->bits;

			to[x] = level[row[at / 8] >> (8 - bmp->bits - at % 8) & mask];
		}
}

/* 16 or 32 bits, of which channel c has those under its mask. */
static void
place_masked(const struct bmp *bmp, const unsigned char *row, size_t c, unsigned char *to)
{
	const size_t bytes = bmp->bits / 8;
	const uint32_t mask = bmp->mask[c];

	for (unsigned byte = 0; byte < 4 && bytes == 4; byte++)
		if (mask == (uint32_t)0xff << 8 * byte) {
			for (size_t x = 0; x < bmp->w; x++)
				to[x] = row[4 * x + byte];
			return;
		}
	for (size_t x = 0; x < bmp->w; x++)
		to[x] = under_mask(number(row + x * bytes, (int)bytes), mask);
}

struct placing {
	const struct bmp *bmp;
	struct frame *frame;
};

static void
place_next(void *arg, size_t row, void *samples)
{
	const struct placing *placing = arg;
	const struct bmp *bmp = placing->bmp;
	void *to[4];

	for (size_t c = 0; c < bmp->channels; c++) {
		to[c] = frame_row(placing->frame, c, bmp->from_top ? row : bmp->h - 1 - row);
		if (bmp->bits <= 8)
			place_indices(bmp, samples, c, to[c]);
		else if (bmp->bits != 24)
			place_masked(bmp, samples, c, to[c]);
	}
	if (bmp->bits == 24)	/* blue is the first byte */
		interleave_choice(0)->split(1, samples, 3, (void *[]){ to[2], to[1], to[0] },
		    bmp->w);
}

static int
new_frame(const struct bmp *bmp, struct frame **out)
{
	return frame_new_named(bmp->w, bmp->h, bmp->channels, SAMPLE_UCHAR, NULL, out);
}

static int
bmp_load(struct loader *loader, struct frame **out)
{
	struct bmp bmp = { 0 };

	*out = NULL;
	if (read_head(loader, &bmp) < 0 || new_frame(&bmp, out) < 0)
		return -1;
	if (stream_each(loader, bmp.h, bmp.row_bytes, place_next,
	    &(struct placing){ &bmp, *out }) < 0) {
		frame_replace(out, NULL);
		return -1;
	}
	if (!bmp.profile)
		samples_warn_rest(loader->path, samples_rest_read(loader->file));
	return 1;
}

/* A file that ends with its pixels. */
static int
bmp_load_whole(const struct whole_file *file, struct frame **out)
{
	struct loader start = whole_file_start(file);
	struct bmp bmp = { 0 };
	bool done = false;

	*out = NULL;
	if (start.file && read_head(&start, &bmp) == 0) {
		const size_t at = (size_t)ftello(start.file);

		done = (file->bytes - at) / bmp.row_bytes == bmp.h &&
		    (file->bytes - at) % bmp.row_bytes == 0 && new_frame(&bmp, out) == 0 &&
		    whole_file_each(file, at, bmp.h, bmp.row_bytes, place_next,
		    &(struct placing){ &bmp, *out });
	}
	if (start.file)
		fclose(start.file);
	if (done)
		return 1;
	fail_clear();
	frame_replace(out, NULL);
	return 0;
}

/* ---- writing ---- */

#define HEADER_BYTES 54		/* of both headers */

static void
put_number(unsigned char *at, size_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = (unsigned char)(v >> 8 * i);
}

/* The bits of a pixel, and the bytes of a row, whole words of four. */
static size_t
row_bytes_of(const struct frame_head *head, size_t *bits)
{
	const char *text = meta_get(&head->meta, "bits");

	*bits = head->c == 1 && text && !strcmp(text, "1") ? 1 : 8 * head->c;
	return (head->w * *bits + 31) / 32 * 4;
}

static void
pack_row(const struct frame *frame, size_t row, void *to)
{
	const struct frame_head *head = &frame->head;
	size_t y = head->h - 1 - row, bits, bytes = row_bytes_of(head, &bits);
	unsigned char *packed = memset(to, 0, bytes);
	const unsigned char *first = frame_row(frame, 0, y);

	if (bits == 24)
		interleave_choice(0)->join(1, to, 3, (const void *[]){ frame_row(frame, 2, y),
		    frame_row(frame, 1, y), first }, head->w);
	else if (bits == 8)
		memcpy(to, first, head->w);
	else
		for (size_t x = 0; x < head->w; x++)
			packed[x / 8] |= (unsigned char)((first[x] != 0) << (7 - x % 8));
}

static int
bmp_save(struct saver *saver, const struct frame *frame)
{
	unsigned char head[HEADER_BYTES + 4 * 256] = { 'B', 'M' };
	const struct frame_head *shown = &frame->head;
	size_t bits, bytes = row_bytes_of(shown, &bits), colours = bits > 8 ? 0 : 1 << bits;
	size_t start = HEADER_BYTES + 4 * colours, all;

	if ((shown->c != 1 && shown->c != 3) || shown->type != SAMPLE_UCHAR)
		return fail(saver->path, "BMP holds 1 or 3 channels of uchar, not %zu of %s (use "
		    "framecat --channels or --scale, or PNG)", shown->c, sample_name(shown->type));
	if (size_multiply(bytes, shown->h, &all) < 0 || all > UINT32_MAX - start)
		return fail(saver->path, "BMP holds up to 4 GiB, not %zu x %zu", shown->w,
		    shown->h);
	put_number(head + 2, start + all, 4);
	put_number(head + 10, start, 4);
	put_number(head + 14, 40, 4);
	put_number(head + 18, shown->w, 4);
	put_number(head + 22, shown->h, 4);
	put_number(head + 26, 1, 2);
	put_number(head + 28, bits, 2);
	put_number(head + 34, all, 4);
	put_number(head + 46, colours, 4);
	for (size_t i = 0; i < colours; i++)	/* greys */
		memset(head + HEADER_BYTES + 4 * i, bits == 1 ? 255 * (int)i : (int)i, 3);
	return samples_write_rows(saver->path, saver->file, head, start,
	    &(struct samples_rows){ frame, 0, shown->h, bytes, pack_row });
}

const struct codec codec_bmp = {
	.name = "BMP",
	.suffixes = "bmp",
	.seeks = true,
	.sniff = bmp_sniff,
	.load = bmp_load,
	.load_whole = bmp_load_whole,
	.save = bmp_save,
	.large_writes = true
};
