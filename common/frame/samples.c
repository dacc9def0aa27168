/* Samples of foreign files: converting, splitting and joining channels, reading and writing them by
 * large pieces. */
#define _GNU_SOURCE
#include "frame/samples.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "frame/interleave.h"
#include "frame/pixel_store.h"

/* Of rows that are written at once. A file system of a disk takes more time for each call than one
 * of memory: pieces of 64 KB took 1.6 times as long as pieces of 1 MB. */
#define PACKED_BYTES (1 << 20)

size_t
samples_element_size(enum element element)
{
	static const unsigned char size[] = { 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8 };

	return size[element];
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
	if (!swap && step == samples_element_size(element) &&
	    (element == ELEMENT_U8 || element == ELEMENT_U16 || element == ELEMENT_F32)) {
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

/* Samples of a file's row: behind the filter's byte of a PNG row they lie at odd addresses. */
typedef uint16_t unaligned_uint16_t __attribute__((aligned(1)));
typedef uint32_t unaligned_uint32_t __attribute__((aligned(1)));

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
	off_t here = ftello(file), end;

	if (here < 0 || fseeko(file, 0, SEEK_END) < 0)
		return SIZE_MAX;
	end = ftello(file);
	if (end < 0 || fseeko(file, here, SEEK_SET) < 0)
		return SIZE_MAX;
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
