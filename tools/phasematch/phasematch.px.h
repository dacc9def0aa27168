/*
 * Stereo phase matching per pixel (methods §10; Liu 2015 eq 6): the position in a bracket, the
 * disparity, its standard deviation, and the point that it stands for. "Value" is the phase of one
 * map, in radians or in projector pixels.
 */
#ifndef PHASEMATCH_PX_H
#define PHASEMATCH_PX_H

#include "base/px.h"
#include "unwrap/phase_mean.px.h"

/* Is the step from one pixel to the next one that brackets values? Never where one is NaN. */
PX_FN bool
phasematch_is_step(float a, float b, float most)
{
	PX_F step = b - a;

	return px_both(!px_isnan(step), px_both(step > 0.0f, step <= most));
}

/* Where in the bracket from a to b the value lies, 0 to 1. */
PX_FN float
phasematch_within(float value, float a, float b)
{
	return px_divide(value - a, b - a);
}

/* x_left - x_right for a match `within` the bracket that begins so many columns left of x_left. */
PX_FN float
phasematch_disparity(float columns, float within)
{
	return columns - within;
}

/* Does the right pixel's own match, at column `back` of the left row, lie near column x? */
PX_FN bool
phasematch_agrees(float back, float x, float most)
{
	bool near = px_abs(back - x) <= most;

	return px_select(px_isnan(back), true, near);
}

/* Is a neighbour's disparity like this one? */
PX_FN uint
phasematch_supports(float neighbour, float own, float range)
{
	bool near = px_abs(neighbour - own) <= range;

	return px_select(px_both(!px_isnan(neighbour), near), 1u, 0u);
}

/* How far a disparity may change from pixel to pixel on a surface that is seen under 80 degrees:
 * d tan(80 degrees)/f, with d less the difference of the centres; steep: that tangent over f, 0:
 * not known. */
#define PHASEMATCH_STEEPEST 5.67f

PX_FN float
phasematch_slope(float disparity, float centres, float steep)
{
	PX_F d = disparity - centres;

	return px_abs(d) * steep;
}

/*
 * How many of two opposite neighbours are like this one: each for itself, or both, where they and
 * it lie on one plane, however it is tilted. At an edge a pixel that has something of both sides
 * may lie between its neighbours, seldom midway.
 */
PX_FN uint
phasematch_pair_supports(float before, float after, float own, float range, float slope)
{
	PX_F middle = (before + after) * 0.5f, tilt = (after - before) * 0.5f;
	bool straight = px_both(!px_isnan(middle), px_abs(middle - own) <= 0.25f * range);
	bool plane = px_both(straight, px_abs(tilt) <= slope);
	uint each = phasematch_supports(before, own, range) +
	    phasematch_supports(after, own, range);

	return px_select(plane, 2u, each);
}

/* ---- one map from K phases (methods §5) ---- */

/* A phase in another unit; NaN where it is none, or infinite. */
PX_FN float
phasematch_single(float phase, float factor)
{
	PX_F value = phase * factor;

	/* by the bits of |phase| < 1e9, which keep the order */
	return px_select((px_bits(phase) & 0x7fffffffu) < 0x4e6e6b28u, value, PX_NAN);
}

/* The variance of the phases about their mean, in the base's radians squared, from the sums of w
 * more^2 and w more, and of the weights w. */
PX_FN float
phasematch_spread(float squares, float sum, float weight)
{
	PX_F mean = px_divide(sum, weight);
	PX_F square = px_divide(squares, weight);

	return px_max(square - mean * mean, 0.0f);
}

/* ---- standard deviations (methods §10) ---- */

/* That of a map, from the sum of (w scale sigma)^2 over its phases. */
PX_FN float
phasematch_map_sigma(float variance, float weight, float unit)
{
	PX_F deviation = px_divide(px_sqrt(variance), px_select(weight > 0.0f, weight, PX_NAN));
	PX_F scaled = deviation * unit;

	return px_select(px_isnan(scaled), PX_NAN, scaled);
}

/* The step of a bracket for its errors: noise makes its own step smaller or larger, that over five
 * pixels (from two before to three after it) less; unless that is another surface's. */
PX_FN float
phasematch_mean_step(float step, float before, float after)
{
	PX_F mean = (after - before) * 0.2f;

	return px_select(px_both(mean > 0.5f * step, mean < 2.0f * step), mean, step);
}

/* Standard deviation of a disparity: of the left value, and of the right one between the bracket's
 * ends, over the step; correlation: of the errors of the ends. */
PX_FN float
phasematch_sigma(float left, float a, float b, float within, float step, float correlation)
{
	PX_F rest = 1.0f - within, both = 2.0f * (within * rest) * (correlation * (a * b));
	PX_F ends = rest * rest * (a * a) + within * within * (b * b) + both;
	PX_F variance = left * left + ends;
	PX_F sigma = px_divide(px_sqrt(variance), px_abs(step));

	return px_select(px_isnan(sigma), PX_NAN, sigma);
}

/* ---- the point ---- */

/* z = f b/(d - (cx_left - cx_right)); NaN where that is not before the cameras. */
PX_FN float
phasematch_depth(float disparity, float centres, float focal_baseline)
{
	PX_F d = disparity - centres;
	PX_F z = px_divide(focal_baseline, px_select(d == 0.0f, PX_NAN, d));

	return px_select(px_both(!px_isnan(z), z > 0.0f), z, PX_NAN);
}

/* Depths outside the limits are none. */
PX_FN float
phasematch_limit(float z, float least, float most)
{
	bool within = px_both(z >= least, z <= most);

	return px_select(px_both(!px_isnan(z), within), z, PX_NAN);
}

/* One coordinate of it, on the ray of a pixel. */
PX_FN float
phasematch_aside(float z, float pixel, float centre, float focal)
{
	return px_divide(z * (pixel - centre), focal);
}

/* A coordinate in another camera's frame; row: of the rotation. */
PX_FN float
phasematch_turn(float x, float y, float z, float row0, float row1, float row2)
{
	PX_F sum = row0 * x + row1 * y;

	return sum + row2 * z;
}

/* dz/dd sigma_d = z^2/(f b) sigma_d. */
PX_FN float
phasematch_depth_sigma(float sigma, float z, float focal_baseline)
{
	PX_F square = z * z;
	PX_F deviation = px_divide(square * sigma, px_abs(focal_baseline));

	return px_select(px_isnan(deviation), PX_NAN, deviation);
}

#endif
