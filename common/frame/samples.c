/*
 * Sample types: conversion between uchar, ushort and float, interleaved pixels, columns of tables.
 */
#include "frame/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "frame/pixel_store.h"

/* Samples of a file's row: behind the filter's byte of a PNG row they lie at odd addresses. */
typedef uint16_t unaligned_uint16_t __attribute__((aligned(1)));
typedef uint32_t unaligned_uint32_t __attribute__((aligned(1)));
typedef uint8_t unaligned_uint8_t;

#define INLINE static inline __attribute__((always_inline))

/* With a constant number of channels compilers make vectors of these loops, and permutations of the
 * samples in them. */
#define SPLIT(type, count)									\
	do {											\
		const unaligned_##type *from = pixels;						\
		type *to[count];								\
		for (size_t c = 0; c < (count); c++)						\
			to[c] = plane[c];							\
		_Pragma("omp simd")								\
		for (size_t x = 0; x < n; x++)							\
			for (size_t c = 0; c < (count); c++)					\
				to[c][x] = from[x * (count) + c];				\
	} while (0)

#define JOIN(type, count)									\
	do {											\
		unaligned_##type *to = pixels;							\
		const type *from[count];							\
		for (size_t c = 0; c < (count); c++)						\
			from[c] = plane[c];							\
		_Pragma("omp simd")								\
		for (size_t x = 0; x < n; x++)							\
			for (size_t c = 0; c < (count); c++)					\
				to[x * (count) + c] = from[c][x];				\
	} while (0)

#define OF_COUNT(loop, type)									\
	do {											\
		if (count == 2)									\
			loop(type, 2);								\
		else if (count == 3)								\
			loop(type, 3);								\
		else										\
			loop(type, 4);								\
	} while (0)

#define OF_SIZE(loop)										\
	do {											\
		if (size == 1)									\
			OF_COUNT(loop, uint8_t);						\
		else if (size == 2)								\
			OF_COUNT(loop, uint16_t);						\
		else										\
			OF_COUNT(loop, uint32_t);						\
	} while (0)

INLINE void
split(size_t size, const void *pixels, size_t count, void *const *plane, size_t n)
{
	OF_SIZE(SPLIT);
}

INLINE void
join(size_t size, void *pixels, size_t count, const void *const *plane, size_t n)
{
	OF_SIZE(JOIN);
}

/* The loops for one kind of machine. */
#define LOOPS(kind, target)									\
target static void										\
split_##kind(size_t size, const void *pixels, size_t count, void *const *plane, size_t n)	\
{												\
	split(size, pixels, count, plane, n);							\
}												\
												\
target static void										\
join_##kind(size_t size, void *pixels, size_t count, const void *const *plane, size_t n)	\
{												\
	join(size, pixels, count, plane, n);							\
}

LOOPS(plainly, )

#ifdef __x86_64__
/*
 * Measured on a Zen 5 with gcc 12, rows of 800 pixels in the cache, GB/s of three channels of 1, 2
 * and 4 bytes: plainly 8, 17, 30; SSSE3's shuffles 33, 34, 39; AVX2 33, 33, 97; permutations of
 * words 67, 125, 128; of bytes 126, 124, 128.
 */
LOOPS(by_shuffles, __attribute__((target("ssse3"))))
LOOPS(by_avx2, __attribute__((target("avx2"))))
LOOPS(by_words, __attribute__((target("avx512f,avx512bw,avx512vl"))))
LOOPS(by_bytes, __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi"))))

#define SUPPORTS(feature) (__builtin_cpu_supports(feature) != 0)

static size_t
usable_from(void)
{
	if (SUPPORTS("avx512f") && SUPPORTS("avx512bw") && SUPPORTS("avx512vl"))
		return SUPPORTS("avx512vbmi") ? 0 : 1;
	return SUPPORTS("avx2") ? 2 : SUPPORTS("ssse3") ? 3 : 4;
}

static const struct interleave choices[] = {
	{ split_by_bytes, join_by_bytes }, { split_by_words, join_by_words },
	{ split_by_avx2, join_by_avx2 }, { split_by_shuffles, join_by_shuffles },
	{ split_plainly, join_plainly },
};
#else
static size_t
usable_from(void)
{
	return 0;
}

static const struct interleave choices[] = { { split_plainly, join_plainly } };
#endif

const struct interleave *
interleave_choice(size_t i)
{
	const size_t at = usable_from() + i;

	return at < sizeof(choices) / sizeof(*choices) ? &choices[at] : NULL;
}

bool
samples_rest_is_padding(const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (bytes[i] != 0 && bytes[i] != 0xff)
			return false;
	return true;
}

size_t
samples_rest_read(FILE *file)
{
	unsigned char bytes[4096];
	size_t left = 0, n;
	bool padding = true;

	while ((n = fread(bytes, 1, sizeof(bytes), file)) > 0) {
		left += n;
		padding = padding && samples_rest_is_padding(bytes, n);
	}
	return padding || left <= SAMPLES_REST_WORD || ferror(file) ? 0 : left;
}

float *
table_rows_add(struct table_rows *rows)
{
	if (rows->n == rows->room) {
		size_t room = rows->room ? 2 * rows->room : 64, values;
		float *more;

		if (size_multiply(room, rows->c, &values) < 0)
			return NULL;
		more = reallocarray(rows->v, values, sizeof(*more));
		if (!more) {
			fail_memory();
			return NULL;
		}
		rows->v = more;
		rows->room = room;
	}
	return rows->v + rows->n++ * rows->c;
}

int
table_rows_frame(const struct table_rows *rows, struct frame_head *head, struct frame **out)
{
	if (head->h == 1)
		head_set_points(head, rows->n);
	if (frame_new(head, out) < 0)
		return -1;
	for (size_t c = 0; c < rows->c; c++) {
		frame_floats(*out, c, 0)[0] = NAN;	/* the column that stands for no row */
		for (size_t i = 0, y = 0; i < rows->n; y++) {
			float *row = frame_floats(*out, c, y);

			for (size_t x = 0; x < head->w && i < rows->n; x++, i++)
				row[x] = rows->v[i * rows->c + c];
		}
	}
	return 0;
}

void
table_rows_free(struct table_rows *rows)
{
	free(rows->v);
	rows->v = NULL;
}

/* Samples of foreign files: converting, splitting and joining channels, reading and writing them by
 * large pieces. */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are written as memory lies");

/* Of rows that are written at once. A file system of a disk takes more time for each call than one
 * of memory: pieces of 64 KB took 1.6 times as long as pieces of 1 MB. */
#define PACKED_BYTES (1 << 20)

size_t
samples_element_size(enum element element)
{
	static const unsigned char size[] = { 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8 };

	return size[element];
}

bool
samples_keep_bits(enum element element)
{
	return element == ELEMENT_U8 || element == ELEMENT_U16 || element == ELEMENT_F32;
}

enum sample
samples_of_element(enum element element)
{
	return element == ELEMENT_U8 ? SAMPLE_UCHAR :
	    element == ELEMENT_U16 ? SAMPLE_USHORT : SAMPLE_FLOAT;
}

static float
half_to_float(uint16_t half)
{
	int exponent = half >> 10 & 31, fraction = half & 1023;
	float v;

	if (exponent == 31)
		v = fraction ? NAN : INFINITY;
	else if (exponent == 0)
		v = ldexpf((float)fraction, -24);
	else
		v = ldexpf((float)(fraction | 1024), exponent - 25);
	return half >> 15 ? -v : v;
}

/* One loop per type; `load` turns the bits, already in our byte order, into the sample. */
#define CONVERT_BY(distance, bits_type, swapped, sample_type, load)				\
	for (size_t i = 0; i < n; i++) {							\
		bits_type bits;									\
		memcpy(&bits, (const char *)from + i * (distance), sizeof(bits));		\
		if (swap)									\
			bits = swapped;								\
		((sample_type *)to)[i] = (sample_type)(load);					\
	}

/* Adjacent elements have a loop of their own, which compilers make vectors of. */
#define CONVERT(bits_type, swapped, sample_type, load)						\
	if (step == sizeof(bits_type))								\
		CONVERT_BY(sizeof(bits_type), bits_type, swapped, sample_type, load)		\
	else											\
		CONVERT_BY(step, bits_type, swapped, sample_type, load)				\
	break

static double
bits_to_double(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

void
samples_convert(enum element element, bool swap, const void *from, size_t step, void *to, size_t n)
{
	if (!swap && step == samples_element_size(element) && samples_keep_bits(element)) {
		memcpy(to, from, n * step);
		return;
	}
	switch (element) {
	case ELEMENT_U8:
		CONVERT(uint8_t, bits, uint8_t, bits);
	case ELEMENT_I8:
		CONVERT(uint8_t, bits, float, (int8_t)bits);
	case ELEMENT_U16:
		CONVERT(uint16_t, __builtin_bswap16(bits), uint16_t, bits);
	case ELEMENT_I16:
		CONVERT(uint16_t, __builtin_bswap16(bits), float, (int16_t)bits);
	case ELEMENT_F16:
		CONVERT(uint16_t, __builtin_bswap16(bits), float, half_to_float(bits));
	case ELEMENT_U32:
		CONVERT(uint32_t, __builtin_bswap32(bits), float, bits);
	case ELEMENT_I32:
		CONVERT(uint32_t, __builtin_bswap32(bits), float, (int32_t)bits);
	case ELEMENT_F32:	/* moved as bits: a signalling NaN stays one */
		CONVERT(uint32_t, __builtin_bswap32(bits), uint32_t, bits);
	case ELEMENT_U64:
		CONVERT(uint64_t, __builtin_bswap64(bits), float, bits);
	case ELEMENT_I64:
		CONVERT(uint64_t, __builtin_bswap64(bits), float, (int64_t)bits);
	case ELEMENT_F64:
		CONVERT(uint64_t, __builtin_bswap64(bits), float, bits_to_double(bits));
	}
}

/* Sample c of each pixel, of any number of channels. */
static void
take_every(size_t size, const void *row, size_t count, size_t c, void *to, size_t n)
{
	for (size_t x = 0; x < n; x++)
		if (size == 1)
			((uint8_t *)to)[x] = ((const uint8_t *)row)[x * count + c];
		else if (size == 2)
			((uint16_t *)to)[x] = ((const unaligned_uint16_t *)row)[x * count + c];
		else
			((uint32_t *)to)[x] = ((const unaligned_uint32_t *)row)[x * count + c];
}

static void
put_every(size_t size, void *row, size_t count, size_t c, const void *from, size_t n)
{
	for (size_t x = 0; x < n; x++)
		if (size == 1)
			((uint8_t *)row)[x * count + c] = ((const uint8_t *)from)[x];
		else if (size == 2)
			((unaligned_uint16_t *)row)[x * count + c] = ((const uint16_t *)from)[x];
		else
			((unaligned_uint32_t *)row)[x * count + c] = ((const uint32_t *)from)[x];
}

void
samples_split_part(const void *row, size_t count, struct frame *frame, size_t first, size_t x,
    size_t y, size_t n)
{
	const size_t size = sample_size(frame->head.type);
	void *to[INTERLEAVE_MOST];

	if (count == 1) {
		memcpy((char *)frame_row(frame, first, y) + x * size, row, n * size);
		return;
	}
	if (count > INTERLEAVE_MOST) {
		for (size_t c = 0; c < count; c++)
			take_every(size, row, count, c, (char *)frame_row(frame, first + c, y) +
			    x * size, n);
		return;
	}
	for (size_t c = 0; c < count; c++)
		to[c] = (char *)frame_row(frame, first + c, y) + x * size;
	interleave_choice(0)->split(size, row, count, to, n);
}

void
samples_split(const void *row, struct frame *frame, size_t y)
{
	samples_split_part(row, frame->head.c, frame, 0, 0, y, frame->head.w);
}

void
samples_join(const struct frame *frame, size_t y, void *row)
{
	const size_t w = frame->head.w, count = frame->head.c;
	const size_t size = sample_size(frame->head.type);
	const void *from[INTERLEAVE_MOST];

	if (count == 1) {
		memcpy(row, frame_row(frame, 0, y), w * size);
		return;
	}
	if (count > INTERLEAVE_MOST) {
		for (size_t c = 0; c < count; c++)
			put_every(size, row, count, c, frame_row(frame, c, y), w);
		return;
	}
	for (size_t c = 0; c < count; c++)
		from[c] = frame_row(frame, c, y);
	interleave_choice(0)->join(size, row, count, from, w);
}

void
samples_swap(void *row, size_t n, size_t size)
{
	unaligned_uint16_t *shorts = row;
	unaligned_uint32_t *words = row;

	if (size == 2)
		for (size_t i = 0; i < n; i++)
			shorts[i] = __builtin_bswap16(shorts[i]);
	else if (size == 4)
		for (size_t i = 0; i < n; i++)
			words[i] = __builtin_bswap32(words[i]);
}

size_t
samples_bytes_left(FILE *file)
{
	const int fd = fileno(file);
	const off_t here = ftello(file);
	off_t end;
	struct stat st;

	if (here < 0)
		return SIZE_MAX;
	if (fd >= 0) {
		if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
			return SIZE_MAX;
		end = st.st_size;
	} else {			/* of memory */
		fseeko(file, 0, SEEK_END);
		end = ftello(file);
		if (end < 0 || fseeko(file, here, SEEK_SET) < 0)
			return SIZE_MAX;
	}
	return end < here ? 0 : (size_t)(end - here);	/* a head may point beyond the end */
}

void
samples_warn_rest(const char *path, size_t left)
{
	if (left && left != SIZE_MAX)
		warn(path, "%zu byte%s behind its end %s not read", left, left == 1 ? "" : "s",
		    left == 1 ? "is" : "are");
}

static bool be_verbose;

void
samples_set_verbose(bool verbose)
{
	be_verbose = verbose;
}

void
samples_note_orientation(const char *path, unsigned orientation)
{
	if (orientation >= 2 && orientation <= 8 && be_verbose)
		note(path, "its orientation, %u of Exif, is not applied: the pixels are read as "
		    "they are stored", orientation);
}

int
samples_check_claim(const char *path, size_t left, size_t w, size_t h, size_t c, size_t bits,
    size_t ratio)
{
	size_t all;
	bool overflows = __builtin_mul_overflow(w, c, &all);

	overflows |= __builtin_mul_overflow(all, bits, &all);
	overflows |= __builtin_mul_overflow(all, h, &all);
	if (w == 0 || h == 0 || c == 0)
		return fail(path, "is empty: %zu x %zu x %zu", w, h, c);
	if (overflows)
		return fail(path, "is too large: %zu x %zu x %zu samples of %zu bits", w, h, c,
		    bits);
	if (left != SIZE_MAX && all / 8 / ratio > left)
		return fail(path, "ends too early: %zu x %zu x %zu samples of %zu bits cannot lie "
		    "in the %zu bytes left", w, h, c, bits, left);
	return 0;
}

int
samples_read(const char *path, FILE *file, void *to, size_t n)
{
	size_t got = fread(to, 1, n, file);

	if (got == n)
		return 0;
	if (ferror(file))
		return fail_errno(path, "cannot be read");
	return fail(path, "ends too early: %zu bytes where %zu were expected", got, n);
}

int
samples_write(const char *path, FILE *file, const void *from, size_t n)
{
	if (fwrite(from, 1, n, file) != n)
		return fail_errno(path, "cannot be written");
	return 0;
}

static void
copy_row(const struct frame *frame, size_t row, void *to)
{
	memcpy(to, frame_row(frame, row / frame->head.h, row % frame->head.h),
	    frame->head.w * sample_size(frame->head.type));
}

static void
join_row(const struct frame *frame, size_t row, void *to)
{
	samples_join(frame, row, to);
}

int
samples_write_rows(const char *path, FILE *file, const void *before, size_t n,
    const struct samples_rows *rows)
{
	const size_t some = rows->bytes < PACKED_BYTES ? PACKED_BYTES / rows->bytes : 1;
	const size_t group = some < rows->n ? some : rows->n, end = rows->first + rows->n;
	struct pixel_store *store;
	void *memory;
	char *to;
	int status = 0;

	store = pixel_store_scratch(n + group * rows->bytes, &memory);
	if (!store)
		return fail_memory();
	to = n ? mempcpy(memory, before, n) : memory;
	for (size_t row = rows->first; row < end && status == 0;) {
		for (size_t i = 0; i < group && row < end; i++, to += rows->bytes)
			rows->pack(rows->frame, row++, to);
		status = samples_write(path, file, memory, (size_t)(to - (char *)memory));
		to = memory;
	}
	pixel_store_drop(store);
	return status;
}

/* How many of n channels from c on are one piece of memory without padding: 0 or more. */
static size_t
channels_in_place(const struct frame *frame, size_t c, size_t n)
{
	const size_t row = frame->head.w * sample_size(frame->head.type);
	const struct plane *plane = &frame->plane[c];
	size_t i = 0;

	while (i < n && plane[i].stride == row && plane[i].rows == 0 &&
	    (const char *)plane[i].host == (const char *)plane[0].host + i * row * frame->head.h)
		i++;
	return i;
}

int
samples_write_planes(const char *path, FILE *file, const void *before, size_t n,
    const struct frame *frame, size_t c, size_t channels)
{
	const size_t h = frame->head.h, row = frame->head.w * sample_size(frame->head.type);
	const size_t here = channels_in_place(frame, c, channels);

	if (here == 0 || (here < channels && row * h * here < PACKED_BYTES)) {
		const struct samples_rows rows = { frame, c * h, channels * h, row, copy_row };

		return samples_write_rows(path, file, before, n, &rows);
	}
	if ((n && samples_write(path, file, before, n) < 0) ||
	    samples_write(path, file, frame_row(frame, c, 0), row * h * here) < 0)
		return -1;
	return here == channels ? 0 :
	    samples_write_planes(path, file, NULL, 0, frame, c + here, channels - here);
}

int
samples_write_joined(const char *path, FILE *file, const void *before, size_t n,
    const struct frame *frame)
{
	const struct samples_rows rows = { frame, 0, frame->head.h,
		frame->head.w * frame->head.c * sample_size(frame->head.type), join_row };

	return samples_write_rows(path, file, before, n, &rows);
}
