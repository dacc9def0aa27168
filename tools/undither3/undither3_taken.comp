#include "fit.glsl"

/* The fit: turns, and which of them are trusted. */
void
main()
{
	uint x = gl_GlobalInvocationID.x, y = gpu_y();

	if (gpu_outside(x, y))
		return;
	gpu_out(0, x, y, gpu_scratch(FIT_MENDED, x, y));
	gpu_out(1, x, y, gpu_scratch(FIT_KEPT, x, y));
}
