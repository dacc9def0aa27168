/*
 * Up and Sub go along a row in vectors. Average and Paeth need the pixel to the left first, so
 * several rows are in work at once: each row is a pixel behind the row above it, and a vector holds
 * a pixel of each of them.
 */
#include "codec/png/unfilter.h"

#include <stdbool.h>

#include "codec/png/lanes.h"

enum filter { FILTER_NONE, FILTER_SUB, FILTER_UP, FILTER_AVERAGE, FILTER_PAETH };

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

static void
unfilter_up(unsigned char *row, const unsigned char *above, size_t n)
{
	for (size_t i = 0; i < n; i++)
		row[i] = (unsigned char)(row[i] + above[i]);
}

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

/* Is a row quicker by itself? */
static bool
goes_alone(enum filter filter, size_t size)
{
	return filter == FILTER_NONE || filter == FILTER_UP || (filter == FILTER_SUB && size <= 2);
}

static void
unfilter_alone(unsigned char *pixels, size_t row_bytes, size_t size)
{
	switch ((enum filter)pixels[-1]) {
	case FILTER_SUB:
		if (size == 1)
			unfilter_sub(pixels, row_bytes, 1);
		else
			unfilter_sub(pixels, row_bytes, 2);
		break;
	case FILTER_UP:
		unfilter_up(pixels, pixels - row_bytes - 1, row_bytes);
		break;
	default:
		break;
	}
}

int
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

		if (goes_alone(pixels[-1], size)) {
			unfilter_alone(pixels, row_bytes, size);
			y++;
		} else {
			unfilter_together(pixels, most, row_bytes, size);
			y += most;
		}
	}
	return 0;
}
