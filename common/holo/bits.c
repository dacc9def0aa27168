#include "holo/bits.h"

#include <math.h>

#include "base/px.h"

#define SLACK 0.1f	/* of a stair; turns are not exact */

const int bits_way[BITS_WAYS][2] = { { -1, -1 }, { 0, -1 }, { 1, -1 }, { -1, 0 }, { 1, 0 },
	{ -1, 1 }, { 0, 1 }, { 1, 1 } };

int
bits_thresholds(struct bits_code *bits, const struct dither_keys *keys)
{
	float threshold[4][DITHER_TILE_PIXELS];

	if (dither_thresholds(keys, threshold) < 0)
		return -1;
	for (size_t i = 0; i < DITHER_TILE_PIXELS; i++) {
		double sine = (ceil(255.0 * threshold[0][i]) - 0.5) / 127.5 - 1;
		double cosine = (ceil(255.0 * threshold[1][i]) - 0.5) / 127.5 - 1;

		bits->arc[0][i] = (float)(asin(sine) * HOLO_TURN);
		bits->arc[1][i] = (float)(acos(cosine) * HOLO_TURN);
		bits->threshold[i] = ceilf(255.0f * threshold[2][i]) - 0.5f;
	}
	return 0;
}

void
bits_stairs(struct bits_code *bits, const struct holo_code *code)
{
	holo_profile(code, 0, bits->stair);
	bits->height = code->height;
	bits->order_most = code->order_most;
}

bool
bits_may_lack(const struct bits_code *bits, size_t place)
{
	struct bits_bounds bounds =
	    bits_bound(0.625f, 0, 0, bits->arc[0][place], bits->arc[1][place]);

	return bounds.low <= bounds.high;
}

/* Does the stair's bit contradict the order of these turns? */
static bool
contradicted(const struct bits_code *bits, const struct bits_pixel *pixel, float turns)
{
	float rest = turns - px_floor(turns);
	float above = bits_above(turns, bits->threshold[pixel->place],
	    bits->stair[(int)(rest * HOLO_PROFILE)], bits->height);

	return (pixel->stair > 0 ? -above : above) > SLACK;
}

float
bits_fit(const struct bits_code *bits, const struct bits_pixel *pixel, float turns, float tolerance)
{
	struct bits_bounds bounds = bits_bound(turns, pixel->red, pixel->green,
	    bits->arc[0][pixel->place], bits->arc[1][pixel->place]);
	float moved = px_min(px_max(turns, bounds.low), bounds.high);

	if (!(bounds.low <= bounds.high) || !(px_abs(moved - turns) <= tolerance) || moved < 0 ||
	    moved >= bits->order_most + 1 || contradicted(bits, pixel, moved))
		return PX_NAN;
	return moved;
}
