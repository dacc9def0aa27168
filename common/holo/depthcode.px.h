/*
 * Depth as the planes of a video (depthcode(5)). Depth is normalised: 0 at the range's first depth,
 * 1 at its second. Levels are those of luma, or of the two colour planes, not rounded.
 */
#ifndef DEPTHCODE_PX_H
#define DEPTHCODE_PX_H

#include "base/px.h"

/* Depths at the end of the range may lie off it by what float arithmetic loses. */
#define DEPTHCODE_SLACK 1e-5f
#define DEPTHCODE_TURN 0.159154943091895336f

/* What the formulas take: all of it floats, in C and in GLSL. */
struct depthcode_code {
	float zero, per_depth, extent;	/* depth at 0, 1 / (extent of the range), the extent */
	float guard, swing;		/* luma at 0; its levels from 0 to 1 */
	float middle, amplitude;	/* of sine and cosine */
	float fringes;			/* sine waves, or folds, from 0 to 1 */
	float most;			/* the largest level: coarse depth of folds is 0 to that */
	float least;			/* luma: less is no depth */
};

PX_FN float
depthcode_normalise(float depth, float zero, float per_depth)
{
	return (depth - zero) * per_depth;
}

PX_FN bool
depthcode_inside(float normalised)
{
	return px_both(!px_isnan(normalised),
	    px_abs(normalised - 0.5f) <= 0.5f + DEPTHCODE_SLACK);
}

PX_FN float
depthcode_clamp(float normalised)
{
	return px_min(px_max(normalised, 0.0f), 1.0f);
}

PX_FN float
depthcode_round(float level)
{
	return px_floor(level + 0.5f);
}

PX_FN float
depthcode_luma(float normalised, float guard, float swing)
{
	return guard + normalised * swing;
}

/* Waves since the last whole one, in [-1/2, 1/2]: sines keep their sign next to a whole wave. */
PX_FN float
depthcode_rest(float normalised, float fringes)
{
	PX_F waves = normalised * fringes;

	return waves - px_floor(waves + 0.5f);
}

PX_FN float
depthcode_sine(float rest, float middle, float amplitude)
{
	return middle + amplitude * px_sin(rest * PX_TWO_PI);
}

PX_FN float
depthcode_cosine(float rest, float middle, float amplitude)
{
	return middle + amplitude * px_cos(rest * PX_TWO_PI);
}

PX_FN float
depthcode_coarse(float luma, float guard, float swing)
{
	return depthcode_clamp(px_divide(luma - guard, swing));
}

/* Waves, in [-1/2, 1/2], of sine and cosine less `middle`, whose px_atan2_tangent() this is. */
PX_FN float
depthcode_rest_of(float tangent, float sine, float cosine)
{
	return px_atan2_angle(tangent, sine, cosine) * DEPTHCODE_TURN;
}

/* The depth with this rest on the wave nearest to the coarse depth. */
PX_FN float
depthcode_fine_at(float coarse, float rest, float fringes)
{
	PX_F wave = px_floor(coarse * fringes - rest + 0.5f);

	return depthcode_clamp(px_divide(wave + rest, fringes));
}

/* The depth whose sine and cosine (less `middle`) these are, on the wave nearest to the coarse
 * depth. */
PX_FN float
depthcode_fine(float coarse, float sine, float cosine, float fringes)
{
	PX_F tangent = px_atan2_tangent(sine, cosine);

	return depthcode_fine_at(coarse, depthcode_rest_of(tangent, sine, cosine), fringes);
}

/* A triangle wave, 0 to 1 and back, that begins at 0: a fold is half of a wave. */
PX_FN float
depthcode_fold(float normalised, float folds)
{
	PX_F at = normalised * folds, wave = px_floor(at * 0.5f);

	return 1.0f - px_abs(at - 2.0f * wave - 1.0f);
}

/* The depth of a triangle wave at this height, on the rising or falling fold nearest to the coarse
 * depth. */
PX_FN float
depthcode_unfold(float coarse, float height, float folds)
{
	PX_F at = coarse * folds;
	PX_F up = px_max(px_floor((at - height) * 0.5f + 0.5f), 0.0f);
	PX_F down = px_max(px_floor((at + height) * 0.5f + 0.5f), 1.0f);
	PX_F rising = 2.0f * px_min(up, px_floor((folds - 1.0f) * 0.5f)) + height;
	PX_F falling = 2.0f * px_min(down, px_floor(folds * 0.5f)) - height;
	bool rises = px_abs(rising - at) <= px_abs(falling - at);

	return depthcode_clamp(px_divide(px_select(rises, rising, falling), folds));
}

#endif
