/*
 * Depth as seen by a Holoimage: normalised between the cube's faces (methods §12; Karpinsky thesis
 * eq 6.12-6.14 solved for the normalised coordinate).
 */
#include "holo/holo.px.h"

/* Depths on a face may lie off it by what float arithmetic loses. */
#define HOLOENC_SLACK 1e-5f

PX_FN float
holoenc_normalise(float depth, float depth_zero, float per_depth)
{
	return (depth - depth_zero) * per_depth;
}

/* Is there a point, and does it lie in the cube? */
PX_FN bool
holoenc_inside(float normalised)
{
	return !px_isnan(normalised) && px_abs(normalised - 0.5f) <= 0.5f + HOLOENC_SLACK;
}

/* Of the larger of R and G less 127.5: how far is the pair of levels at `larger` from the line of
 * this ratio, smaller to larger? Along the smaller one. */
PX_FN float
holoenc_miss(float larger, float ratio)
{
	PX_F smaller = larger * ratio;

	return px_abs(holo_round(smaller + 127.5f) - 127.5f - smaller);
}

/* A level, and how far its pair is off. */
struct holoenc_choice {
	float level, miss;
};

PX_FN PX_STRUCT holoenc_choice
holoenc_nearer(PX_STRUCT holoenc_choice best, float candidate, float ratio)
{
	PX_F miss = holoenc_miss(candidate, ratio);
	bool nearer = miss * px_abs(best.level) < best.miss * px_abs(candidate);

	best.level = px_select(nearer, candidate, best.level);
	best.miss = px_select(nearer, miss, best.miss);
	return best;
}

/*
 * The larger of R and G less 127.5 so that the pair of levels lies nearest in angle to the ideal
 * one, which a decoder reads alone: of the five levels around the ideal, each with the nearest
 * level of the smaller one. That is the best of the 5 x 5 pairs around the ideal.
 */
PX_FN float
holoenc_larger(float ideal, float ratio)
{
	PX_F middle = holo_round(ideal + 127.5f) - 127.5f;
	PX_F below = px_max(middle - 1.0f, -127.5f), above = px_min(middle + 1.0f, 127.5f);
	PX_F lowest = px_max(middle - 2.0f, -127.5f), highest = px_min(middle + 2.0f, 127.5f);
	PX_STRUCT holoenc_choice best;

	best.level = middle;
	best.miss = holoenc_miss(middle, ratio);
	best = holoenc_nearer(best, below, ratio);
	best = holoenc_nearer(best, above, ratio);
	best = holoenc_nearer(best, lowest, ratio);
	best = holoenc_nearer(best, highest, ratio);
	return best.level;
}

struct holoenc_pair {
	float r, g;
};

/* Is R farther from the middle than G? */
PX_FN bool
holoenc_upright(float r, float g)
{
	return px_abs(r - 127.5f) > px_abs(g - 127.5f);
}

/* The smaller of R and G less 127.5 over the larger. */
PX_FN float
holoenc_ratio(float r, float g)
{
	bool upright = holoenc_upright(r, g);

	return px_divide(px_select(upright, g, r) - 127.5f, px_select(upright, r, g) - 127.5f);
}

/* R and G, not yet rounded, of the pair of levels that lies nearest in angle to the ideal pair, of
 * which this is the ratio. */
PX_FN PX_STRUCT holoenc_pair
holoenc_nearest(float r, float g, float ratio)
{
	PX_STRUCT holoenc_pair pair;
	bool upright = holoenc_upright(r, g);
	PX_F best = holoenc_larger(px_select(upright, r, g) - 127.5f, ratio), other = best * ratio;
	PX_F nearest_r = px_select(upright, best, other) + 127.5f;
	PX_F nearest_g = px_select(upright, other, best) + 127.5f;

	pair.r = nearest_r;
	pair.g = nearest_g;
	return pair;
}

PX_FN float
holoenc_clamp(float normalised)
{
	return px_min(px_max(normalised, 0.0f), 1.0f);
}
