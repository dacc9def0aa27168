/* What the shaders of gauss have in common. */
#include "gpu/gpu.glsl"
#include "gauss.px.h"
#include "gauss.block.h"

layout(buffer_reference, std430) readonly buffer block_at { gauss_block b; };

/* How far a window reaches on both sides of i of 0 .. n - 1. */
uint
reach(uint i, uint n, uint radius)
{
	return i < n ? min(min(i, n - 1 - i), radius) : 0;
}

bool
is_missing(float part0)
{
	return px_bits(part0) == GAUSS_MISSING;
}
