/*
 * Rows of depths as rows of a Holoimage. Functions in a header, since the tools that encode compile
 * them for each instruction level.
 */
#ifndef HOLOENC_ROWS_H
#define HOLOENC_ROWS_H

#include "base/cpu_level.h"
#include "holo/holo.h"
#include "holo/holoenc.px.h"

struct holoenc_colours {
	unsigned char *restrict sine, *restrict cosine, *restrict stair;
};

static inline __attribute__((always_inline)) void
holoenc_row_of(const float *restrict depth, const struct holoenc_colours *out, size_t w,
    struct holo_code code, bool waves, bool angle)
{
	unsigned char *restrict sine = out->sine, *restrict cosine = out->cosine;
	unsigned char *restrict stair = out->stair;
	float per_depth = 1 / (code.depth_one - code.depth_zero);

	CPU_SIMD
	for (size_t x = 0; x < w; x++) {
		PX_F z = holoenc_normalise(depth[x], code.depth_zero, per_depth);
		PX_F turns = holo_turns(
		    (float)(int)x, holoenc_clamp(z), code.turns_per_column, code.turns_per_depth);
		PX_F order = holo_order(turns, code.order_most), rest = turns - order;
		PX_F level = code.base + order * code.height;
		PX_F r = holo_sine_level(rest), g = holo_cosine_level(rest);
		PX_F b = holo_round(waves ? order * code.height +
			    holo_stair_level(rest, code.base, code.swing, code.waves)
					  : level);
		bool inside = holoenc_inside(z);

		if (angle) {
			struct holoenc_pair pair = holoenc_nearest(r, g);

			r = pair.r;
			g = pair.g;
		}
		r = holo_round(r);
		g = holo_round(g);
		sine[x] = (unsigned char)(int)px_select(inside, r, 0.0f);
		cosine[x] = (unsigned char)(int)px_select(inside, g, 0.0f);
		stair[x] = (unsigned char)(int)px_select(inside, b, 0.0f);
	}
}

static inline void
holoenc_row(const float *depth, const struct holoenc_colours *out, size_t w,
    const struct holo_code *code, bool angle)
{
	bool waves = code->swing > 0;

	if (waves && angle)
		holoenc_row_of(depth, out, w, *code, true, true);
	else if (angle)
		holoenc_row_of(depth, out, w, *code, false, true);
	else if (waves)
		holoenc_row_of(depth, out, w, *code, true, false);
	else
		holoenc_row_of(depth, out, w, *code, false, false);
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

#endif
