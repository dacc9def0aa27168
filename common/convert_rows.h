/*
 * The rows of conversions, compiled with a tool for its instruction level (rows.h). They are given
 * to the functions of convert.h as convert_rows.
 */
#ifndef CONVERT_ROWS_H
#define CONVERT_ROWS_H

#include "colormap.px.h"
#include "convert.h"

#define DEFINE_DECODE(name, c_type) \
static void \
name(const c_type *restrict from, size_t w, double scale, double offset, double invalid, \
    float *restrict to) \
{ \
	ROWS_SIMD \
	for (size_t x = 0; x < w; x++) { \
		double v = from[x]; \
		float value = (float)(v * scale + offset); \
\
		to[x] = v == invalid ? PX_NAN : value; \
	} \
}

DEFINE_DECODE(decode_uchar, uint8_t)
DEFINE_DECODE(decode_ushort, uint16_t)
DEFINE_DECODE(decode_float, float)

static void
decode_row(const struct conversion *conversion, size_t y)
{
	const struct frame *in = conversion->in;

	for (size_t c = 0; c < in->head.c; c++) {
		struct line line = conversion->line ? conversion->line[c] : (struct line){ 1, 0 };
		const void *from = frame_row(in, c, y);
		float *to = frame_floats(conversion->out, c, y);

		if (in->head.type == SAMPLE_UCHAR)
			decode_uchar(from, in->head.w, line.scale, line.offset,
			    conversion->invalid, to);
		else if (in->head.type == SAMPLE_USHORT)
			decode_ushort(from, in->head.w, line.scale, line.offset,
			    conversion->invalid, to);
		else
			decode_float(from, in->head.w, line.scale, line.offset,
			    conversion->invalid, to);
	}
}

#define ENCODE_PIECE 256

/* Rounded to the nearest, halves upward; clamped. */
static void
round_samples(const float *restrict from, size_t n, struct line line, double largest,
    int32_t *restrict to)
{
	ROWS_SIMD
	for (size_t x = 0; x < n; x++) {
		double v = ((double)from[x] - line.offset) / line.scale;
		double sample = __builtin_floor(v + 0.5);

		sample = sample > 0.0 ? sample : 0.0;		/* so is NaN */
		sample = sample < largest ? sample : largest;
		to[x] = (int32_t)sample;
	}
}

/*
 * The same without a division, which takes most of the time: in units of 2^-bits, which may be off
 * by one. False if so it may have rounded a sample otherwise. largest < 2^(31 - bits).
 */
static bool
round_quickly(const float *restrict from, size_t n, struct line line, double largest, int bits,
    int32_t *restrict to)
{
	uint32_t whole = 1u << bits, half = whole / 2, least = whole;
	double unit = (double)whole / line.scale, most = (largest + 0.25) * (double)whole;

	_Pragma("omp simd reduction(min:least)")
	for (size_t x = 0; x < n; x++) {
		double v = ((double)from[x] - line.offset) * unit;
		uint32_t raised, beyond;

		v = v > 0.0 ? v : 0.0;
		v = v < most ? v : most;
		raised = (uint32_t)(int32_t)v + half;
		beyond = (raised + 1) & (whole - 1);
		least = beyond < least ? beyond : least;
		to[x] = (int32_t)(raised >> bits);
	}
	return least > 1 && isnormal(unit);
}

/* What would be the fill goes around it; NaN becomes it. */
#define DEFINE_FILL(name, c_type) \
static void \
name(const float *restrict from, const int32_t *restrict sample, size_t n, int32_t fill, \
    int32_t around, c_type *restrict to) \
{ \
	ROWS_SIMD \
	for (size_t x = 0; x < n; x++) { \
		int32_t v = sample[x] == fill ? around : sample[x]; \
\
		to[x] = (c_type)(px_isnan(from[x]) ? fill : v); \
	} \
}

DEFINE_FILL(fill_uchar, uint8_t)
DEFINE_FILL(fill_ushort, uint16_t)

static void
encode_piece(const struct conversion *conversion, struct line line, const float *from, size_t n,
    void *to)
{
	int32_t sample[ENCODE_PIECE] __attribute__((aligned(64)));
	int32_t fill = (int32_t)conversion->fill, around = (int32_t)conversion->around;
	int bits = conversion->out->head.type == SAMPLE_UCHAR ? 23 : 15;

	/* values as they are, times a power of 2, are not off at all */
	if (!round_quickly(from, n, line, conversion->largest, bits, sample) && conversion->line)
		round_samples(from, n, line, conversion->largest, sample);
	if (conversion->out->head.type == SAMPLE_UCHAR)
		fill_uchar(from, sample, n, fill, around, to);
	else
		fill_ushort(from, sample, n, fill, around, to);
}

static void
encode_row(const struct conversion *conversion, size_t y)
{
	const struct frame *out = conversion->out;

	for (size_t c = 0; c < out->head.c; c++) {
		struct line line = conversion->line ? conversion->line[c] : (struct line){ 1, 0 };
		const float *from = frame_floats(conversion->in, c, y);
		char *to = frame_row(out, c, y);

		for (size_t x = 0, w = out->head.w; x < w; x += ENCODE_PIECE)
			encode_piece(conversion, line, from + x,
			    w - x < ENCODE_PIECE ? w - x : ENCODE_PIECE,
			    to + x * sample_size(out->head.type));
	}
}

static void
fill_row(const struct conversion *conversion, size_t y)
{
	float fill = (float)conversion->fill;

	for (size_t c = 0; c < conversion->out->head.c; c++) {
		const float *restrict from = frame_floats(conversion->in, c, y);
		float *restrict to = frame_floats(conversion->out, c, y);

		ROWS_SIMD
		for (size_t x = 0; x < conversion->out->head.w; x++)
			to[x] = px_isnan(from[x]) ? fill : from[x];
	}
}

#define COLOUR_PIECE 256

/* The anchor before each pixel, and how far it lies behind it. Where there is no value, the last
 * one, which has none behind it. */
static void
place_colours(const struct conversion *conversion, const float *restrict from, size_t n, float last,
    int32_t *restrict anchor, float *restrict share)
{
	double offset = conversion->line->offset, scale = conversion->line->scale;
	bool round = conversion->map == COLORMAP_PHASE;

	ROWS_SIMD
	for (size_t x = 0; x < n; x++) {
		double t = ((double)from[x] - offset) / scale;
		float wrapped = (float)(t - __builtin_floor(t)), value = round ? wrapped : (float)t;
		float place = colormap_place(value, last), before = colormap_anchor(place, last);

		share[x] = place - before;
		anchor[x] = px_isnan(value) ? (int32_t)last : (int32_t)before;
	}
}

static void
mix_colours(const int32_t *restrict anchor, const float *restrict share, size_t n,
    const float *restrict before, const float *restrict behind, uint8_t *restrict to)
{
	ROWS_SIMD
	for (size_t x = 0; x < n; x++) {
		float v = colormap_between(before[anchor[x]], behind[anchor[x]], share[x]);

		to[x] = (uint8_t)(int32_t)(v * 255.0f + 0.5f);
	}
}

static void
colour_row(const struct conversion *conversion, size_t y)
{
	const float (*table)[3];
	size_t w = conversion->out->head.w, last = colormap_anchors(conversion->map, &table) - 1;
	const float *from = frame_floats(conversion->in, 0, y);
	float before[3][COLORMAP_ANCHORS_MOST] = { 0 }, behind[3][COLORMAP_ANCHORS_MOST] = { 0 };
	float share[COLOUR_PIECE];
	int32_t anchor[COLOUR_PIECE];

	for (size_t k = 0; k < 3; k++)
		for (size_t a = 0; a < last; a++) {	/* black at the last: no value */
			before[k][a] = table[a][k];
			behind[k][a] = table[a + 1][k];
		}
	for (size_t x = 0; x < w; x += COLOUR_PIECE) {
		size_t n = w - x < COLOUR_PIECE ? w - x : COLOUR_PIECE;

		place_colours(conversion, from + x, n, (float)last, anchor, share);
		for (size_t k = 0; k < 3; k++)
			mix_colours(anchor, share, n, before[k], behind[k],
			    (uint8_t *)frame_row(conversion->out, k, y) + x);
	}
}

static const struct convert_rows convert_rows = { decode_row, encode_row, fill_row, colour_row };

#endif
