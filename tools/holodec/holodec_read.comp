#include "holodec.glsl"

/* The reading of each pixel by itself, for the passes that look at neighbours. */
void
main()
{
	uint x = gpu_x4(), y = gpu_y();
	block_at at = block_at(gpu.block);
	reading r;

	if (gpu_outside(x, y))
		return;
	r = read4(at, x, y);
	gpu_scratch4_put(HOLODEC_REST, x, y, r.rest);
	gpu_scratch4_put(HOLODEC_ORDER, x, y, r.order);
}
