#include "fit.glsl"

/* Frequencies; and the rest and order of each pixel by itself. */
void
main()
{
	uint x = gl_GlobalInvocationID.x, y = gpu_y();
	block_at at = block_at(gpu.block);
	float rest, turn[4];
	PX_F per_height = px_divide(1.0f, at.b.height);

	if (gpu_outside(x, y))
		return;
	for (uint i = 0; i < 4; i++)
		turn[i] = smooth_down(at, FIT_SPARE + i, x, y);
	gpu_scratch_put(FIT_RIGHT, x, y, undither3_frequency(turn[1], turn[0]));
	gpu_scratch_put(FIT_DOWN, x, y, undither3_frequency(turn[3], turn[2]));
	rest = holo_rest(gpu_scratch(FIT_SINE, x, y), gpu_scratch(FIT_COSINE, x, y));
	gpu_scratch_put(FIT_REST, x, y, rest);
	gpu_scratch_put(FIT_ORDER, x, y,
	    undither3_order(bit_of(2, x, y), profile(rest), per_height));
}
