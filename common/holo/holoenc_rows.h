/*
 * Rows of depths as rows of a Holoimage. Functions in a header, since the tools that encode compile
 * them for each instruction level.
 */
#pragma once

#include "base/cpu_level.h"
#include "holo/holo.h"
#include "holo/holoenc.px.h"

struct holoenc_colours {
	unsigned char *restrict sine, *restrict cosine, *restrict stair;
};

#define HOLOENC_TILE 256	/* pixels of a row that are made together */

/* What is computed of pixels on the way, in loops of few steps each: one loop over all steps needs
 * more registers than there are. */
struct holoenc_tile {
	float rest[HOLOENC_TILE];
	float stair[HOLOENC_TILE];	/* what the order adds to it; NaN outside of the cube */
	float sine[HOLOENC_TILE], cosine[HOLOENC_TILE], ratio[HOLOENC_TILE];
};

static inline void
holoenc_orders(const float *restrict depth, struct holoenc_tile *restrict tile, size_t x0, size_t n,
    struct holo_code code, bool waves)
{
	float per_depth = 1 / (code.depth_one - code.depth_zero), base = waves ? 0 : code.base;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F z = holoenc_normalise(depth[x], code.depth_zero, per_depth);
		PX_F turns = holo_turns((float)(int)(x0 + x), holoenc_clamp(z),
		    code.turns_per_column, code.turns_per_depth);
		PX_F order = holo_order(turns, code.order_most), level = base + order * code.height;

		tile->rest[x] = turns - order;
		tile->stair[x] = px_select(holoenc_inside(z), level, PX_NAN);
	}
}

/* A level as a byte; 0 outside of the cube. */
static inline unsigned char
holoenc_byte(float level, float stair)
{
	return (unsigned char)(int)px_select(px_isnan(stair), 0.0f, holo_round(level));
}

/* Sines and cosines, and the stairs as bytes: with bytes in it a loop takes four vectors of floats
 * at a time, which do not wait for each other. */
static inline __attribute__((always_inline)) void
holoenc_waves(struct holoenc_tile *restrict tile, unsigned char *restrict stair, size_t n,
    struct holo_code code, bool waves)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F rest = tile->rest[x], level = tile->stair[x];

		if (waves)
			level = level + holo_stair_level(rest, code.base, code.swing, code.waves);
		tile->sine[x] = holo_sine_level(rest);
		tile->cosine[x] = holo_cosine_level(rest);
		stair[x] = holoenc_byte(level, level);
	}
}

static inline void
holoenc_round_to_angle(struct holoenc_tile *restrict tile, unsigned char *restrict sine,
    unsigned char *restrict cosine, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		tile->ratio[x] = holoenc_ratio(tile->sine[x], tile->cosine[x]);
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		struct holoenc_pair pair =
		    holoenc_nearest(tile->sine[x], tile->cosine[x], tile->ratio[x]);

		sine[x] = holoenc_byte(pair.r, tile->stair[x]);
		cosine[x] = holoenc_byte(pair.g, tile->stair[x]);
	}
}

static inline void
holoenc_round_to_level(const struct holoenc_tile *restrict tile, unsigned char *restrict sine,
    unsigned char *restrict cosine, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		sine[x] = holoenc_byte(tile->sine[x], tile->stair[x]);
		cosine[x] = holoenc_byte(tile->cosine[x], tile->stair[x]);
	}
}

static inline void
holoenc_row(const float *depth, const struct holoenc_colours *out, size_t w,
    const struct holo_code *code, bool angle)
{
	bool waves = code->swing > 0;
	struct holoenc_tile tile;

	for (size_t x = 0; x < w; x += HOLOENC_TILE) {
		size_t n = w - x < HOLOENC_TILE ? w - x : HOLOENC_TILE;

		holoenc_orders(depth + x, &tile, x, n, *code, waves);
		if (waves)
			holoenc_waves(&tile, out->stair + x, n, *code, true);
		else
			holoenc_waves(&tile, out->stair + x, n, *code, false);
		if (angle)
			holoenc_round_to_angle(&tile, out->sine + x, out->cosine + x, n);
		else
			holoenc_round_to_level(&tile, out->sine + x, out->cosine + x, n);
	}
}

/* Grey levels; NaN is 0. */
static inline void
holoenc_texture_row(const float *restrict in, unsigned char *restrict out, size_t w, float scale)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++) {
		PX_F level = px_min(px_max(holo_round(in[x] * scale), 0.0f), 255.0f);

		out[x] = (unsigned char)(int)px_select(px_isnan(in[x]), 0.0f, level);
	}
}
