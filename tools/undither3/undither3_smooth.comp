#include "fit.glsl"

/* Averages along rows, averaged down the column. */
void
main()
{
	uint x = gl_GlobalInvocationID.x, y = gpu_y();
	block_at at = block_at(gpu.block);

	if (gpu_outside(x, y))
		return;
	gpu_scratch_put(FIT_SINE, x, y, smooth_down(at, FIT_SPARE, x, y));
	gpu_scratch_put(FIT_COSINE, x, y, smooth_down(at, FIT_SPARE + 1u, x, y));
}
