/*
 * Rows of a texture in colour as levels, and back. Functions in a header, since the tools that
 * encode and decode compile them for each instruction level.
 *
 * Luma and the differences of blue and red from it by ITU-R BT.709-6, section 3, of full range: the
 * differences lie about the middle of the levels, and are as large as luma at most.
 */
#pragma once

#include "base/cpu_level.h"
#include "base/px.h"

#define TEXTURE_RED 0.2126f	/* shares of luma */
#define TEXTURE_BLUE 0.0722f
#define TEXTURE_GREEN (1 - TEXTURE_RED - TEXTURE_BLUE)

/* 0 to most; NaN is black. */
PX_FN float
texture_level(float v, float per_unit, float most)
{
	return px_select(px_isnan(v), 0.0f, px_min(px_max(v * per_unit, 0.0f), most));
}

/* Whole levels 0 to most of n pixels r g b; yuv: of luma and both differences. */
static inline void
texture_colour_levels(const float *const in[3], float (*out)[1024], size_t n, float per_unit,
    float most, bool yuv)
{
	const float *restrict r = in[0], *restrict g = in[1], *restrict b = in[2];
	float *restrict first = out[0], *restrict second = out[1], *restrict third = out[2];
	float middle = (most + 1) / 2;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F red = texture_level(r[x], per_unit, most);
		PX_F green = texture_level(g[x], per_unit, most);
		PX_F blue = texture_level(b[x], per_unit, most);
		PX_F luma = TEXTURE_RED * red + TEXTURE_GREEN * green + TEXTURE_BLUE * blue;
		PX_F u = middle + (blue - luma) * (0.5f / (1 - TEXTURE_BLUE));
		PX_F v = middle + (red - luma) * (0.5f / (1 - TEXTURE_RED));

		first[x] = px_floor(px_select(yuv, luma, red) + 0.5f);
		second[x] = px_floor(px_min(px_select(yuv, u, green), most) + 0.5f);
		third[x] = px_floor(px_min(px_select(yuv, v, blue), most) + 0.5f);
	}
}

/* The inverse, in place; a level is `scale`. */
static inline void
texture_colours_of(float *restrict first, float *restrict second, float *restrict third, size_t n,
    float scale, float most, bool yuv)
{
	float middle = (most + 1) / 2;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F luma = first[x], u = second[x] - middle, v = third[x] - middle;
		PX_F red = luma + v * (2 * (1 - TEXTURE_RED));
		PX_F blue = luma + u * (2 * (1 - TEXTURE_BLUE));
		PX_F shares = TEXTURE_RED * red + TEXTURE_BLUE * blue;
		PX_F green = (luma - shares) / TEXTURE_GREEN;

		first[x] = scale * px_select(yuv, px_min(px_max(red, 0.0f), most), luma);
		second[x] = scale * px_select(yuv, px_min(px_max(green, 0.0f), most), second[x]);
		third[x] = scale * px_select(yuv, px_min(px_max(blue, 0.0f), most), third[x]);
	}
}
