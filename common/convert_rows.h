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

/* Rounded to the nearest, halves upward; clamped; what would be the fill goes around it. */
#define DEFINE_ENCODE(name, c_type) \
static void \
name(const float *restrict from, size_t w, struct line line, double largest, double fill, \
    double around, c_type *restrict to) \
{ \
	ROWS_SIMD \
	for (size_t x = 0; x < w; x++) { \
		double v = ((double)from[x] - line.offset) / line.scale; \
		double sample = __builtin_floor(v + 0.5); \
\
		sample = sample < 0.0 ? 0.0 : sample; \
		sample = sample > largest ? largest : sample; \
		sample = sample == fill ? around : sample; \
		sample = px_isnan(from[x]) ? fill : sample; \
		to[x] = (c_type)(int32_t)sample; \
	} \
}

DEFINE_ENCODE(encode_uchar, uint8_t)
DEFINE_ENCODE(encode_ushort, uint16_t)

static void
encode_row(const struct conversion *conversion, size_t y)
{
	const struct frame *out = conversion->out;

	for (size_t c = 0; c < out->head.c; c++) {
		struct line line = conversion->line ? conversion->line[c] : (struct line){ 1, 0 };
		const float *from = frame_floats(conversion->in, c, y);
		void *to = frame_row(out, c, y);

		if (out->head.type == SAMPLE_UCHAR)
			encode_uchar(from, out->head.w, line, conversion->largest,
			    conversion->fill, conversion->around, to);
		else
			encode_ushort(from, out->head.w, line, conversion->largest,
			    conversion->fill, conversion->around, to);
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
