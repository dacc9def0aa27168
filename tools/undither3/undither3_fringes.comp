#include "fit.glsl"

/* Phasors of the bits, averaged along the row. */
void
main()
{
	uint x = gl_GlobalInvocationID.x, y = gpu_y();
	block_at at = block_at(gpu.block);
	float v[7];

	if (gpu_outside(x, y))
		return;
	for (uint c = 0; c < 2; c++) {
		for (int k = -FIT_SMOOTH; k <= FIT_SMOOTH; k++) {
			uint u = column(x, k);
			PX_F bit = (bit_of(c, u, y) - 0.5f) * gpu_scratch(FIT_INSIDE, u, y);

			v[k + FIT_SMOOTH] = bit;
		}
		gpu_scratch_put(FIT_SPARE + c, x, y, smooth_of(at, v));
	}
}
