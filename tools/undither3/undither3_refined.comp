#include "fit.glsl"

/* take_refined(): what the steps have computed, where it is to be trusted. */
void
main()
{
	uint x = gl_GlobalInvocationID.x, y = gpu_y();
	float last, turns;

	if (gpu_outside(x, y) || gpu_scratch(FIT_INSIDE, x, y) == 0.0f)
		return;
	last = gpu_scratch(FIT_LAST, x, y);
	turns = gpu_scratch(FIT_TURNS, x, y);
	if (undither3_moved(last, turns))
		gpu_scratch_put(FIT_TRUSTED, x, y, 0.0f);
	else
		gpu_scratch_put(FIT_TURNS, x, y, px_max(last, 0.0f));
}
