/* What the shaders of steger share. */
#include "gpu/gpu.glsl"
#include "steger.block.h"

layout(buffer_reference, std430) readonly buffer block_at { steger_block b; };

/* A row or column beyond the image is its last one. */
uint
steger_clamped(int i, uint n)
{
	return uint(clamp(i, 0, int(n) - 1));
}

/* Words of the tile's rows of the output. */
uint64_t
steger_list()
{
	return gpu_row(gpu.outputs, gpu.y0);
}

/* How many candidates they hold. */
uint
steger_room()
{
	uint words = (gpu.y1 - gpu.y0) * (gpu.planes.at[gpu.outputs].stride / 4u);

	return (words - STEGER_HEADER) / STEGER_RECORD;
}

/* Sums of n of all invocations of the workgroup up to this one, and of all. */
shared uint steger_sum[STEGER_GROUP];

uint
steger_prefix(uint n, out uint all)
{
	uint id = gl_LocalInvocationID.x;

	barrier();
	steger_sum[id] = n;
	for (uint step = 1u; step < STEGER_GROUP; step += step) {
		uint before;

		barrier();
		before = id >= step ? steger_sum[id - step] : 0u;
		barrier();
		steger_sum[id] += before;
	}
	barrier();
	all = steger_sum[STEGER_GROUP - 1u];
	return steger_sum[id];
}
