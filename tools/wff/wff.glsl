/* What the shaders of wff share: where a window is. */
#include "gpu/gpu.glsl"
#include "wff.px.h"
#include "wff.block.h"

layout(buffer_reference, std430) readonly buffer block_at { wff_block b; };

float
table(uint i)
{
	return gpu_floats(gpu_constant(0)).at[i];
}

/* The memory of window k of row j of those at hand. */
gpu_floats
window_at(block_at at, uint j, uint k)
{
	uint64_t window = uint64_t(j) * at.b.across + k;

	return gpu_floats(gpu_row(gpu.scratches, 0) + 4u * WFF_WINDOW(at.b.n) * window);
}

/* The pixel in the middle of window number k, along a side of n pixels. */
uint
centre_of(block_at at, uint k, uint n)
{
	return min(k * at.b.hop + (at.b.hop - 1u) / 2u, n - 1u);
}
