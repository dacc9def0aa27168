/*
 * The loops over pixels of depthenc: depths to levels of a video's planes (holo/depthcode.px.h
 * has the formulas), holes filled smoothly, textures, and the count of depths outside of the range.
 */
#include "depthenc.h"

#include <float.h>

#include "holo/depthcode.px.h"
#include "image/texture_rows.h"

#define TILE 1024		/* pixels of a row at a time */
#define PIECE 512		/* pixels of the coarser level's row at a time */

/* NaN where there is no depth, or one outside of the range. */
static void
normalise(const float *restrict depth, float *restrict z, size_t n, float zero, float per_depth)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F normalised = depthcode_normalise(depth[x], zero, per_depth);

		z[x] = px_select(depthcode_inside(normalised), depthcode_clamp(normalised), PX_NAN);
	}
}

static float *
row_of(const struct fill *fill, size_t level, size_t y)
{
	return fill->value + fill->begin[level] + y * fill->w[level];
}

/* ---- holes filled smoothly: to coarser levels ---- */

/* 2 * PIECE pixels of the next finer level from x on, NaN outside of it. */
static void
load_piece(const struct filling *filling, size_t x, size_t y, float *out)
{
	size_t finer = filling->level - 1, w = filling->fill->w[finer], n = 0;

	if (y < filling->fill->h[finer])
		n = w - x < 2 * PIECE ? w - x : 2 * PIECE;
	if (finer)
		memcpy(out, row_of(filling->fill, finer, y) + x, n * sizeof(*out));
	else if (n)
		normalise(frame_floats(filling->frame, filling->channel, y) + x, out, n,
		    filling->code->zero, filling->code->per_depth);
	for (; n < 2 * PIECE; n++)
		out[n] = PX_NAN;
}

static void
take_means(const float *restrict upper, const float *restrict lower, float *restrict out, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		float a = upper[2 * x], b = upper[2 * x + 1];
		float c = lower[2 * x], d = lower[2 * x + 1];
		PX_F sum = px_select(px_isnan(a), 0.0f, a) + px_select(px_isnan(b), 0.0f, b) +
		    px_select(px_isnan(c), 0.0f, c) + px_select(px_isnan(d), 0.0f, d);
		PX_F count = px_select(px_isnan(a), 0.0f, 1.0f) +
		    px_select(px_isnan(b), 0.0f, 1.0f) + px_select(px_isnan(c), 0.0f, 1.0f) +
		    px_select(px_isnan(d), 0.0f, 1.0f);

		out[x] = px_select(count > 0.0f, sum / count, PX_NAN);
	}
}

/* ---- back to finer ones ---- */

/* Weights 3/4 and 1/4 in both directions. */
#define MEAN_OF_FOUR(near, near_other, far, far_other) \
	((9 * (near) + 3 * (near_other) + 3 * (far) + (far_other)) / 16)

static size_t
neighbour(size_t x, size_t n)
{
	return x & 1 ? (x / 2 + 1 < n ? x / 2 + 1 : x / 2) : x / 2 - (x / 2 > 0);
}

/* n pixels of a row from x on with one more at either end; beyond the row the first or the last
 * again. */
static void
load_widened(const float *row, size_t w, size_t x, size_t n, float *out)
{
	out[0] = row[x ? x - 1 : 0];
	memcpy(out + 1, row + x, n * sizeof(*out));
	out[n + 1] = row[x + n < w ? x + n : w - 1];
}

/* The values that fill pixels x to x + n - 1 of row y; x is even. */
static void
fill_row(const struct fill *fill, size_t y, size_t x, size_t n, float *out)
{
	const float *near = row_of(fill, 1, y / 2);
	const float *far = row_of(fill, 1, neighbour(y, fill->h[1]));
	float a[PIECE + 2], b[PIECE + 2], pair[2 * PIECE];

	for (size_t done = 0; done < n; done += 2 * PIECE) {
		size_t now = n - done < 2 * PIECE ? n - done : 2 * PIECE, at = (x + done) / 2;

		load_widened(near, fill->w[1], at, fill_half(now), a);
		load_widened(far, fill->w[1], at, fill_half(now), b);
		CPU_SIMD
		for (size_t i = 0; i < fill_half(now); i++) {
			pair[2 * i] = MEAN_OF_FOUR(a[i + 1], a[i], b[i + 1], b[i]);
			pair[2 * i + 1] = MEAN_OF_FOUR(a[i + 1], a[i + 2], b[i + 1], b[i + 2]);
		}
		memcpy(out + done, pair, now * sizeof(*out));
	}
}

static void
push_block(void *arg, size_t i)
{
	const struct filling *filling = arg;
	size_t w = filling->fill->w[filling->level], h = filling->fill->h[filling->level];
	float upper[2 * PIECE], lower[2 * PIECE];

	for (size_t y = h * i / FILL_BLOCKS; y < h * (i + 1) / FILL_BLOCKS; y++)
		for (size_t x = 0; x < w; x += PIECE) {
			load_piece(filling, 2 * x, 2 * y, upper);
			load_piece(filling, 2 * x, 2 * y + 1, lower);
			take_means(upper, lower, row_of(filling->fill, filling->level, y) + x,
			    w - x < PIECE ? w - x : PIECE);
		}
}

/* Holes of a level from the coarser one. */
static void
pull_block(void *arg, size_t i)
{
	const struct filling *filling = arg;
	const struct fill *fill = filling->fill;
	size_t level = filling->level, coarser = level + 1, h = fill->h[level];

	for (size_t y = h * i / FILL_BLOCKS; y < h * (i + 1) / FILL_BLOCKS; y++) {
		const float *near = row_of(fill, coarser, y / 2);
		const float *far = row_of(fill, coarser, neighbour(y, fill->h[coarser]));
		float *row = row_of(fill, level, y);

		for (size_t x = 0; x < fill->w[level]; x++) {
			size_t at = x / 2, other = neighbour(x, fill->w[coarser]);

			if (px_isnan(row[x]))
				row[x] = MEAN_OF_FOUR(near[at], near[other], far[at], far[other]);
		}
	}
}

/* ---- levels ---- */

static void
put_levels(const float *restrict level, enum sample type, void *row, size_t x, size_t n)
{
	if (type == SAMPLE_UCHAR) {
		uint8_t *restrict out = (uint8_t *)row + x;

		CPU_SIMD
		for (size_t i = 0; i < n; i++)
			out[i] = (uint8_t)(int)level[i];
	} else {
		uint16_t *restrict out = (uint16_t *)row + x;

		CPU_SIMD
		for (size_t i = 0; i < n; i++)
			out[i] = (uint16_t)(int)level[i];
	}
}

/* Holes are the middle of both: mixed with it, a pair keeps its angle. */
static void
encode_colour(const float *restrict z, float *restrict sine, float *restrict cosine, size_t n,
    struct depthcode_code code)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		bool hole = px_isnan(z[x]);
		PX_F rest = depthcode_rest(px_select(hole, 0.0f, z[x]), code.fringes);
		PX_F u = depthcode_round(depthcode_sine(rest, code.middle, code.amplitude));
		PX_F v = depthcode_round(depthcode_cosine(rest, code.middle, code.amplitude));

		sine[x] = px_select(hole, code.middle, u);
		cosine[x] = px_select(hole, code.middle, v);
	}
}

static void
encode(const struct priv *priv, const struct frame *in, struct frame *out, size_t y, size_t x,
    size_t n)
{
	const struct depthcode_code code = priv->code;
	const enum sample type = out->head.type;
	const bool fold = priv->depthcode.layout == DEPTHCODE_FOLD;
	float z[TILE], level[TILE], other[TILE], mask[TILE];

	normalise(frame_floats(in, priv->depth, y) + x, z, n, code.zero, code.per_depth);
	if (priv->fills) {
		fill_row(&priv->fill, y, x, n, other);
		CPU_SIMD
		for (size_t i = 0; i < n; i++) {
			bool hole = px_isnan(z[i]);

			mask[i] = px_select(hole, 0.0f, 1.0f);
			z[i] = px_select(hole, other[i], z[i]);
		}
	}
	if (priv->depthcode.mask == DEPTHCODE_TRACK)
		put_levels(mask, type, frame_row(out, priv->mask, y), x, n);
	if (fold) {
		/* folded depth, 0 in holes, and coarse depth, which z continues into holes */
		CPU_SIMD
		for (size_t i = 0; i < n; i++) {
			PX_F height = depthcode_fold(z[i], code.fringes);
			PX_F luma = depthcode_round(depthcode_luma(height, code.guard, code.swing));

			level[i] = px_select((mask[i] == 0.0f) & (code.guard > 0.0f), 0.0f, luma);
			other[i] = depthcode_round(z[i] * code.most);
		}
	} else {
		CPU_SIMD
		for (size_t i = 0; i < n; i++) {
			PX_F luma = depthcode_round(depthcode_luma(z[i], code.guard, code.swing));

			level[i] = px_select(px_isnan(z[i]), 0.0f, luma);
		}
	}
	put_levels(level, type, frame_row(out, 0, y), x, n);
	if (fold) {
		put_levels(other, type, frame_row(out, 1, y), x, n);
		for (size_t i = 0; i < n; i++)
			level[i] = code.middle;
		put_levels(level, type, frame_row(out, 2, y), x, n);
	}
	if (priv->depthcode.layout == DEPTHCODE_MWD) {
		encode_colour(z, level, other, n, code);
		put_levels(level, type, frame_row(out, 1, y), x, n);
		put_levels(other, type, frame_row(out, 2, y), x, n);
	}
}

static void
colour_row(const struct texture *texture, const struct frame *in, struct frame *out, size_t y)
{
	for (size_t x = 0; x < in->head.w; x += TILE) {
		size_t n = in->head.w - x < TILE ? in->head.w - x : TILE;
		const float *from[3];
		float level[3][TILE];

		for (size_t k = 0; k < 3; k++)
			from[k] = frame_floats(in, texture->from.channel[k], y) + x;
		texture_colour_levels(from, level, n, texture->levels_per_unit, texture->most,
		    true);
		for (size_t k = 0; k < 3; k++)
			put_levels(level[k], out->head.type,
			    frame_row(out, out->head.c - 3 + k, y), x, n);
	}
}

/* NaN is 0. */
static void
texture_row(const struct texture *texture, const struct frame *in, struct frame *out, size_t y)
{
	const float *restrict value = frame_floats(in, texture->from.channel[0], y);
	void *row = frame_row(out, out->head.c - 1, y);

	for (size_t x = 0; x < in->head.w; x += TILE) {
		size_t n = in->head.w - x < TILE ? in->head.w - x : TILE;
		float level[TILE];

		for (size_t i = 0; i < n; i++) {
			PX_F v = depthcode_round(value[x + i] * texture->levels_per_unit);

			v = px_min(px_max(v, 0.0f), texture->most);
			level[i] = px_select(px_isnan(value[x + i]), 0.0f, v);
		}
		put_levels(level, out->head.type, row, x, n);
	}
}

static void
encode_rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *)
{
	const struct priv *priv = run->priv;
	size_t w = in->head.w;

	for (size_t y = y0; y < y1; y++)
		for (size_t x = 0; x < w; x += TILE)
			encode(priv, in, out, y, x, w - x < TILE ? w - x : TILE);
	for (size_t y = y0; y < y1 && priv->texture.from.n; y++)
		if (priv->texture.from.n == 3)
			colour_row(&priv->texture, in, out, y);
		else
			texture_row(&priv->texture, in, out, y);
}

/* ---- depths outside of the range ---- */

static void
count_outside(void *arg, size_t i)
{
	struct outside_counting *counting = arg;
	const struct frame *frame = counting->frame;
	float zero = counting->code->zero, per_depth = counting->code->per_depth;
	size_t h = frame->head.h;
	float low = FLT_MAX, high = -FLT_MAX;
	int depths, outside;

	for (size_t y = h * i / OUTSIDE_BLOCKS; y < h * (i + 1) / OUTSIDE_BLOCKS; y++) {
		const float *restrict row = frame_floats(frame, counting->channel, y);

		depths = outside = 0;
		_Pragma("omp simd reduction(min:low) reduction(max:high) \
		    reduction(+:depths,outside)")
		for (size_t x = 0; x < frame->head.w; x++) {
			float depth = row[x];
			PX_F z = depthcode_normalise(depth, zero, per_depth);
			bool nan = px_isnan(depth), inside = depthcode_inside(z);
			float a = px_select(nan, FLT_MAX, depth);
			float b = px_select(nan, -FLT_MAX, depth);

			low = a < low ? a : low;
			high = b > high ? b : high;
			depths += !nan;
			outside += !nan & !inside;
		}
		counting->depths[i] += (size_t)depths;
		counting->outside[i] += (size_t)outside;
	}
	counting->low[i] = low;
	counting->high[i] = high;
}

const struct depthenc_rows AT_LEVEL(depthenc_rows) = {
	.encode = encode_rows,
	.count_outside = count_outside,
	.push_block = push_block,
	.pull_block = pull_block,
};
