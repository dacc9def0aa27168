/*
 * Reads PNG files, and holds the codec's entry. libpng parses the chunks; rows of the common types
 * are inflated by libdeflate or ISA-L and unfiltered here, which takes a third of the time. Our key
 * lines are a text chunk with the keyword "fringepipe".
 */

#include <libdeflate.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>

#include "base/process.h"
#include "base/text.h"
#include "codec/png/lanes.h"
#include "codec/png/png_codec.h"
#include "frame/frame.h"
#include "frame/pixel_store.h"
#include "frame/samples.h"

/*
 * By ISA-L's igzip where it is the faster one, else by libdeflate. igzip finds up to three literals
 * with one look into its table, libdeflate takes a branch for each, which noise makes impossible to
 * foresee. Measured, igzip to libdeflate: pictures with a camera's noise that our own writer packed
 * 1.5 to 2.0 times as fast, those that libpng or OpenCV packed 1.1 to 1.6; but 0.7 to 0.9 times
 * where few repetitions make most of the bytes, or none is left that could be packed.
 */

#if defined(__x86_64__) && __has_include(<isa-l/igzip_lib.h>)
#define HAS_ISAL 1
#include <isa-l/igzip_lib.h>
#include <stdatomic.h>
#else
#define HAS_ISAL 0
#endif

#if HAS_ISAL

/* Loaded when the first stream comes that is its own: relocating it costs every start else. */
static struct {
	void (*init)(struct inflate_state *);
	int (*inflate)(struct inflate_state *);
} isal;

static bool
isal_load(void)
{
	static const char *const names[] = { "isal_inflate_init", "isal_inflate_stateless" };
	static const struct library library = { "libisal.so.2", 2, names, &isal };
	static atomic_bool missing;

	if (missing)
		return false;
	if (library_load(&library) == 0)
		return true;
	fail_clear();
	missing = true;
	return false;
}

bool
inflate_by_isal(const unsigned char *packed, size_t packed_bytes, unsigned char *to, size_t n)
{
	struct inflate_state *state;
	bool done;

	if (packed_bytes > INT32_MAX || n > INT32_MAX || !isal_load())
		return false;
	state = malloc(sizeof(*state));
	if (!state)
		return false;
	isal.init(state);
	state->crc_flag = ISAL_ZLIB;
	state->next_in = (unsigned char *)packed;	/* it is only read */
	state->avail_in = (uint32_t)packed_bytes;
	state->next_out = to;
	state->avail_out = (uint32_t)n;
	done = isal.inflate(state) == ISAL_DECOMP_OK && state->total_out == n &&
	    state->avail_in == 0 && state->read_in_length < 8;
	free(state);
	return done;
}

#else

bool
inflate_by_isal(const unsigned char *, size_t, unsigned char *, size_t)
{
	return false;
}

#endif

bool
inflate_by_libdeflate(const unsigned char *packed, size_t packed_bytes, unsigned char *to, size_t n)
{
	struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
	enum libdeflate_result result;
	size_t used;

	if (!decompressor)
		return false;
	result = libdeflate_zlib_decompress_ex(decompressor, packed, packed_bytes, to, n, &used,
	    NULL);
	libdeflate_free_decompressor(decompressor);
	return result == LIBDEFLATE_SUCCESS && used == packed_bytes;
}

/* Are most of the symbols literals, and short? They pack to a third or more, but not to nearly all;
 * measured on captures of six cameras, simulated ones, depth maps, and what three writers make. */
static bool
is_noise(size_t packed_bytes, size_t n)
{
	return n / 13 >= packed_bytes / 10 && n / 32 <= packed_bytes / 10;
}

bool
inflate_whole(const unsigned char *packed, size_t packed_bytes, unsigned char *to, size_t n)
{
	return (is_noise(packed_bytes, n) && inflate_by_isal(packed, packed_bytes, to, n)) ||
	    inflate_by_libdeflate(packed, packed_bytes, to, n);
}

/*
 * Up and Sub go along a row in vectors. Average and Paeth need the pixel to the left first, so
 * several rows are in work at once: each row is a pixel behind the row above it, and a vector holds
 * a pixel of each of them.
 */

/* Bytes around the rows that may be read, but are not written. */
#define UNFILTER_MARGIN 64
#define UNFILTER_ROWS 16	/* a number of rows that is quick */

/* Rows in work at once: lane k of a vector belongs to row k, as many bytes as a pixel has. */
struct rows {
	unsigned char *pixels[LANES];	/* of row k, behind its filter byte; the last one repeats */
	const unsigned char *above;	/* the row before the first */
	size_t n, width;		/* rows; pixels in each */
	/* where the row's filter takes the pixel to the left, above, above left; is Average */
	lanes left, up, corner, average;
	bool averages;
};

/* What the last step made: out, and what it had above. */
struct step {
	lanes out, above;
};

#define INLINE static inline __attribute__((always_inline))

/*
 * One pixel of every row. Paeth's predictor is also that of Sub, of Up and of None when the
 * pixels that they do not use count as 0. `live` clears rows that have not begun.
 */
INLINE struct step
next_step(const struct rows *rows, struct step last, lanes raw, lanes above, lanes live,
    bool averages)
{
	lanes a = last.out, b = above, c = last.above;
	lanes guess = lanes_paeth(a & rows->left, b & rows->up, c & rows->corner);

	if (averages)
		guess |= lanes_mean(a, b) & rows->average;
	return (struct step){ (raw + guess) & live, above };
}

/* Bytes of all lanes from lane `size` on, and a pixel of the row before the first in lane 0. */
INLINE lanes
lanes_push(lanes v, const unsigned char *pixel, size_t size)
{
#if defined(__SSE2__)
	uint64_t first = 0;
	__m128i shifted = size == 1 ? _mm_slli_si128((__m128i)v, 1) :
	    size == 2 ? _mm_slli_si128((__m128i)v, 2) :
	    size == 4 ? _mm_slli_si128((__m128i)v, 4) : _mm_slli_si128((__m128i)v, 8);

	memcpy(&first, pixel, size);
	return (lanes)(shifted | _mm_cvtsi64_si128((long long)first));
#else
	unsigned char bytes[2 * LANES];

	memcpy(bytes, pixel, size);
	lanes_store(bytes + size, v);
	return lanes_load(bytes);
#endif
}

/* All ones in the lanes of rows that have begun at this step. */
static lanes
begun(size_t step, size_t size)
{
	unsigned char live[LANES];

	for (size_t i = 0; i < LANES; i++)
		live[i] = i / size <= step ? 0xff : 0;
	return lanes_load(live);
}

/* ---- pixels of one and two bytes: squares of bytes are turned round ---- */

#define LOW8(a, b) __builtin_shufflevector(a, b,						\
	0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH8(a, b) __builtin_shufflevector(a, b,						\
	8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define LOW16(a, b) __builtin_shufflevector(a, b,						\
	0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23)
#define HIGH16(a, b) __builtin_shufflevector(a, b,						\
	8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14, 15, 30, 31)

/* Interleaves the first and the second half of the vectors: log2(n) times it transposes. */
INLINE void
interleave(lanes *v, size_t n, size_t size)
{
	lanes to[LANES];

	for (size_t i = 0; i < n / 2; i++) {
		to[2 * i] = size == 1 ? LOW8(v[i], v[i + n / 2]) : LOW16(v[i], v[i + n / 2]);
		to[2 * i + 1] = size == 1 ? HIGH8(v[i], v[i + n / 2]) : HIGH16(v[i], v[i + n / 2]);
	}
	for (size_t i = 0; i < n; i++)
		v[i] = to[i];
}

INLINE void
transpose(lanes *v, size_t n, size_t size)
{
	for (size_t step = 1; step < n; step *= 2)
		interleave(v, n, size);
}

/* Stores the part of a piece of 16 bytes from byte `at` of a row on that lies in the row. */
static void
store_inside(unsigned char *row, ptrdiff_t at, size_t bytes, lanes v)
{
	unsigned char piece[LANES];
	ptrdiff_t from = at < 0 ? -at : 0;
	ptrdiff_t to = (ptrdiff_t)bytes - at < LANES ? (ptrdiff_t)bytes - at : LANES;

	lanes_store(piece, v);
	if (from < to)
		memcpy(row + at + from, piece + from, (size_t)(to - from));
}

/* 16 / size rows of pixels of `size` bytes, 1 or 2, as many steps at a time. */
INLINE void
unfilter_square(const struct rows *rows, size_t size, bool averages)
{
	const size_t count = LANES / size;
	const lanes all = ~(lanes){ 0 };
	struct step last = { 0 };
	lanes v[LANES];

	for (size_t x = 0; x < rows->width + rows->n - 1; x += count) {
		for (size_t k = 0; k < count; k++)
			v[k] = lanes_load(rows->pixels[k] + (ptrdiff_t)((x - k) * size));
		transpose(v, count, size);
		for (size_t i = 0; i < count; i++) {
			lanes above = lanes_push(last.out, rows->above + (x + i) * size, size);

			last = next_step(rows, last, v[i], above, x ? all : begun(i, size),
			    averages);
			v[i] = last.out;
		}
		transpose(v, count, size);
		for (size_t k = 0; k < rows->n; k++)
			if (x && x + count <= rows->width)
				lanes_store(rows->pixels[k] + (x - k) * size, v[k]);
			else
				store_inside(rows->pixels[k], ((ptrdiff_t)x - (ptrdiff_t)k) *
				    (ptrdiff_t)size, rows->width * size, v[k]);
	}
}

/* ---- larger pixels: put together one by one ---- */

/* Four rows of pixels of 3 or 4 bytes, two of 6 or 8: a step. */
INLINE struct step
unfilter_pixel(const struct rows *rows, struct step last, size_t x, size_t size, bool inside,
    bool averages)
{
	const size_t room = size <= 4 ? 4 : 8, count = LANES / room;
	unsigned char bytes[LANES];
	lanes above = lanes_push(last.out, rows->above + x * size, room), taken = ~(lanes){ 0 };

	if (!inside)
		taken = begun(x, room);
	for (size_t k = 0; k < count; k++)
		memcpy(bytes + k * room, rows->pixels[k] + (ptrdiff_t)((x - k) * size), room);
	last = next_step(rows, last, lanes_load(bytes), above, taken, averages);
	lanes_store(bytes, last.out);
	for (size_t k = 0; k < rows->n; k++)
		if (inside || (x >= k && x - k < rows->width))
			memcpy(rows->pixels[k] + (x - k) * size, bytes + k * room, size);
	return last;
}

INLINE void
unfilter_pixels(const struct rows *rows, size_t size, bool averages)
{
	const size_t room = size <= 4 ? 4 : 8, count = LANES / room;
	struct step last = { 0 };
	size_t x = 0;

	for (; x < count; x++)
		last = unfilter_pixel(rows, last, x, size, false, averages);
	for (; x < rows->width; x++)
		last = unfilter_pixel(rows, last, x, size, true, averages);
	for (; x < rows->width + rows->n - 1; x++)
		last = unfilter_pixel(rows, last, x, size, false, averages);
}

/* ---- rows by themselves ---- */

/* Sums of all pixels from the first on, 16 bytes at a time; size: 1 or 2. */
INLINE void
unfilter_sub(unsigned char *row, size_t n, size_t size)
{
	const lanes zero = { 0 };
	lanes before = zero;
	size_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		lanes v = lanes_load(row + i);

		if (size == 1)
			v += __builtin_shufflevector(zero, v, 0, 16, 17, 18, 19, 20, 21, 22, 23,
			    24, 25, 26, 27, 28, 29, 30);
		v += __builtin_shufflevector(zero, v, 0, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
		    26, 27, 28, 29);
		v += __builtin_shufflevector(zero, v, 0, 0, 0, 0, 16, 17, 18, 19, 20, 21, 22, 23,
		    24, 25, 26, 27);
		v += __builtin_shufflevector(zero, v, 0, 0, 0, 0, 0, 0, 0, 0, 16, 17, 18, 19, 20,
		    21, 22, 23);
		v += before;
		lanes_store(row + i, v);
		before = size == 1 ? __builtin_shufflevector(v, v, 15, 15, 15, 15, 15, 15, 15, 15,
		    15, 15, 15, 15, 15, 15, 15, 15) : __builtin_shufflevector(v, v, 14, 15, 14, 15,
		    14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15);
	}
	for (; i < n; i++)
		row[i] = (unsigned char)(row[i] + (i < size ? 0 : row[i - size]));
}

/* ---- choosing ---- */

static void
set_masks(struct rows *rows, size_t room)
{
	for (size_t i = 0; i < LANES; i++) {
		size_t k = i / room;
		enum filter filter = k < rows->n ? *(rows->pixels[k] - 1) : FILTER_NONE;

		rows->left[i] = filter == FILTER_SUB || filter == FILTER_PAETH ? 0xff : 0;
		rows->up[i] = filter == FILTER_UP || filter == FILTER_PAETH ? 0xff : 0;
		rows->corner[i] = filter == FILTER_PAETH ? 0xff : 0;
		rows->average[i] = filter == FILTER_AVERAGE ? 0xff : 0;
		rows->averages |= filter == FILTER_AVERAGE;
	}
}

/* Rows whose filters use any pixel: as many as a vector holds, n at most. */
static void
unfilter_together(unsigned char *pixels, size_t n, size_t row_bytes, size_t size)
{
	const size_t room = size == 3 ? 4 : size == 6 ? 8 : size;
	struct rows rows = { .above = pixels - row_bytes - 1, .n = n, .width = row_bytes / size };

	for (size_t k = 0; k < LANES; k++)
		rows.pixels[k] = pixels + (k < n ? k : n - 1) * (row_bytes + 1);
	set_masks(&rows, room);

#define CASE(bytes, function)									\
	case bytes:										\
		if (rows.averages)								\
			function(&rows, bytes, true);						\
		else										\
			function(&rows, bytes, false);						\
		break

	switch (size) {
		CASE(1, unfilter_square);
		CASE(2, unfilter_square);
		CASE(3, unfilter_pixels);
		CASE(4, unfilter_pixels);
		CASE(6, unfilter_pixels);
		CASE(8, unfilter_pixels);
	}
}

static void
unfilter_alone(unsigned char *pixels, size_t row_bytes, size_t size)
{
	const unsigned char *above = pixels - row_bytes - 1;

	switch ((enum filter)pixels[-1]) {
	case FILTER_SUB:
		if (size == 1)
			unfilter_sub(pixels, row_bytes, 1);
		else
			unfilter_sub(pixels, row_bytes, 2);
		break;
	case FILTER_UP:
		for (size_t i = 0; i < row_bytes; i++)
			pixels[i] = (unsigned char)(pixels[i] + above[i]);
		break;
	default:
		break;
	}
}

/*
 * n rows, each a filter byte and row_bytes bytes of whole pixels of 1, 2, 3, 4, 6 or 8 bytes, one
 * behind the other from `rows` on; they are replaced by the bytes of the pixels. The row before
 * them, already unfiltered, lies in front of them in the same way (all zero for the first row of an
 * image), and UNFILTER_MARGIN bytes of any kind in front of that and behind the last one.
 * -1 if there is no such filter, with nothing recorded.
 */
static int
unfilter(unsigned char *rows, size_t n, size_t row_bytes, size_t size)
{
	const size_t stride = row_bytes + 1;
	const size_t count = LANES / (size == 3 ? 4 : size == 6 ? 8 : size);

	for (size_t y = 0; y < n; y++)
		if (rows[y * stride] > FILTER_PAETH)
			return -1;
	for (size_t y = 0; y < n;) {
		unsigned char *pixels = rows + y * stride + 1;
		size_t most = n - y < count ? n - y : count;

		/* these are quicker by themselves */
		if (pixels[-1] == FILTER_NONE || pixels[-1] == FILTER_UP ||
		    (pixels[-1] == FILTER_SUB && size <= 2)) {
			unfilter_alone(pixels, row_bytes, size);
			y++;
		} else {
			unfilter_together(pixels, most, row_bytes, size);
			y += most;
		}
	}
	return 0;
}

/* The most bytes that an image takes before its filters are undone; libpng reads larger ones by
 * the row. */
#define IDAT_READ_MOST ((size_t)256 << 20)

#define CHUNK_HEAD 8		/* length and type */
#define CHUNK_CRC 4
#define TAIL_MOST 65536		/* bytes of chunks behind the pixels that are looked through */
#define WINDOW_MOST 32768
#define STORE_STEP ((size_t)65536)	/* so that files of about one size use one store again */
#define STORE_MOST ((size_t)8 << 20)	/* more is not kept while other stages need memory */

struct packed {
	unsigned char *byte;	/* `room` bytes for IDATs, and the head of a chunk */
	size_t n, room;
};

static size_t
big_endian(const unsigned char *at)
{
	return (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
}

/* The head of the next chunk, as the last chunk's read brought it along. */
struct chunk {
	size_t length;
	unsigned char type[4];
};

static struct chunk
chunk_at(const unsigned char *at)
{
	struct chunk chunk = { .length = big_endian(at) };

	memcpy(chunk.type, at + 4, 4);
	return chunk;
}

/* Reads a chunk's data to `to`, its CRC and `behind` bytes more; is the CRC right? */
static bool
read_data(FILE *file, const struct chunk *chunk, unsigned char *to, size_t behind)
{
	size_t n = chunk->length + CHUNK_CRC + behind;
	uint32_t crc = libdeflate_crc32(0, chunk->type, sizeof(chunk->type));

	if (fread(to, 1, n, file) != n)
		return false;
	crc = libdeflate_crc32(crc, to, chunk->length);
	return crc == big_endian(to + chunk->length);
}

static bool
is_type(const struct chunk *chunk, const char *type)
{
	return !memcmp(chunk->type, type, 4);
}

/* Chunks whose type begins with a small letter may be passed over. */
static bool
is_ancillary(const struct chunk *chunk)
{
	bool letters = true;

	for (int i = 0; i < 4; i++) {
		unsigned char letter = chunk->type[i] | 32;

		letters &= letter >= 'a' && letter <= 'z';
	}
	return letters && chunk->type[0] & 32;
}

/* Chunks that libpng takes something from, or warns of: key lines that came behind the pixels, and
 * a colour that is clear, which comes too late there. Other texts are nobody's. */
static bool
needs_libpng(const struct chunk *chunk, const unsigned char *data)
{
	static const char keyword[] = "fringepipe";

	return is_type(chunk, "zTXt") || is_type(chunk, "iTXt") || is_type(chunk, "tRNS") ||
	    (is_type(chunk, "tEXt") && chunk->length >= sizeof(keyword) &&
	    !memcmp(data, keyword, sizeof(keyword)));
}

/*
 * All IDAT chunks in a row, and then the end and a few chunks that libpng passes over, as we do not
 * ask for what they hold. Bytes behind the end are nobody's.
 */
static bool
gather(FILE *file, size_t left, struct packed *packed)
{
	unsigned char tail[CHUNK_HEAD + CHUNK_CRC + TAIL_MOST];
	struct chunk chunk;
	size_t tails = 0;

	if (fread(tail, 1, CHUNK_HEAD, file) != CHUNK_HEAD)
		return false;
	chunk = chunk_at(tail);
	while (is_type(&chunk, "IDAT")) {
		if (chunk.length > packed->room - packed->n || chunk.length > left ||
		    !read_data(file, &chunk, packed->byte + packed->n, CHUNK_HEAD))
			return false;
		packed->n += chunk.length;
		chunk = chunk_at(packed->byte + packed->n + CHUNK_CRC);
	}
	while (is_ancillary(&chunk)) {
		if (chunk.length > TAIL_MOST - tails ||
		    !read_data(file, &chunk, tail, CHUNK_HEAD) || needs_libpng(&chunk, tail))
			return false;
		tails += chunk.length;
		chunk = chunk_at(tail + chunk.length + CHUNK_CRC);
	}
	return is_type(&chunk, "IEND") && chunk.length == 0 && read_data(file, &chunk, tail, 0);
}

static void
deliver(struct frame *frame, size_t y, unsigned char *pixels)
{
	if (frame->head.type == SAMPLE_USHORT)
		samples_swap(pixels, frame->head.w * frame->head.c, 2);
	samples_split(pixels, frame, y);
}

/* Undoes the filters of a few rows, then passes them on while they are in cache: but for the last
 * one, which the next ones need, and which is passed on with them. */
static bool
unfilter_all(struct frame *frame, unsigned char *rows, size_t row_bytes, size_t pixel_bytes)
{
	const size_t h = frame->head.h, stride = row_bytes + 1;

	for (size_t y = 0; y < h; y += UNFILTER_ROWS) {
		size_t n = h - y < UNFILTER_ROWS ? h - y : UNFILTER_ROWS;

		if (unfilter(rows + y * stride, n, row_bytes, pixel_bytes) < 0)
			return false;
		for (size_t i = y ? y - 1 : 0; i < y + n - 1; i++)
			deliver(frame, i, rows + i * stride + 1);
	}
	deliver(frame, h - 1, rows + (h - 1) * stride + 1);
	return true;
}

static bool
read_all(FILE *file, size_t left, struct frame *frame, struct packed *packed,
    unsigned char *before, size_t row_bytes)
{
	const size_t stride = row_bytes + 1, h = frame->head.h;
	const size_t pixel_bytes = frame->head.c * sample_size(frame->head.type);
	unsigned char *rows = before + UNFILTER_MARGIN + stride;
	size_t window;

	memset(before, 0, UNFILTER_MARGIN + stride);
	memset(rows + h * stride, 0, UNFILTER_MARGIN);
	if (!gather(file, left, packed) || packed->n < 2)
		return false;
	/* zlib, which keeps no more than the stream's window, would refuse some */
	window = (size_t)256 << (packed->byte[0] >> 4);
	return (window >= WINDOW_MOST || window >= h * stride) &&
	    inflate_whole(packed->byte, packed->n, rows, h * stride) &&
	    unfilter_all(frame, rows, row_bytes, pixel_bytes);
}

/* Memory for `all` bytes, unset: free() takes it where there is no store. */
static void *
take_memory(size_t all, struct pixel_store **store)
{
	void *memory = NULL;

	*store = NULL;
	if (all > STORE_MOST)
		return large_memory(1, all);
	*store = pixel_store_scratch((all + STORE_STEP - 1) / STORE_STEP * STORE_STEP, &memory);
	return *store ? memory : NULL;
}

int
idat_read(const char *path, FILE *file, size_t left, struct frame *frame)
{
	const struct frame_head *head = &frame->head;
	const size_t row_bytes = head->w * head->c * sample_size(head->type);	/* fits: checked */
	const off_t here = ftello(file);
	struct packed packed = { 0 };
	struct pixel_store *store;
	size_t unpacked, rows_bytes, all;
	unsigned char *rows;
	bool done;

	if (here < CHUNK_HEAD || __builtin_mul_overflow(row_bytes + 1, head->h, &unpacked) ||
	    unpacked > IDAT_READ_MOST)
		return 0;
	/* what deflate makes of it is longer by a few bytes at most, unless it is strange */
	packed.room = unpacked + unpacked / 8 + 4096;
	packed.room = left < packed.room ? left : packed.room;
	rows_bytes = unpacked + row_bytes + 1 + 2 * UNFILTER_MARGIN;
	all = rows_bytes + packed.room + CHUNK_CRC + CHUNK_HEAD;
	rows = take_memory(all, &store);
	packed.byte = rows ? rows + rows_bytes : NULL;
	done = rows && fseeko(file, here - CHUNK_HEAD, SEEK_SET) == 0 &&
	    read_all(file, left, frame, &packed, rows, row_bytes);
	if (!store)
		free(rows);
	pixel_store_drop(store);
	if (done)
		return 1;
	clearerr(file);
	if (fseeko(file, here, SEEK_SET) < 0)
		return fail_errno(path, "cannot be read");
	return 0;
}

/* ---- libpng checks the chunks and reads what idat_read() does not ---- */

#define CHUNK_BYTES_MOST ((size_t)40 << 20)	/* two copies of the longest key lines, and more */
#define IDAT_TYPE 0x49444154u
#define END_BYTES_MOST 16	/* a stream's end, which libpng may leave: a check sum, codes */

/* What is open while libpng may jump. It lives on the heap: no local can be lost by the jump. */
struct job {
	const char *path;
	FILE *file;
	png_structp png;
	png_infop info, behind;		/* what stands before and behind the pixels */
	struct frame_head head;
	struct frame *frame;
	unsigned char *rows;
	size_t left;			/* bytes of the file behind the head of the first IDAT */
	off_t end;			/* of the file; -1: not known */
	size_t used, most;		/* bytes that libpng holds, and may hold */
	bool keyed;			/* there are key lines before the pixels */
	bool one_bit;			/* samples of one bit became 0 and 255 */
	bool rows_read;			/* all of them, */
	size_t late;			/* and bytes of IDATs that were passed over then */
	bool surplus;			/* there are more image data than rows */
	size_t images;			/* of the file so far, with this one */
	bool followed;			/* by another PNG, or a damaged one */
	bool indexed;			/* pixels are indices into: */
	unsigned char colour[256][4];
	int colours;
	size_t beyond;			/* pixels whose index is none of them */
};

static void
on_error(png_structp png, png_const_charp message)
{
	struct job *job = png_get_error_ptr(png);

	fail(job->path, "PNG: %s", message);
	png_longjmp(png, 1);
}

/*
 * libpng passes over chunks that are not as they should be. Of those that we take something from,
 * pixels, key lines or a colour that is clear, none is lost without a word. A wrong check sum is an
 * error in any chunk (png_set_crc_action()).
 */
static void
on_warning(png_structp png, png_const_charp message)
{
	static const char *const taken[] = { "IDAT: ", "tEXt: ", "zTXt: ", "iTXt: ", "tRNS: " };
	static const char *const more[] = { "Too much image data", "Extra compressed data",
		"Too many IDATs found" };
	struct job *job = png_get_error_ptr(png);
	bool fails = strcasestr(message, "memory");

	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
		if (strstr(message, more[i])) {
			job->surplus = true;
			return;
		}
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		fails |= !strncmp(message, taken[i], strlen(taken[i]));
	if (fails)
		on_error(png, message);
}

/* Ends a libpng callback or step when fail() has been called already. */
static void
jump_if(struct job *job, bool failed)
{
	if (failed)
		png_longjmp(job->png, 1);
}

/*
 * libpng allocates, and clears, what a chunk claims before it has read it, and unpacks every text
 * chunk to as much as 8 MB. Each block begins with its size.
 */
static void *
allocate(png_structp png, png_alloc_size_t n)
{
	struct job *job = png_get_mem_ptr(png);
	const size_t extra = _Alignof(max_align_t);
	size_t *block;

	if (n > job->most || job->used > job->most - n) {
		fail(job->path, "PNG: text and other chunks take more than %zu MiB",
		    CHUNK_BYTES_MOST >> 20);
		png_longjmp(png, 1);
	}
	block = malloc(n + extra);
	if (!block)
		return NULL;
	*block = n;
	job->used += n;
	return (char *)block + extra;
}

static void
release(png_structp png, void *at)
{
	struct job *job = png_get_mem_ptr(png);
	size_t *block;

	if (!at)
		return;
	block = (size_t *)((char *)at - _Alignof(max_align_t));
	job->used -= *block;
	free(block);
}

static void
read_bytes(png_structp png, png_bytep to, size_t n)
{
	struct job *job = png_get_io_ptr(png);

	if (job->rows_read && png_get_io_chunk_type(png) == IDAT_TYPE &&
	    png_get_io_state(png) & PNG_IO_CHUNK_DATA)
		job->late += n;
	jump_if(job, samples_read(job->path, job->file, to, n) < 0);
}

/* Are there key lines? They go into the head. */
static bool
take_text(struct job *job, png_infop info, struct frame_head *head)
{
	png_textp text;
	bool taken = false;
	int n;

	png_get_text(job->png, info, &text, &n);
	for (int i = 0; i < n; i++) {
		size_t length = text[i].compression > 0 ? text[i].itxt_length : text[i].text_length;

		if (!strcmp(text[i].key, "fringepipe") && text[i].text) {
			jump_if(job, head_from_text(head, text[i].text, length) < 0);
			taken = true;
		}
	}
	return taken;
}

/* Key lines behind the pixels, where other programs put them, count if there are none before. */
static void
take_text_behind(struct job *job)
{
	struct frame *frame = job->frame;

	if (job->keyed || !take_text(job, job->behind, &frame->head))
		return;
	if (job->one_bit && png_is_one_bit(&frame->head))
		for (size_t y = 0; y < frame->head.h; y++)
			for (size_t x = 0; x < frame->head.w; x++)
				((uint8_t *)frame_row(frame, 0, y))[x] &= 1;
}

/* The colours of a palette; beyond them, as the specification wants it, there is opaque black. */
static void
take_palette(struct job *job)
{
	png_colorp palette = NULL;
	png_bytep alpha = NULL;
	int alphas = 0;

	png_get_PLTE(job->png, job->info, &palette, &job->colours);
	png_get_tRNS(job->png, job->info, &alpha, &alphas, NULL);
	for (int i = 0; i < 256; i++) {
		unsigned char *to = job->colour[i];

		if (i < job->colours)
			to[0] = palette[i].red, to[1] = palette[i].green, to[2] = palette[i].blue;
		to[3] = alpha && i < alphas ? alpha[i] : 255;
	}
	png_set_check_for_invalid_index(job->png, -1);	/* look_up() does */
	job->indexed = true;
}

/* A row of indices into its colours. */
static void
look_up(struct job *job, unsigned char *row)
{
	const size_t channels = job->head.c;

	for (size_t x = job->head.w; x-- > 0;) {
		unsigned char index = row[x];

		job->beyond += index >= job->colours;
		memcpy(row + x * channels, job->colour[index], channels);
	}
}

/* The head of what png_read_update_info() will deliver, and the transformations to it. */
static void
plan_reading(struct job *job)
{
	png_structp png = job->png;
	png_infop info = job->info;
	int depth = png_get_bit_depth(png, info), colour = png_get_color_type(png, info);
	bool alpha = colour & PNG_COLOR_MASK_ALPHA || png_get_valid(png, info, PNG_INFO_tRNS);
	size_t w = png_get_image_width(png, info), h = png_get_image_height(png, info);
	size_t channels = (colour & PNG_COLOR_MASK_COLOR ? 3u : 1u) + (alpha ? 1u : 0u);

	/* deflate packs by 1032 at most */
	job->left = samples_bytes_left(job->file);
	job->end = job->left == SIZE_MAX ? -1 : ftello(job->file) + (off_t)job->left;
	jump_if(job, samples_check_claim(job->path, job->left, w, h,
	    png_get_channels(png, info), (size_t)depth, 1040) < 0);
	jump_if(job, head_init(&job->head, w, h, channels,
	    depth == 16 ? SAMPLE_USHORT : SAMPLE_UCHAR) < 0);
	jump_if(job, channels == 2 && head_set_channels(&job->head, "image a") < 0);
	job->keyed = take_text(job, info, &job->head);
	if (colour == PNG_COLOR_TYPE_PALETTE)
		take_palette(job);
	if (job->indexed || (depth == 1 && !alpha && png_is_one_bit(&job->head)))
		png_set_packing(png);
	else if (depth < 8)
		png_set_expand_gray_1_2_4_to_8(png);
	job->one_bit = colour == PNG_COLOR_TYPE_GRAY && depth == 1 && !alpha;
	if (!job->indexed && png_get_valid(png, info, PNG_INFO_tRNS))
		png_set_tRNS_to_alpha(png);
	if (depth == 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		png_set_swap(png);
}

/* Interlaced rows are completed pass by pass, so all of them are kept until the last pass. */
static void
read_rows(struct job *job)
{
	int passes = png_set_interlace_handling(job->png);
	size_t h = job->head.h, row = job->head.w * job->head.c * sample_size(job->head.type), step;

	/* a few rows of up to 64 bits a pixel, padded */
	job->most += 64 * job->head.w + 4096;
	png_read_update_info(job->png, job->info);
	if (png_get_rowbytes(job->png, job->info) != (job->indexed ? job->head.w : row))
		png_error(job->png, "unexpected size of a row");
	step = passes > 1 ? row : 0;
	job->rows = calloc(passes > 1 ? h : 1, row);
	jump_if(job, !job->rows && fail_memory() < 0);
	for (int pass = 0; pass < passes; pass++)
		for (size_t y = 0; y < h; y++) {
			png_read_row(job->png, job->rows + y * step, NULL);
			if (pass < passes - 1)
				continue;
			if (job->indexed)
				look_up(job, job->rows + y * step);
			samples_split(job->rows + y * step, job->frame, y);
		}
	job->rows_read = true;
	png_read_end(job->png, job->behind);
	take_text_behind(job);
}

/* Are the pixels of the kind that idat_read() takes? */
static bool
is_usual(const struct job *job)
{
	const int colour = png_get_color_type(job->png, job->info);

	return png_get_bit_depth(job->png, job->info) >= 8 && colour != PNG_COLOR_TYPE_PALETTE &&
	    png_get_interlace_type(job->png, job->info) == PNG_INTERLACE_NONE &&
	    !png_get_valid(job->png, job->info, PNG_INFO_tRNS);
}

/* By idat_read() where it can. */
static void
read_pixels(struct job *job, bool by_libpng)
{
	int done = 0;

	jump_if(job, frame_new(&job->head, &job->frame) < 0);
	if (!by_libpng && is_usual(job))
		done = idat_read(job->path, job->file, job->left, job->frame);
	jump_if(job, done < 0);
	if (!done)
		read_rows(job);
}

/* What was read is whole, but there is more that belongs to no pixel. */
static void
warn_of_surplus(const struct job *job)
{
	if (job->beyond)
		warn(job->path, "PNG: %zu pixel%s black, as %s beyond the palette of %d colours",
		    job->beyond, job->beyond == 1 ? " is" : "s are",
		    job->beyond == 1 ? "its index is" : "their indices are", job->colours);
	if (job->surplus || job->late > END_BYTES_MOST)
		warn(job->path, "PNG: holds more image data than its %zu x %zu pixels; the rest "
		    "is not read", job->head.w, job->head.h);
	if (job->end >= 0 && !job->followed)
		samples_warn_rest(job->path, (size_t)(job->end - ftello(job->file)));
}

#define SIGNATURE "\x89PNG\r\n\x1a\n"
#define SIGNATURE_BYTES 8

static bool
png_sniff(const unsigned char *start, size_t n)
{
	return n >= SIGNATURE_BYTES && !memcmp(start, SIGNATURE, SIGNATURE_BYTES);
}

/* Of what follows `images` images: must it be a PNG, and is damaged if it is none? */
static bool
must_be_png(size_t images, const unsigned char *start, size_t n)
{
	return n > 0 && (images > 1 || *start == (unsigned char)*SIGNATURE);
}

/* What follows `images` images: 1 another PNG, 0 nothing or something else, -1 a damaged one.
 * Leaves the file where it is. */
static int
what_follows(FILE *file, size_t images)
{
	unsigned char start[SIGNATURE_BYTES];
	const size_t n = fread(start, 1, sizeof(start), file);

	(void)fseeko(file, -(off_t)n, SEEK_CUR);
	return png_sniff(start, n) ? 1 : must_be_png(images, start, n) ? -1 : 0;
}

static int
read_image(struct job *job, bool by_libpng)
{
	if (setjmp(png_jmpbuf(job->png)))
		return -1;
	png_set_read_fn(job->png, job, read_bytes);
	png_set_user_limits(job->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
	png_set_crc_action(job->png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
	png_read_info(job->png, job->info);
	plan_reading(job);
	read_pixels(job, by_libpng);
	job->followed = job->end > ftello(job->file) && what_follows(job->file, job->images) != 0;
	warn_of_surplus(job);
	return 0;
}

static int
fail_damaged(const struct loader *loader)
{
	return fail(loader->path, "is damaged: what follows image %zu is no PNG", loader->frames);
}

static int
load(struct loader *loader, struct frame **out, bool by_libpng)
{
	const int next = loader->frames ? what_follows(loader->file, loader->frames) : 1;
	struct job *job;
	int status = -1;

	*out = NULL;
	if (next <= 0)
		return next < 0 ? fail_damaged(loader) : 0;
	job = must_alloc(1, sizeof(*job));
	job->images = loader->frames + 1;
	job->path = loader->path;
	job->file = loader->file;
	job->most = CHUNK_BYTES_MOST;
	job->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, job, on_error, on_warning, job,
	    allocate, release);
	job->info = job->png ? png_create_info_struct(job->png) : NULL;
	job->behind = job->info ? png_create_info_struct(job->png) : NULL;
	if (job->behind)
		status = read_image(job, by_libpng);
	else
		fail_memory();
	if (status == 0)
		*out = job->frame;
	else
		frame_free(job->frame);
	png_destroy_read_struct(&job->png, &job->info, &job->behind);
	head_free(&job->head);
	free(job->rows);
	free(job);
	return status < 0 ? -1 : 1;
}

/* Copies n bytes to memory, which grows with what comes, not with what is claimed; a chunk's head
 * is all of them. False at the end. */
static bool
copy_bytes(FILE *file, FILE *to, size_t n, struct chunk *head)
{
	unsigned char bytes[65536];

	for (size_t got; n > 0; n -= got) {
		got = fread(bytes, 1, n < sizeof(bytes) ? n : sizeof(bytes), file);
		if (got == 0)
			return false;
		fwrite(bytes, 1, got, to);
	}
	if (head)
		*head = chunk_at(bytes);
	return true;
}

/* After images there is something else than a PNG, which starts with these n bytes. */
static int
end_pipe(const struct loader *loader, const char *start, size_t n)
{
	char bytes[4096];

	if (must_be_png(loader->frames, (const unsigned char *)start, n))
		return fail_damaged(loader);
	for (size_t got = n; got > 0; n += got)
		got = fread(bytes, 1, sizeof(bytes), loader->file);
	samples_warn_rest(loader->path, n);
	return 0;
}

/* The next PNG of a pipe, which is copied chunk by chunk as they come; what is cut or damaged ends
 * it, and is found when it is read. */
static int
load_from_pipe(struct loader *loader, struct frame **out)
{
	struct loader copy = { .path = loader->path };
	struct chunk chunk = { 0 };
	char start[SIGNATURE_BYTES], *bytes;
	size_t n = fread(start, 1, sizeof(start), loader->file);
	struct text text;
	int status = -1;

	*out = NULL;
	if (loader->frames > 0 && !ferror(loader->file) && !png_sniff((void *)start, n))
		return end_pipe(loader, start, n);
	text_open(&text);
	fwrite(start, 1, n, text.file);
	while (!is_type(&chunk, "IEND") && copy_bytes(loader->file, text.file, CHUNK_HEAD, &chunk))
		if (chunk.length > PNG_UINT_31_MAX || !copy_bytes(loader->file, text.file,
		    chunk.length + CHUNK_CRC, NULL))
			break;
	bytes = text_close(&text, &n);
	copy.file = fmemopen(bytes, n, "rb");
	if (ferror(loader->file))
		fail_errno(loader->path, "cannot be read");
	else if (!copy.file)
		fail_memory();
	else
		status = load(&copy, out, false);
	if (copy.file)
		fclose(copy.file);
	free(bytes);
	return status;
}

int
png_load(struct loader *loader, struct frame **out)
{
	return loader->pipe ? load_from_pipe(loader, out) : load(loader, out, false);
}

int
png_load_by_libpng(struct loader *loader, struct frame **out)
{
	return load(loader, out, true);
}

const struct codec codec_png = {
	.name = "PNG",
	.suffixes = "png",
	.seeks = true,		/* so that what the head claims is held against the file's size */
	.streams = png_sniff,
	.follows = true,
	.sniff = png_sniff,
	.load = png_load,
	.options = png_options,
	.option_size = sizeof(struct png_options),
	.save = png_save
};
