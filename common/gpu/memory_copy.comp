#include "gpu/gpu.glsl"

/* The first half of the block to the second, 16 bytes an invocation: rows of gpu.w, gpu.h in all. */
void
main()
{
	uint x = gl_GlobalInvocationID.x, y = gl_GlobalInvocationID.y;
	uint64_t row = gpu.block + 16u * uint64_t(gpu.w) * y;

	if (x < gpu.w && y < gpu.h)
		gpu_fours(row + 16u * uint64_t(gpu.w) * gpu.h).at[x] = gpu_fours(row).at[x];
}
