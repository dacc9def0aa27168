/*
 * Writes PNG files (PNG specification, second edition): filters the rows, packs them by libdeflate,
 * and puts the chunks around them. The rule is one: each row has the filter whose differences have
 * the smallest sum of magnitudes, as the specification advises; pictures of few levels, which are
 * signs rather than measurements (dithered, labels), have none and a longer search.
 */

#include <libdeflate.h>
#include <stdatomic.h>

#include "base/process.h"
#include "codec/png/lanes.h"
#include "codec/png/png_codec.h"
#include "frame/frame.h"
#include "frame/pixel_store.h"
#include "frame/samples.h"

/* libdeflate's levels, 1 to 12. */
#define LEVEL 5
#define LEVEL_FEW_VALUES 6	/* 8 takes three times as long for 2 to 12 % fewer dithered bytes */
#define LEVEL_ONE_BIT 5
#define LEVEL_FAST 1

#define AT(name) offsetof(struct png_options, name)

const struct opt png_options[] = {
	FLAG_ROW(0, "fast", fast, NULL),
	{ 0, "level", "N", OPT_INTEGER, AT(level), NULL, 1, 12 },
	{ 0 },
};

/* ---- filters ---- */

/* The difference that a filter makes of 16 bytes. */
static inline lanes
difference(const unsigned char *row, const unsigned char *above, size_t pixel_bytes,
    enum filter filter)
{
	const lanes v = lanes_load(row);

	switch (filter) {
	case FILTER_SUB:
		return v - lanes_load(row - pixel_bytes);
	case FILTER_UP:
		return v - lanes_load(above);
	case FILTER_AVERAGE:
		return v - lanes_mean(lanes_load(row - pixel_bytes), lanes_load(above));
	case FILTER_PAETH:
		return v - lanes_paeth(lanes_load(row - pixel_bytes), lanes_load(above),
		    lanes_load(above - pixel_bytes));
	default:
		return v;
	}
}

/* Bytes behind the row's n count as 0. */
static enum filter
least_filter(const unsigned char *row, const unsigned char *above, size_t n, size_t pixel_bytes)
{
	lane_sums sum[FILTERS] = { 0 };
	enum filter least = FILTER_NONE;
	unsigned char inside[LANES] = { 0 };
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		for (enum filter f = FILTER_NONE; f < FILTERS; f++)
			sum[f] = lanes_add_magnitudes(sum[f],
			    difference(row + i, above + i, pixel_bytes, f));
	memset(inside, 0xff, n - i);
	for (enum filter f = FILTER_NONE; f < FILTERS; f++)
		sum[f] = lanes_add_magnitudes(sum[f], lanes_load(inside) &
		    difference(row + i, above + i, pixel_bytes, f));
	for (enum filter f = FILTER_SUB; f < FILTERS; f++)
		if (sum[f][0] + sum[f][1] < sum[least][0] + sum[least][1])
			least = f;
	return least;
}

/* Inlined for each filter, so that the choice is made once a row. */
static inline __attribute__((always_inline)) void
filter_by(const unsigned char *row, const unsigned char *above, size_t n, size_t pixel_bytes,
    enum filter filter, unsigned char *to)
{
	*to++ = (unsigned char)filter;
	for (size_t i = 0; i < n; i += LANES)
		lanes_store(to + i, difference(row + i, above + i, pixel_bytes, filter));
}

void
filter_row(const unsigned char *row, const unsigned char *above, size_t n, size_t pixel_bytes,
    unsigned char *to)
{
	switch (least_filter(row, above, n, pixel_bytes)) {
	case FILTER_SUB:
		filter_by(row, above, n, pixel_bytes, FILTER_SUB, to);
		break;
	case FILTER_UP:
		filter_by(row, above, n, pixel_bytes, FILTER_UP, to);
		break;
	case FILTER_AVERAGE:
		filter_by(row, above, n, pixel_bytes, FILTER_AVERAGE, to);
		break;
	case FILTER_PAETH:
		filter_by(row, above, n, pixel_bytes, FILTER_PAETH, to);
		break;
	default:
		filter_by(row, above, n, pixel_bytes, FILTER_NONE, to);
	}
}

/* ---- rows ---- */

/* How a frame's pixels are packed. */
struct packing {
	bool one_bit;		/* one channel of zeros and ones, eight to a byte */
	bool filters;		/* a filter for each row, not none for all */
	int level;		/* of libdeflate's search for matches */
	size_t row_bytes;	/* without the filter's byte */
};

/* One bit a sample is used only where it keeps every value. */
static bool
fits_one_bit(const struct frame *frame)
{
	if (!png_is_one_bit(&frame->head) || frame->head.c != 1 || frame->head.type != SAMPLE_UCHAR)
		return false;
	for (size_t y = 0; y < frame->head.h; y++) {
		const unsigned char *row = frame_row(frame, 0, y);
		unsigned char all = 0;

		for (size_t x = 0; x < frame->head.w; x++)
			all |= row[x];
		if (all > 1)
			return false;
	}
	return true;
}

/* Has each channel so few values that they are rather signs? Their differences may have more. */
static bool
has_few_values(const struct frame *frame)
{
	const size_t most = 16;

	if (frame->head.type != SAMPLE_UCHAR)
		return false;
	for (size_t c = 0; c < frame->head.c; c++) {
		unsigned char seen[256] = { 0 };

		for (size_t y = 0; y < frame->head.h; y++) {
			const unsigned char *row = frame_row(frame, c, y);
			size_t values = 0;

			for (size_t x = 0; x < frame->head.w; x++)
				seen[row[x]] = 1;
			for (size_t v = 0; v < sizeof(seen); v++)
				values += seen[v];
			if (values > most)
				return false;
		}
	}
	return true;
}

static struct packing
choose_packing(const struct frame *frame, const struct png_options *options)
{
	const struct frame_head *head = &frame->head;
	struct packing packing = { .one_bit = fits_one_bit(frame) };

	packing.row_bytes = packing.one_bit ? (head->w + 7) / 8 :
	    head->w * head->c * sample_size(head->type);
	if (packing.one_bit) {		/* filters see bytes, not bits */
		packing.level = LEVEL_ONE_BIT;
	} else if (has_few_values(frame)) {
		packing.level = LEVEL_FEW_VALUES;
	} else {
		packing.level = LEVEL;
		packing.filters = true;
	}
	if (options->fast)
		packing.level = LEVEL_FAST;
	else if (options->level != OPT_NONE_INTEGER)
		packing.level = (int)options->level;
	return packing;
}

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
	if (one_bit) {
		join_bits(frame_row(frame, 0, y), frame->head.w, to);
		return;
	}
	samples_join(frame, y, to);
	if (frame->head.type == SAMPLE_USHORT)
		samples_swap(to, frame->head.w * frame->head.c, 2);
}

/* All rows, each behind the byte of its filter; without filters a row like the one above has Up,
 * which leaves zeros. `lines`: two rows with margins, all zero. */
static void
filter_rows(const struct frame *frame, const struct packing *packing, unsigned char *lines,
    unsigned char *to)
{
	const size_t pixel_bytes = frame->head.c * sample_size(frame->head.type);
	const size_t n = packing->row_bytes;
	unsigned char *row = lines + FILTER_MARGIN, *above = row + n + 2 * FILTER_MARGIN, *last;

	for (size_t y = 0; y < frame->head.h; y++, to += n + 1) {
		take_row(frame, y, packing->one_bit, row);
		if (packing->filters)
			filter_row(row, above, n, pixel_bytes, to);
		else if (memcmp(row, above, n) == 0)
			filter_by(row, above, n, pixel_bytes, FILTER_UP, to);
		else
			filter_by(row, above, n, pixel_bytes, FILTER_NONE, to);
		last = above;
		above = row;
		row = last;
	}
}

/* ---- compression ---- */

#define KEPT_LEVELS 10	/* compressors of higher levels take up to 10 MB and are not kept */
#define KEPT_COMPRESSORS 2	/* of a level */

static _Atomic(struct libdeflate_compressor *) kept[KEPT_LEVELS][KEPT_COMPRESSORS];

/* Packs n bytes as a zlib stream at `to`, which has room for libdeflate_zlib_compress_bound(). Its
 * bytes; 0: no memory (nothing recorded). None is kept under sanitizers. */
static size_t
deflate_rows(int level, const unsigned char *from, size_t n, unsigned char *to)
{
	struct libdeflate_compressor *compressor = NULL;
	const size_t slots = !SANITIZED && level < KEPT_LEVELS ? KEPT_COMPRESSORS : 0;
	size_t bytes;

	for (size_t i = 0; i < slots && !compressor; i++)
		compressor = atomic_exchange(&kept[level][i], NULL);
	if (!compressor && !(compressor = libdeflate_alloc_compressor(level)))
		return 0;
	bytes = libdeflate_zlib_compress(compressor, from, n, to,
	    libdeflate_zlib_compress_bound(compressor, n));
	for (size_t i = 0; i < slots && compressor; i++)
		compressor = atomic_exchange(&kept[level][i], compressor);
	libdeflate_free_compressor(compressor);
	return bytes;
}

/* ---- chunks ---- */

#define CHUNK_HEAD 8	/* length and type */
#define CHUNK_CRC 4
#define CHUNK_MOST 0x7fffffff	/* bytes; also columns, rows */
#define HEAD_ROOM 128	/* bytes before the pixels, besides the key lines */

static unsigned char *
put_big_endian(unsigned char *at, size_t v)
{
	for (int i = 0; i < 4; i++)
		*at++ = (unsigned char)(v >> (24 - 8 * i));
	return at;
}

/* Completes a chunk whose n bytes of data are there, behind the room for its head. Its end. */
static unsigned char *
put_chunk(unsigned char *chunk, const char *type, size_t n)
{
	put_big_endian(chunk, n);
	memcpy(chunk + 4, type, 4);
	return put_big_endian(chunk + CHUNK_HEAD + n, libdeflate_crc32(0, chunk + 4, n + 4));
}

/* All chunks before the pixels. */
static unsigned char *
put_head(unsigned char *at, const struct frame_head *head, bool one_bit, const char *text)
{
	static const unsigned char signature[] = "\x89PNG\r\n\x1a\n", colour[] = { 0, 4, 2, 6 };
	static const char latin[] = "fringepipe", utf8[] = "fringepipe\0\0\0\0";
	const size_t n = strlen(text);
	bool is_ascii = true;
	unsigned char *data;

	memcpy(at, signature, sizeof(signature) - 1);
	at += sizeof(signature) - 1;
	data = put_big_endian(put_big_endian(at + CHUNK_HEAD, head->w), head->h);
	memset(data, 0, 5);	/* deflate, the five filters, not interlaced */
	data[0] = one_bit ? 1 : (unsigned char)(8 * sample_size(head->type));
	data[1] = colour[head->c - 1];
	at = put_chunk(at, "IHDR", 13);
	if (n == 0)
		return at;
	for (size_t i = 0; i < n; i++)
		is_ascii &= (unsigned char)text[i] <= 0x7e;
	/* tEXt is Latin 1; iTXt is UTF-8, not compressed, of no language */
	data = at + CHUNK_HEAD;
	memcpy(data, utf8, sizeof(utf8));
	data += is_ascii ? sizeof(latin) : sizeof(utf8);
	memcpy(data, text, n);
	return put_chunk(at, is_ascii ? "tEXt" : "iTXt",
	    (is_ascii ? sizeof(latin) : sizeof(utf8)) + n);
}

/* Writes what lies from `start` on, the n packed bytes, behind the room for a chunk's head, and the
 * file's end. What follows them is room. */
static int
write_pixels(const struct saver *saver, unsigned char *start, unsigned char *chunk, size_t n)
{
	while (n > 0) {
		const size_t piece = n < CHUNK_MOST ? n : CHUNK_MOST;
		unsigned char *next = chunk + CHUNK_HEAD + piece, kept_bytes[CHUNK_CRC], *end;

		memcpy(kept_bytes, next, CHUNK_CRC);
		end = put_chunk(chunk, "IDAT", piece);
		n -= piece;
		if (n == 0)
			end = put_chunk(end, "IEND", 0);
		if (samples_write(saver->path, saver->file, start, (size_t)(end - start)) < 0)
			return -1;
		memcpy(next, kept_bytes, CHUNK_CRC);
		start = chunk = next - CHUNK_HEAD;
	}
	return 0;
}

static int
check_writable(const char *path, const struct frame_head *head)
{
	if (head->type == SAMPLE_FLOAT)
		return fail(path, "PNG holds 8 or 16 bits a sample, not float (use framecat "
		    "--scale, or a TIFF, PFM or NRRD file)");
	if (head->c > 4)
		return fail(path, "PNG holds 1 to 4 channels, not %zu (use framecat --channels, or "
		    "--split for a file each)", head->c);
	if (head->w > CHUNK_MOST || head->h > CHUNK_MOST)
		return fail(path, "PNG holds no image of %zu x %zu", head->w, head->h);
	return 0;
}

/* The bytes of a file do not depend on how much memory there is. Besides the frame it takes twice
 * the bytes of the pixels, and what libdeflate needs, up to 10 MB. */
int
png_save(struct saver *saver, const struct frame *frame)
{
	const struct frame_head *head = &frame->head;
	size_t head_room, packed_room, rows_bytes, n;
	unsigned char *lines = NULL, *start, *rows, *chunk;
	struct pixel_store *store;
	struct packing packing;
	void *memory;
	int status = -1;
	char *text;

	if (check_writable(saver->path, head) < 0)
		return -1;
	text = head_to_text(head);
	packing = choose_packing(frame, saver->options);
	rows_bytes = (packing.row_bytes + 1) * head->h;
	/* by whole pages, so that the store can be used again for the next image of this size */
	head_room = (strlen(text) + HEAD_ROOM) / 4096 * 4096 + 4096;
	packed_room = libdeflate_zlib_compress_bound(NULL, rows_bytes) + 2 * CHUNK_HEAD +
	    2 * CHUNK_CRC;
	store = pixel_store_scratch(head_room + packed_room + rows_bytes + FILTER_MARGIN, &memory);
	lines = calloc(2, packing.row_bytes + 2 * FILTER_MARGIN);
	if (store && lines) {
		start = memory;
		rows = start + head_room + packed_room;
		chunk = put_head(start, head, packing.one_bit, text);
		filter_rows(frame, &packing, lines, rows);
		n = deflate_rows(packing.level, rows, rows_bytes, chunk + CHUNK_HEAD);
		status = n ? write_pixels(saver, start, chunk, n) : fail_memory();
	} else {
		fail_memory();
	}
	pixel_store_drop(store);
	free(lines);
	free(text);
	return status;
}
