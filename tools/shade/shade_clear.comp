#version 450
#extension GL_GOOGLE_include_directive : require
#include "shade_view.glsl"

/* Before a turned view: no sample is drawn, nothing is counted. */
void
main()
{
	uint words = VIEW_ATTRIBUTES * view_samples(), id = view_invocation();

	for (uint i = id; i < words; i += view_groups() * VIEW_GROUP)
		view_plane(0u).at[i] = VIEW_UNSET;
	for (uint i = id; i < 2u * VIEW_BINS; i += view_groups() * VIEW_GROUP)
		view_bins().at[i] = 0u;
	if (id < VIEW_RESULTS)
		view_results().at[id] = 0u;
}
