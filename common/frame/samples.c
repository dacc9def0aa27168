#define _GNU_SOURCE
#include "frame/samples.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"

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
#define CONVERT(bits_type, swapped, sample_type, load)						\
	for (size_t i = 0; i < n; i++) {							\
		bits_type bits;									\
		memcpy(&bits, (const char *)from + i * step, sizeof(bits));			\
		if (swap)									\
			bits = swapped;								\
		((sample_type *)to)[i] = (sample_type)(load);					\
	}											\
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

#define SPLIT(type, c_count)									\
	do {											\
		const type *from = row;								\
		for (size_t c = 0; c < (c_count); c++) {					\
			type *to = frame_row(frame, c, y);					\
			for (size_t x = 0; x < w; x++)						\
				to[x] = from[x * (c_count) + c];				\
		}										\
	} while (0)

void
samples_split(const void *row, struct frame *frame, size_t y)
{
	size_t w = frame->head.w, channels = frame->head.c;
	enum sample type = frame->head.type;

	if (channels == 1)
		memcpy(frame_row(frame, 0, y), row, w * sample_size(type));
	else if (type == SAMPLE_UCHAR && channels == 3)
		SPLIT(uint8_t, 3);
	else if (type == SAMPLE_UCHAR)
		SPLIT(uint8_t, channels);
	else if (type == SAMPLE_USHORT && channels == 3)
		SPLIT(uint16_t, 3);
	else if (type == SAMPLE_USHORT)
		SPLIT(uint16_t, channels);
	else
		SPLIT(uint32_t, channels);
}

#define JOIN(type, c_count)									\
	do {											\
		type *to = row;									\
		for (size_t c = 0; c < (c_count); c++) {					\
			const type *from = frame_row(frame, c, y);				\
			for (size_t x = 0; x < w; x++)						\
				to[x * (c_count) + c] = from[x];				\
		}										\
	} while (0)

void
samples_join(const struct frame *frame, size_t y, void *row)
{
	size_t w = frame->head.w, channels = frame->head.c;
	enum sample type = frame->head.type;

	if (channels == 1)
		memcpy(row, frame_row(frame, 0, y), w * sample_size(type));
	else if (type == SAMPLE_UCHAR && channels == 3)
		JOIN(uint8_t, 3);
	else if (type == SAMPLE_UCHAR)
		JOIN(uint8_t, channels);
	else if (type == SAMPLE_USHORT && channels == 3)
		JOIN(uint16_t, 3);
	else if (type == SAMPLE_USHORT)
		JOIN(uint16_t, channels);
	else
		JOIN(uint32_t, channels);
}

void
samples_swap16(void *row, size_t n)
{
	uint16_t *v = row;

	for (size_t i = 0; i < n; i++)
		v[i] = __builtin_bswap16(v[i]);
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
