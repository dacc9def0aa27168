#include "steger.glsl"

/* A workgroup per row brings its candidates to their places in the tile's list. */
void
main()
{
	uint y = gpu_group_y(), n = uint(gpu_scratch(STEGER_COUNT, 0u, y));
	uint first = floatBitsToUint(gpu_scratch(STEGER_COUNT, 1u, y)), room = steger_room();
	gpu_words list = gpu_words(steger_list());

	for (uint k = gl_LocalInvocationID.x; k < n && first + k < room; k += STEGER_GROUP) {
		uint at = STEGER_HEADER + (first + k) * STEGER_RECORD;

		list.at[at] = uint(gpu_scratch(STEGER_AT, k, y));
		list.at[at + 1u] = y;
		for (uint i = 0u; i < 5u; i++)
			list.at[at + 2u + i] = floatBitsToUint(gpu_scratch(STEGER_DU + i, k, y));
	}
}
