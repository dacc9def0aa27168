/*
 * The loops over pixels of holoenc: rows of depths as rows of a Holoimage (methods section 12;
 * holo/holoenc_rows.h has the formulas' loops), and the turns at places of the key holo_check.
 */
#include "holoenc.h"

#include "holo/holoenc_rows.h"
#include "image/texture_rows.h"

#define COLOUR_TILE 1024	/* pixels, of texture_colour_levels() */

static void
colour_tile(const struct priv *priv, const struct frame *in, struct frame *out, size_t y, size_t x)
{
	size_t n = in->head.w - x < COLOUR_TILE ? in->head.w - x : COLOUR_TILE;
	float level[3][COLOUR_TILE];
	const float *from[3];

	for (size_t k = 0; k < 3; k++)
		from[k] = frame_floats(in, priv->texture.channel[k], y) + x;
	texture_colour_levels(from, level, n, priv->texture_scale, 255,
	    priv->holo.layout == HOLO_YUV);
	for (size_t k = 0; k < 3; k++) {
		uint8_t *restrict to = (uint8_t *)frame_row(out, 3 + k, y) + x;

		CPU_SIMD
		for (size_t i = 0; i < n; i++)
			to[i] = (uint8_t)(int)level[k][i];
	}
}

static void
encode(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *)
{
	const struct priv *priv = run->priv;
	const size_t *place = holo_place[priv->holo.layout];

	for (size_t y = y0; y < y1; y++) {
		struct holoenc_colours colours = { frame_row(out, place[0], y),
			frame_row(out, place[1], y), frame_row(out, place[2], y) };

		holoenc_row(frame_floats(in, priv->depth, y), &colours, in->head.w, &priv->code,
		    priv->holo.rounding == HOLO_ANGLE);
		if (priv->texture.n == 1)
			holoenc_texture_row(frame_floats(in, priv->texture.channel[0], y),
			    frame_row(out, 3, y), in->head.w, priv->texture_scale);
		for (size_t x = 0; x < in->head.w && priv->texture.n == 3; x += COLOUR_TILE)
			colour_tile(priv, in, out, y, x);
	}
}

/* ---- places of the key holo_check ---- */

/* Turns of a pixel as they are encoded; NaN in the background. */
static float
turns_at(const struct priv *priv, const struct frame *in, size_t x, size_t y)
{
	const struct holo_code *code = &priv->code;
	float z = holoenc_normalise(frame_floats(in, priv->depth, y)[x], code->depth_zero,
	    1 / (code->depth_one - code->depth_zero));

	if (!holoenc_inside(z))
		return PX_NAN;
	return holo_turns(
	    (float)x, holoenc_clamp(z), code->turns_per_column, code->turns_per_depth);
}

static bool
is_background(const struct priv *priv, const struct frame *in, size_t x, size_t y)
{
	size_t reach = HOLOCHECK_FAR, x0 = x < reach ? 0 : x - reach;

	for (size_t v = y < reach ? 0 : y - reach; v <= y + reach && v < in->head.h; v++)
		for (size_t u = x0; u <= x + reach && u < in->head.w; u++)
			if (!isnan(turns_at(priv, in, u, v)))
				return false;
	return true;
}

/* The code of a place: its turns, averaged, where the surface runs on around it. */
static int
code_at(const struct priv *priv, const struct frame *in, size_t x, size_t y)
{
	size_t reach = HOLOCHECK_SMOOTH, window = 2 * HOLOCHECK_WINDOW + 1;
	double sum = 0;

	if (is_background(priv, in, x, y))
		return HOLOCHECK_BACKGROUND;
	if (x < reach || y < reach || x + reach >= in->head.w || y + reach >= in->head.h)
		return HOLOCHECK_UNKNOWN;
	for (size_t v = y - reach; v < y + reach; v++)
		for (size_t u = x - reach; u < x + reach; u++)
			/* it and those to its right and below are of one surface */
			if (!(fabsf(turns_at(priv, in, u + 1, v) - turns_at(priv, in, u, v)) <
				HOLOCHECK_STEP) ||
			    !(fabsf(turns_at(priv, in, u, v + 1) - turns_at(priv, in, u, v)) <
				HOLOCHECK_STEP))
				return HOLOCHECK_UNKNOWN;
	for (size_t i = 0; i < window * window; i++)
		sum += (double)turns_at(priv, in, x - HOLOCHECK_WINDOW + i % window,
		    y - HOLOCHECK_WINDOW + i / window);
	return holocheck_code(sum / (double)(window * window));
}

const struct holoenc_rows AT_LEVEL(holoenc_rows) = {
	.encode = encode,
	.code_at = code_at,
};
