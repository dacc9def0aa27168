#include "shade_view.glsl"

/* One workgroup finds the bins that the two ranks of each list are in, and empties all bins. */

#define BINS (VIEW_BINS / VIEW_GROUP)	/* of an invocation */
#define RANKS (2u * VIEW_LISTS)

shared uint part[RANKS * VIEW_GROUP];

/* Of n values, k: the lower or the upper rank. */
uint
rank_of(uint list, uint k, uint n)
{
	uint least = list == VIEW_TOLERANCE ? n / 50u : n / 100u;

	if (n == 0u)
		return 0u;
	if (list == VIEW_STEPS)		/* jump_end() of common/mesh/mesh.c */
		return VIEW.scaled != 0u ? n / 2u : n - 1u - n / 20u;
	return k == 0u ? least : n - 1u - least;
}

void
find_bin(uint of)
{
	uint rank = view_words().at[VIEW_REST + of], i = 0u, bin, n = 0u, found;

	if (VIEW.step == 0u) {
		for (uint j = 0u; j < VIEW_GROUP; j++)
			n += part[of * VIEW_GROUP + j];
		rank = rank_of(VIEW.list + of / 2u, of % 2u, n);
		if (of % 2u == 0u)
			view_words().at[VIEW_COUNTED + of / 2u] = n;
	}
	while (i < VIEW_GROUP - 1u && rank >= part[of * VIEW_GROUP + i])
		rank -= part[of * VIEW_GROUP + i++];
	bin = i * BINS;
	while (bin < i * BINS + BINS - 1u && rank >= view_bins().at[of * VIEW_BINS + bin])
		rank -= view_bins().at[of * VIEW_BINS + bin++];
	found = VIEW.step == 0u ? bin :
	    view_words().at[VIEW_PREFIX + of] << (VIEW.step == 1u ? 11 : 10) | bin;
	view_words().at[VIEW_REST + of] = rank;
	view_words().at[VIEW_PREFIX + of] = found;
}

void
main()
{
	uint id = gl_LocalInvocationID.x, ranks = 2u * VIEW.lists;

	for (uint k = 0u; k < ranks; k++) {
		part[k * VIEW_GROUP + id] = 0u;
		for (uint i = 0u; i < BINS; i++)
			part[k * VIEW_GROUP + id] += view_bins().at[k * VIEW_BINS + id * BINS + i];
	}
	barrier();
	if (id < ranks)
		find_bin(id);
	memoryBarrierBuffer();
	barrier();
	for (uint i = id; i < ranks * VIEW_BINS; i += VIEW_GROUP)
		view_bins().at[i] = 0u;
}
