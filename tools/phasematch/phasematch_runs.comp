#include "phasematch.glsl"

/* The runs of rising values of a row (phasematch_rows.c): each invocation lists those that begin, and
 * those that end, in its piece of the row. */

layout(buffer_reference, std430) readonly buffer block_at { phasematch_side b; };

shared uint begun[PHASEMATCH_GROUP], ended[PHASEMATCH_GROUP];

/* Does a bracket begin at pixel i? */
bool
is_bracket(block_at at, uint i, uint y)
{
	if (i + 1u >= at.b.lists.w)
		return false;
	return phasematch_is_step(list_at(at.b.lists.values, i, y),
	    list_at(at.b.lists.values, i + 1u, y), at.b.step_most);
}

void
main()
{
	uint id = gl_LocalInvocationID.x, y = gpu_group_y();
	block_at at = block_at(gpu.block);
	uint piece = (at.b.lists.w + PHASEMATCH_GROUP - 1u) / PHASEMATCH_GROUP;
	uint i0 = id * piece, i1 = min(i0 + piece, at.b.lists.w);
	uint first = 0u, last = 0u, all = 0u;
	bool before;

	begun[id] = ended[id] = 0u;
	before = i0 > 0u && i0 < i1 && is_bracket(at, i0 - 1u, y);
	for (uint i = i0; i < i1; i++) {
		bool here = is_bracket(at, i, y);

		begun[id] += here && !before ? 1u : 0u;
		ended[id] += before && !here ? 1u : 0u;
		before = here;
	}
	barrier();
	for (uint k = 0u; k < PHASEMATCH_GROUP; k++) {
		first += k < id ? begun[k] : 0u;
		last += k < id ? ended[k] : 0u;
		all += begun[k];
	}
	before = i0 > 0u && i0 < i1 && is_bracket(at, i0 - 1u, y);
	for (uint i = i0; i < i1; i++) {
		bool here = is_bracket(at, i, y);

		if (here && !before)
			list_put(at.b.lists.run_first, first++, y, float(i));
		if (before && !here)
			list_put(at.b.lists.run_last, last++, y, float(i));
		before = here;
	}
	if (id == 0u)
		list_put(at.b.lists.runs, 0u, y, float(all));
}
