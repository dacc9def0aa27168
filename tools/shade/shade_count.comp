#version 450
#extension GL_GOOGLE_include_directive : require
#include "shade_view.glsl"

/* Counts the values that are seen by their next bits, of those whose first bits are a percentile's
 * (shade_rank.comp). Each pixel that is lit once counts, and one sample of the others; or where few
 * pixels are seen all four samples, and the others four times (find_colours() in shade_turned.c). */

shared uint bins[2u * VIEW_BINS];	/* of a workgroup */

void
count(uint sample_at, uint times)
{
	float value = px_from_bits(view_plane(VIEW_VALUES).at[sample_at]);
	uint order = view_order(value), low = 21u - min(11u * VIEW.step, 21u);
	uint bin = VIEW.step < 2u ? order >> low & 2047u : order & 1023u;

	if (view_plane(VIEW_LIGHTS).at[sample_at] == VIEW_EMPTY || !shade_there(value))
		return;
	for (uint k = 0u; k < 2u; k++)
		if (VIEW.step == 0u ||
		    order >> (VIEW.step == 1u ? 21u : 10u) == view_results().at[VIEW_PREFIX + k])
			atomicAdd(bins[k * VIEW_BINS + bin], times);
}

void
count_pixel(uint pixel, bool few)
{
	uint x = pixel % gpu.w, y = pixel / gpu.w, n = VIEW.samples;

	if (view_is_once(x, y))
		count(view_sample(x, y, 0u), few ? 4u : 1u);
	else if (n == 2u && !few)
		count(view_sample(x, y, pixel % 4u), 1u);
	else
		for (uint i = 0u; i < n * n; i++)
			count(view_sample(x, y, i), 1u);
}

void
main()
{
	uint mixed = view_results().at[VIEW_MIXED], id = gl_LocalInvocationID.x;
	bool few = mixed > view_results().at[VIEW_ONCE] / VIEW_MIXED_SHARE &&
	    mixed < VIEW_MIXED_MOST;

	for (uint i = id; i < 2u * VIEW_BINS; i += VIEW_GROUP)
		bins[i] = 0u;
	barrier();
	for (uint i = view_invocation(); i < gpu.w * view_height(); i += view_groups() * VIEW_GROUP)
		count_pixel(i, few);
	barrier();
	for (uint i = id; i < 2u * VIEW_BINS; i += VIEW_GROUP)
		if (bins[i] > 0u)
			atomicAdd(view_bins().at[i], bins[i]);
}
