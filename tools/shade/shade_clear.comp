#include "shade_view.glsl"

/* Before a turned view: no sample is drawn, nothing is counted. step 1: before another colour of the
 * same view. */
void
main()
{
	uint words = VIEW_ATTRIBUTES * view_samples(), id = view_invocation();

	for (uint i = id; i < words; i += view_groups() * VIEW_GROUP)
		view_plane(0u).at[i] = VIEW_UNSET;
	for (uint i = id; i < 2u * VIEW_LISTS * VIEW_BINS; i += view_groups() * VIEW_GROUP)
		view_bins().at[i] = 0u;
	if (id < VIEW_WORDS && VIEW.step == 0u)
		view_words().at[id] = id == VIEW_ORIGIN || id - VIEW_LEAST < 2u ? VIEW_UNSET : 0u;
}
