/*
 * A Holoimage read back: which stair a pixel is on where its own reading cannot be trusted, and
 * which pixels are none (methods §12).
 */
#include "holo/holo.px.h"
#include "image/median.px.h"

/* Noise may carry a point this many turns beyond the cube's faces. */
#define HOLODEC_SLACK 0.25f

/* What can be no level becomes one so dark that the pixel is background: formulas need finite ones.
 */
PX_FN float
holodec_level(float v)
{
	return px_select((px_bits(v) & 0x7fffffffu) <= 0x49742400u, v, -1e6f);	/* 1e6 */
}

/* What JPEG codes at full resolution: luma of R, G and B (JFIF). */
PX_FN float
holodec_luma(float red, float green, float blue)
{
	return 0.299f * red + 0.587f * green + 0.114f * blue;
}

/* Is a pixel of these levels none? */
PX_FN bool
holodec_black(float sine, float cosine)
{
	return !(sine + cosine >= HOLO_BLACK);
}

/* The same, or is its stair no level? */
PX_FN bool
holodec_missing(float sine, float cosine, float stair)
{
	return !(px_min(stair + 1000.0f, sine + cosine) >= HOLO_BLACK);
}

/* The order of a stair level, not rounded; `stair` is what order 0 has at this rest. */
PX_FN float
holodec_order(float level, float stair, float per_height)
{
	return (level - stair) * per_height;
}

/* Does the depth, normalised, lie in the cube? */
PX_FN bool
holodec_inside(float normalised, float slack)
{
	return px_abs(normalised - 0.5f) <= 0.5f + slack;
}

/* Depth from turns, zero and range being the far face's and how much more the near one's is; NaN
 * where that lies farther than slack (normalised) outside of the cube, or without turns. */
PX_FN float
holodec_depth(float turns, float column, float per_column, float per_turn, float zero, float range,
    float slack)
{
	PX_F z = holo_depth(turns, column, per_column, per_turn);
	bool there = px_both(!px_isnan(turns), holodec_inside(z, slack));

	return px_select(there, zero + z * range, PX_NAN);
}

/* Distance of (R, G) from the circle that all fringes lie on, in levels. */
PX_FN float
holodec_off_circle(float sine, float cosine)
{
	return px_abs(px_sqrt(sine * sine + cosine * cosine) - 127.5f);
}

/*
 * The order that a neighbour's reading stands for at this pixel: a whole turn is added where the
 * rest of the turns has wrapped between the two.
 */
PX_FN float
holodec_seen_from(float rest, float neighbour_order, float neighbour_rest)
{
	return neighbour_order + px_round(neighbour_rest - rest);
}

/* Median of seven, of those that are not NaN; NaN if all are. */
PX_FN float
holodec_median_of_7(float a, float b, float c, float d, float e, float f, float g)
{
	PX_F fill = MEDIAN_INFINITY;

	MEDIAN_FILL(a, fill);
	MEDIAN_FILL(b, fill);
	MEDIAN_FILL(c, fill);
	MEDIAN_FILL(d, fill);
	MEDIAN_FILL(e, fill);
	MEDIAN_FILL(f, fill);
	MEDIAN_FILL(g, fill);
	MEDIAN_SORT(a, f);
	MEDIAN_SORT(a, d);
	MEDIAN_SORT(b, g);
	MEDIAN_SORT(c, e);
	MEDIAN_SORT(a, b);
	MEDIAN_SORT(d, f);
	MEDIAN_SORT(c, g);
	MEDIAN_SORT(c, d);
	MEDIAN_SORT(d, g);
	MEDIAN_SORT(e, f);
	MEDIAN_SORT(b, e);
	MEDIAN_SORT(b, d);
	MEDIAN_SORT(d, e);
	return px_select(px_abs(d) > 1e30f, PX_NAN, d);
}
