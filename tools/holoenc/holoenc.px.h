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

PX_FN float
holoenc_clamp(float normalised)
{
	return px_min(px_max(normalised, 0.0f), 1.0f);
}
