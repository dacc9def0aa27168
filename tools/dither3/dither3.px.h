/* Levels on their way to one bit, and what the search for bits looks at (methods §13). */
#ifndef DITHER3_PX_H
#define DITHER3_PX_H

#include "holo/holo.px.h"

/* A level as a share of full scale; what is no number is black. */
PX_FN float
dither3_share(float level)
{
	PX_F share = px_min(px_max(level * (1.0f / 255.0f), 0.0f), 1.0f);

	return px_select(px_isnan(level), 0.0f, share);
}

/* Is a pixel of these shares background? */
PX_FN bool
dither3_black(float sine, float cosine)
{
	return !(sine + cosine >= HOLO_BLACK / 255.0f);
}

/* R or G, `other` being the other one, moved to the circle that all fringes lie on. */
PX_FN float
dither3_to_circle(float share, float other)
{
	PX_F a = share - 0.5f, b = other - 0.5f;

	return 0.5f + px_divide(0.5f * a, px_max(px_sqrt(a * a + b * b), 0.125f));
}

/* A share as a level again, rounded. */
PX_FN float
dither3_level(float share)
{
	return share * 255.0f + 0.5f;
}

/*
 * The bits of R and G are a phasor, seen from the phase that the pixel has: its tangential part
 * turns the decoded phase, its radial part does not. Both, of a change of R and G.
 */
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
