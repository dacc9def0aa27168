#include "steger.glsl"

/* One workgroup: how many candidates the rows above each row have, and the tile has. Whole numbers
 * up to 2^32 stand in the floats' bits. */
void
main()
{
	uint id = gl_LocalInvocationID.x, n = 0u;
	gpu_words list = gpu_words(steger_list());

	for (uint from = gpu.y0; from < gpu.y1; from += STEGER_GROUP) {
		uint y = from + id, own = 0u, upto, all;

		if (y < gpu.y1)
			own = uint(gpu_scratch(STEGER_COUNT, 0u, y));
		upto = steger_prefix(own, all);
		if (y < gpu.y1)
			gpu_scratch_put(STEGER_COUNT, 1u, y, uintBitsToFloat(n + upto - own));
		n += all;
	}
	if (id == 0u) {
		list.at[0] = n;
		list.at[1] = gpu.y1 - gpu.y0;
	}
}
