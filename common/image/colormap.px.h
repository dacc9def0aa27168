/* Colours between the anchors of a colour map (colormap.h), which are numbered 0 .. last. */
#ifndef COLORMAP_PX_H
#define COLORMAP_PX_H

#include "base/px.h"

/* Where t, clamped to [0, 1], lies among the anchors; NaN at the first. */
PX_FN float
colormap_place(float t, float last)
{
	PX_F clamped = px_min(px_max(t, 0.0f), 1.0f);

	return px_select(px_isnan(t), 0.0f, clamped) * last;
}

/* The anchor below a place, of those that have one behind them. */
PX_FN float
colormap_anchor(float place, float last)
{
	return px_min(px_floor(place), last - 1.0f);
}

PX_FN float
colormap_between(float before, float behind, float share)
{
	return before + share * (behind - before);
}

/* The value of the last colour, and that of the first, where the values' percentiles are low and
 * high (colormap_range()). diverging: of COLORMAP_DEVIATION. */
PX_FN float
colormap_last_value(float low, float high, bool diverging)
{
	PX_F greater = px_max(px_abs(low), px_abs(high));
	PX_F first = px_select(diverging, -greater, low);
	PX_F last = px_select(diverging, greater, high);
	/* a 1 would be lost in large numbers */
	PX_F least = first + px_max(1.0f, px_abs(first) * 1e-3f);

	return px_select(last > first, last, least);
}

PX_FN float
colormap_first_value(float low, float last, bool diverging)
{
	return px_select(diverging, -last, low);
}

#endif
