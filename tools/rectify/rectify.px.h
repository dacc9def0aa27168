/*
 * A sample between samples (methods §10): linear between the 4 nearest, cubic between the 16
 * nearest (Keys 1981, a = -1/2). A place in the input is a pair of 16.16 fixed-point numbers, a
 * column and a row; RECTIFY_NOWHERE: none. The 2^-17 px that this rounds by are far below what a
 * camera measures, and a place on a sample is one exactly.
 *
 * A sample of weight 0 is not looked at: in its place the caller passes the nearest one, by
 * rectify_step().
 */
#ifndef RECTIFY_PX_H
#define RECTIFY_PX_H

#include "base/px.h"

#define RECTIFY_NOWHERE 0xffffffffu

/* The whole part, the rest in [0, 1), and what leads to the next sample that has a weight. */
PX_FN uint
rectify_whole(uint place)
{
	return place >> 16;
}

PX_FN float
rectify_rest(uint place)
{
	return px_float(place & 0xffffu) * 1.52587890625e-5f;
}

PX_FN uint
rectify_step(uint place)
{
	return px_select((place & 0xffffu) != 0u, 1u, 0u);
}

/* The nearest sample's. */
PX_FN uint
rectify_nearest(uint place)
{
	return (place + 0x8000u) >> 16;
}

/* Values of 2x2 samples; of 4x4 ones the sum, least and greatest are gathered row by row. */
PX_FN float
rectify_linear(float a, float b, float c, float d, float fx, float fy)
{
	PX_F above = a + fx * (b - a);
	PX_F below = c + fx * (d - c);

	return above + fy * (below - above);
}

/* The standard deviation of that, of samples whose errors are independent. */
PX_FN float
rectify_sigma(float a, float b, float c, float d, float fx, float fy)
{
	PX_F gx = 1.0f - fx, gy = 1.0f - fy;
	PX_F above = gx * gx * (a * a) + fx * fx * (b * b);
	PX_F below = gx * gx * (c * c) + fx * fx * (d * d);

	return px_sqrt(gy * gy * above + fy * fy * below);
}

/* Weights of the samples at -1, 0, 1 and 2 for a place at f. */
PX_FN float
rectify_weight_before(float f)
{
	return ((-0.5f * f + 1.0f) * f - 0.5f) * f;
}

PX_FN float
rectify_weight_at(float f)
{
	return (1.5f * f - 2.5f) * f * f + 1.0f;
}

PX_FN float
rectify_weight_next(float f)
{
	return ((-1.5f * f + 2.0f) * f + 0.5f) * f;
}

PX_FN float
rectify_weight_beyond(float f)
{
	return (0.5f * f - 0.5f) * f * f;
}

/*
 * The value, given the least and greatest of its samples: NaN where they differ by more than
 * max_step; where one is saturated, as large as it.
 */
PX_FN float
rectify_limit(float v, float least, float greatest, float max_step, float saturated)
{
	PX_F inside = px_select(greatest >= saturated, greatest, v);

	return px_select(greatest - least > max_step, PX_NAN, inside);
}

/* A wrapped phase from the mean of its samples' directions; NaN where they cancel. */
PX_FN float
rectify_direction(float s, float c)
{
	PX_F angle = px_atan2(s, c), square = s * s + c * c;

	return px_select(square < 1e-6f, PX_NAN, angle);
}

/* The difference of two wrapped phases, in [-pi, pi). */
PX_FN float
rectify_turn(float a, float b)
{
	PX_F turns = (a - b) * 0.159154943091895336f;

	return (turns - px_floor(turns + 0.5f)) * PX_TWO_PI;
}

#endif
