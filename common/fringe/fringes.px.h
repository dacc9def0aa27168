/*
 * Patterns to project (methods §1), as shares of full scale. Phases come in turns, reduced to
 * [0, 1), so that a float holds them to 2e-7 rad in every column.
 */
#include "base/px.h"

/* cos(2 pi turn), exactly 0 and +-1 at the quarters. */
PX_FN float
fringes_cos(float turn)
{
	PX_F quarter = px_floor(4.0f * turn + 0.5f);
	PX_F rest = (turn - 0.25f * quarter) * PX_TWO_PI;
	PX_F c = px_cos(rest), s = px_sin(rest);
	bool even = quarter == 0.0f || quarter == 2.0f || quarter == 4.0f;
	PX_F v = px_select(even, c, s);

	return px_select(quarter == 1.0f || quarter == 2.0f, -v, v);
}

/* I_n(u) = a + b cos(2 pi u/T + d_n) [Karpinsky 2014 eq 1-3; Liu 2015 eq 2]. */
PX_FN float
fringes_sine(float turn, float mean, float amplitude)
{
	return mean + amplitude * fringes_cos(turn);
}

/* a + b sgn cos(2 pi u/T + d_n) [thesis 3.7]; the bright half turn holds its lower edge only, so
 * that an even period has as many bright columns as dark ones. */
PX_FN float
fringes_square(float turn, float mean, float amplitude)
{
	return px_select(turn < 0.25f || turn >= 0.75f, mean + amplitude, mean - amplitude);
}

/* A stripe of whole columns about its middle, 1 on 0. */
PX_FN float
fringegen_marker(float u, float middle, float width)
{
	return px_select(px_abs(u - middle) < 0.5f * width, 1.0f, 0.0f);
}

/* One plane of the reflected binary code of v, 0 or 1. */
PX_FN float
fringes_gray(uint v, uint bit)
{
	return px_float(((v ^ (v >> 1)) >> bit) & 1u);
}
