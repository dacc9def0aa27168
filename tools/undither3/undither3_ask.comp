#include "fit.glsl"

/* ask_row() and slope_row(): what a pixel's own bits ask of it, and slopes. */
void
main()
{
	uint x = gl_GlobalInvocationID.x, y = gpu_y();
	block_at at = block_at(gpu.block);
	float turns;

	if (gpu_outside(x, y))
		return;
	if (gpu_scratch(FIT_INSIDE, x, y) == 0.0f) {
		gpu_scratch_put(FIT_ABOVE, x, y, 0.0f);
		gpu_scratch_put(FIT_BROKEN, x, y, 0.0f);
		return;
	}
	turns = gpu_scratch(FIT_SURFACE, x, y);

	PX_F rest = turns - px_floor(turns);

	gpu_scratch_put(FIT_ABOVE, x, y, bits_above(turns, in_tile(FIT_THRESHOLD, x, y),
	    profile(rest), at.b.height));
	gpu_scratch_put(FIT_BROKEN, x, y, undither3_broken(turns, bound(turns, x, y)));
	gpu_scratch_put(FIT_RIGHT, x, y, undither3_slope(near(FIT_SURFACE, x, y, -1, 0), turns,
	    near(FIT_SURFACE, x, y, 1, 0)));
	gpu_scratch_put(FIT_DOWN, x, y, undither3_slope(near(FIT_SURFACE, x, y, 0, -1), turns,
	    near(FIT_SURFACE, x, y, 0, 1)));
}
