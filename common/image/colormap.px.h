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

#endif
