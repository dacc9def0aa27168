#include "phasematch.glsl"

/*
 * The spans of values of a row (phasematch_rows.c): one begins where a run begins or ends, and belongs to
 * the longest run that holds it. Each invocation makes some: it counts how many begin before.
 */

layout(buffer_reference, std430) readonly buffer block_at { phasematch_side b; };

/* Where the values of run k begin (k < runs), or those of run k - runs end. */
float
border(block_at at, uint k, uint runs, uint y)
{
	uint list = k < runs ? at.b.lists.run_first : at.b.lists.run_last;
	uint pixel = uint(list_at(list, k < runs ? k : k - runs, y));

	return list_at(at.b.lists.values, pixel, y);
}

uint
rank(block_at at, uint k, float own, uint runs, uint y)
{
	uint n = 0u;

	for (uint i = 0u; i < 2u * runs; i++) {
		float other = border(at, i, runs, y);

		n += other < own || (other == own && i < k) ? 1u : 0u;
	}
	return n;
}

/* The longest run that holds the value, but not at its end; of equal ones the left one. */
uvec2
owner(block_at at, float value, uint runs, uint y)
{
	uvec2 best = uvec2(0u);

	for (uint i = 0u; i < runs; i++) {
		uint first = uint(list_at(at.b.lists.run_first, i, y));
		uint last = uint(list_at(at.b.lists.run_last, i, y));
		bool holds = list_at(at.b.lists.values, first, y) <= value &&
		    list_at(at.b.lists.values, last, y) > value;

		if (holds && last - first > best.y - best.x)
			best = uvec2(first, last);
	}
	return best;
}

void
main()
{
	uint y = gpu_group_y();
	block_at at = block_at(gpu.block);
	uint runs = uint(list_at(at.b.lists.runs, 0u, y));

	for (uint k = gl_LocalInvocationID.x; k < 2u * runs; k += PHASEMATCH_GROUP) {
		float from = border(at, k, runs, y);
		uint place = rank(at, k, from, runs, y);
		uvec2 run = owner(at, from, runs, y);

		list_put(at.b.lists.from, place, y, from);
		list_put(at.b.lists.first, place, y, float(run.x));
		list_put(at.b.lists.last, place, y, float(run.y));
	}
}
