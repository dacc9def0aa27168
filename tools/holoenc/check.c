#include "check.h"

#include <math.h>

#include "holo/holocheck.h"
#include "holo/holoenc.px.h"

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

/* Do pixels (x, y) and those to its right and below belong to one surface? */
static bool
runs_on(const struct priv *priv, const struct frame *in, size_t x, size_t y)
{
	float turns = turns_at(priv, in, x, y);

	return fabsf(turns_at(priv, in, x + 1, y) - turns) < HOLOCHECK_STEP &&
	    fabsf(turns_at(priv, in, x, y + 1) - turns) < HOLOCHECK_STEP;
}

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
			if (!runs_on(priv, in, u, v))
				return HOLOCHECK_UNKNOWN;
	for (size_t i = 0; i < window * window; i++)
		sum += (double)turns_at(priv, in, x - HOLOCHECK_WINDOW + i % window,
		    y - HOLOCHECK_WINDOW + i / window);
	return holocheck_code(sum / (double)(window * window));
}

int
check_write(const struct priv *priv, const struct frame *in, struct meta *meta)
{
	int code[HOLOCHECK_PLACES];
	char text[HOLOCHECK_TEXT + 1];
	size_t x, y;

	for (size_t i = 0; i < HOLOCHECK_PLACES; i++) {
		holocheck_place(in->head.w, in->head.h, i, &x, &y);
		code[i] = code_at(priv, in, x, y);
	}
	holocheck_write(code, text);
	return meta_set(meta, "holo_check", text);
}
