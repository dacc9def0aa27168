/*
 * What the search of dither3 looks at (methods §13): the bits of R and G as a phasor, seen from the
 * phase that the pixel has. Its tangential part turns the decoded phase, its radial part does not.
 */
#ifndef DITHER3_PX_H
#define DITHER3_PX_H

#include "holo.px.h"

/* Tangential and radial part of a change of R and G. */
PX_FN float
dither3_tangential(float red, float green, float cosine, float sine)
{
	return red * cosine - green * sine;
}

PX_FN float
dither3_radial(float red, float green, float cosine, float sine)
{
	return red * sine + green * cosine;
}

/* The difference of two rests, to the nearest whole turn; 0 where the surface jumps. */
PX_FN float
dither3_step(float from, float to)
{
	PX_F step = to - from;

	step = step - px_round(step);
	return px_select(px_abs(step) <= 0.25f, step, 0.0f);
}

#endif
