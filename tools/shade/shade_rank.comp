#version 450
#extension GL_GOOGLE_include_directive : require
#include "image/colormap.px.h"
#include "shade_view.glsl"

/* One workgroup finds the bins that the two percentiles are in, and empties all bins; the last time
 * also the values of the first and the last colour (colormap_range()). */

#define BINS (VIEW_BINS / VIEW_GROUP)	/* of an invocation */

shared uint part[2][VIEW_GROUP], found[2], points;

void
find_bin(uint k)
{
	uint rank = view_results().at[VIEW_REST + k], i = 0u, bin;
	uint n = 0u;

	for (uint j = 0u; j < VIEW_GROUP; j++)
		n += part[k][j];
	if (VIEW.step == 0u)
		rank = k == 0u || n == 0u ? n / 100u : n - 1u - n / 100u;
	while (i < VIEW_GROUP - 1u && rank >= part[k][i])
		rank -= part[k][i++];
	bin = i * BINS;
	while (bin < i * BINS + BINS - 1u && rank >= view_bins().at[k * VIEW_BINS + bin])
		rank -= view_bins().at[k * VIEW_BINS + bin++];
	found[k] = VIEW.step == 0u ? bin :
	    view_results().at[VIEW_PREFIX + k] << (VIEW.step == 1u ? 11 : 10) | bin;
	view_results().at[VIEW_REST + k] = rank;
	view_results().at[VIEW_PREFIX + k] = found[k];
	points = n;
}

void
main()
{
	uint id = gl_LocalInvocationID.x;
	float low = VIEW.low, high = VIEW.high;

	for (uint k = 0u; k < 2u; k++) {
		part[k][id] = 0u;
		for (uint i = 0u; i < BINS; i++)
			part[k][id] += view_bins().at[k * VIEW_BINS + id * BINS + i];
	}
	barrier();
	if (id < 2u)
		find_bin(id);
	memoryBarrierBuffer();
	barrier();
	for (uint i = id; i < 2u * VIEW_BINS; i += VIEW_GROUP)
		view_bins().at[i] = 0u;
	if (id > 0u || VIEW.step < 2u)
		return;
	low = points > 0u ? view_value(found[0]) : 0.0f;
	high = colormap_last_value(low, points > 0u ? view_value(found[1]) : 1.0f,
	    VIEW.diverging != 0u);
	view_results().at[VIEW_HIGH] = px_bits(high);
	view_results().at[VIEW_LOW] =
	    px_bits(colormap_first_value(low, high, VIEW.diverging != 0u));
}
