#include "gpu/gpu.glsl"
#include "undither3.px.h"
#include "undither3.block.h"

layout(buffer_reference, std430) readonly buffer block_at { undither3_block b; };

/* A pixel's bit, as 0 or 1; x may lie outside of the image, where there is nothing. */
float
bit_of(block_at at, uint plane, uint x, uint y)
{
	uint column = min(x, gpu.w - 1) + at.b.column[plane];
	uint value = uint(gpu_sample(at.b.from[plane], column, y, GPU_UCHAR));

	return x < gpu.w && (value & at.b.bit[plane]) != 0 ? 1.0f : 0.0f;
}

/* Sums along the rows of each plane. */
void
main()
{
	uint x = gpu_x4(), y = gpu_y();
	block_at at = block_at(gpu.block);
	float v[4 + 2 * UNDITHER3_REACH];
	vec4 sum;

	if (gpu_outside(x, y))
		return;
	for (uint plane = 0; plane < at.b.planes; plane++) {
		for (uint k = 0; k < 4 + 2 * UNDITHER3_REACH; k++)
			v[k] = bit_of(at, plane, x + k - UNDITHER3_REACH, y);
		for (uint i = 0; i < 4; i++)
			sum[i] = undither3_smooth(v[i + 3], v[i], v[i + 1], v[i + 2], v[i + 4],
			    v[i + 5], v[i + 6], at.b.kernel[0], at.b.kernel[1],
			    at.b.kernel[2], at.b.kernel[3]);
		gpu_scratch4_put(plane, x, y, sum);
	}
}
