/*
 * The loops of a picture for viewers: frames made smaller by a box filter, the range of depths, and
 * depths as a Holoimage or as the luma of a video.
 */
#include "holoserve.h"

#include <float.h>

#include "holo/holoenc_rows.h"
#include "image/texture_rows.h"

static float
mean_of_box(const struct frame *frame, size_t c, size_t x0, size_t y0, size_t step)
{
	size_t n = 0;
	double sum = 0;

	for (size_t y = y0; y < y0 + step; y++) {
		const float *row = frame_floats(frame, c, y);

		for (size_t x = x0; x < x0 + step; x++)
			if (!px_isnan(row[x])) {
				sum += (double)row[x];
				n++;
			}
	}
	return 2 * n < step * step ? PX_NAN : (float)(sum / (double)n);
}

static void
shrink_row(const struct frame *frame, size_t c, size_t y, size_t step, float *row, size_t w)
{
	for (size_t x = 0; x < w; x++)
		row[x] = mean_of_box(frame, c, x * step, y * step, step);
}

static void
depth_row(const float *restrict depth, uint16_t *restrict luma, size_t n,
    struct depthcode_code code)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F z = depthcode_normalise(depth[x], code.zero, code.per_depth);
		PX_F level = depthcode_round(depthcode_luma(depthcode_clamp(z), code.guard,
		    code.swing));

		luma[x] = (uint16_t)(int)px_select(depthcode_inside(z), level, 0.0f);
	}
}

static void
texture_row(const float *restrict value, uint16_t *restrict luma, size_t n, float scale, float most)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F level = px_floor(value[x] * scale + 0.5f);

		luma[x] = (uint16_t)(int)px_select(level >= 0.0f, px_min(level, most), 0.0f);
	}
}

#define TILE 1024		/* pixels, of texture_colour_levels() */

/* Row y of a texture in colour, which begins at this row: luma and the differences from it. */
static void
colour_row(const struct picture *picture, size_t y, struct frame *out, size_t begin, float scale,
    float most)
{
	for (size_t x = 0; x < picture->w; x += TILE) {
		size_t n = picture->w - x < TILE ? picture->w - x : TILE;
		float level[3][TILE];
		const float *from[3];

		for (size_t k = 0; k < 3; k++)
			from[k] = frame_floats(picture->source, picture->texture.channel[k], y) + x;
		texture_colour_levels(from, level, n, scale, most, true);
		for (size_t k = 0; k < 3; k++)
			for (size_t i = 0; i < n; i++)
				((uint16_t *)frame_row(out, k, begin + y))[x + i] =
				    (uint16_t)level[k][i];
	}
}

/* Rows from `begin` on of three channels r g b, levels of 255, as luma and the differences of blue
 * and red from it. */
static void
to_luma(struct frame *frame, size_t begin)
{
	for (size_t y = begin; y < frame->head.h; y++)
		for (size_t x = 0; x < frame->head.w; x += TILE) {
			size_t n = frame->head.w - x < TILE ? frame->head.w - x : TILE;
			float rgb[3][TILE], level[3][TILE];

			for (size_t k = 0; k < 3; k++)
				for (size_t i = 0; i < n; i++)
					rgb[k][i] = ((uint8_t *)frame_row(frame, k, y))[x + i];
			texture_colour_levels((const float *[]){ rgb[0], rgb[1], rgb[2] }, level, n,
			    1, 255, true);
			for (size_t k = 0; k < 3; k++)
				for (size_t i = 0; i < n; i++)
					((uint8_t *)frame_row(frame, k, y))[x + i] =
					    (uint8_t)level[k][i];
		}
}

static void
luma_rows(const struct picture *picture, struct depthcode_code code, size_t begin,
    struct frame *out)
{
	const struct frame *source = picture->source;
	const bool textured = picture->texture.n > 0;
	const float scale = (float)(code.most / picture->white);
	const size_t w = picture->w, h = picture->h;

	for (size_t y = 0; y < h; y++)
		depth_row(frame_floats(source, picture->depth, y), frame_row(out, 0, y), w, code);
	for (size_t y = h; y < begin && textured; y++)
		memcpy(frame_row(out, 0, y), frame_row(out, 0, h - 1), w * sizeof(uint16_t));
	for (size_t c = 1; c < out->head.c; c++)
		for (size_t y = 0; y < begin; y++)
			for (size_t x = 0; x < w; x++)
				((uint16_t *)frame_row(out, c, y))[x] =
				    (uint16_t)((code.most + 1) / 2);
	for (size_t y = 0; y < h && textured; y++)
		if (picture->texture.n == 3)
			colour_row(picture, y, out, begin, scale, code.most);
		else
			texture_row(frame_floats(source, picture->texture.channel[0], y),
			    frame_row(out, 0, begin + y), w, scale, code.most);
}

static void
find_range(const struct picture *picture, size_t channel, double *low, double *high)
{
	float least = FLT_MAX, most = -FLT_MAX;

	for (size_t y = 0; y < picture->h; y++) {
		const float *restrict row = frame_floats(picture->source, channel, y);

		_Pragma("omp simd reduction(min:least) reduction(max:most)")
		for (size_t x = 0; x < picture->w; x++) {
			bool finite = px_abs(row[x]) <= FLT_MAX;
			float a = px_select(finite, row[x], FLT_MAX);
			float b = px_select(finite, row[x], -FLT_MAX);

			least = a < least ? a : least;
			most = b > most ? b : most;
		}
	}
	*low = (double)least;
	*high = (double)most;
}

static void
holoimage_rows(const struct picture *picture, struct frame *out)
{
	const struct frame *source = picture->source;
	const struct holo_code code = holo_code(&picture->holo);
	const size_t *place = holo_place[picture->holo.layout];

	for (size_t y = 0; y < picture->h; y++) {
		struct holoenc_colours colours = { frame_row(out, place[0], y),
			frame_row(out, place[1], y), frame_row(out, place[2], y) };

		holoenc_row(frame_floats(source, picture->depth, y), &colours, picture->w, &code,
		    picture->holo.rounding == HOLO_ANGLE);
		for (size_t k = 0; k < picture->texture.n; k++)
			holoenc_texture_row(frame_floats(source, picture->texture.channel[k], y),
			    frame_row(out, 3 + k, y), picture->w, (float)(255 / picture->white));
	}
}

const struct holoserve_rows AT_LEVEL(holoserve_rows) = {
	.holoimage_rows = holoimage_rows,
	.find_range = find_range,
	.shrink_row = shrink_row,
	.luma_rows = luma_rows,
	.to_luma = to_luma,
};
