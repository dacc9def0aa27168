/*
 * What the bits of an ordered dither say of a pixel's turns (methods §13): each bit leaves them on
 * one side of a threshold that is known.
 */
#ifndef HOLO_BITS_PX_H
#define HOLO_BITS_PX_H

#include "holo/holo.px.h"

#define BITS_STEEPEST 0.35f	/* turns from pixel to pixel; more is a jump */

struct bits_bounds {
	float low, high;
};

/* The turns of a surface one pixel beyond `near`, `far` being one behind that: a straight line, or
 * level where the two lie on different surfaces or far is NaN. */
PX_FN float
bits_carry(float near, float far)
{
	PX_F onward = near - far;

	return px_select(px_abs(onward) < BITS_STEEPEST, near + onward, near);
}

/* The middle of an arc of the circle, given by its rest, in the turn that is nearest to `turns`. */
PX_FN float
bits_middle(float turns, float rest)
{
	return rest + px_round(turns - rest);
}

/* Turns near `from` between which the bits of R and G are as they are; sine and cosine: where these
 * pass the pixel's thresholds. */
PX_FN PX_STRUCT bits_bounds
bits_bound(float from, float red, float green, float sine, float cosine)
{
	PX_STRUCT bits_bounds bounds;
	PX_F r = bits_middle(from, 0.75f - 0.5f * red);
	PX_F g = bits_middle(from, 0.5f - 0.5f * green);
	PX_F of_r = px_select(red > 0.0f, 0.25f - sine, 0.25f + sine);
	PX_F of_g = px_select(green > 0.0f, cosine, 0.5f - cosine);
	PX_F low = px_max(r - of_r, g - of_g), high = px_min(r + of_r, g + of_g);

	bounds.low = low;
	bounds.high = high;
	return bounds;
}

/* By how much the order of these turns is above what the stair's bit asks; `stair` is what order 0
 * has at their rest. */
PX_FN float
bits_above(float turns, float threshold, float stair, float height)
{
	return px_floor(turns) - px_divide(threshold - stair, height);
}

#endif
