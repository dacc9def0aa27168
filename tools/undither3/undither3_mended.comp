#include "fit.glsl"

/* take_mended(): what mending leaves is trusted. */
void
main()
{
	uint x = gl_GlobalInvocationID.x, y = gpu_y();
	float turns, mended;
	bool inside, dropped;

	if (gpu_outside(x, y))
		return;
	inside = gpu_scratch(FIT_INSIDE, x, y) > 0.0f;
	turns = mended = gpu_scratch(FIT_TURNS, x, y);
	if (inside && gpu_scratch(FIT_TRUSTED, x, y) == 0.0f)
		mended = mend(x, y);
	dropped = px_isnan(mended);
	turns = px_select(dropped, turns, mended);
	gpu_scratch_put(FIT_MENDED, x, y, turns);
	gpu_scratch_put(FIT_KEPT, x, y, dropped ? 0.0f : 1.0f);
	gpu_scratch_put(FIT_SURFACE, x, y, px_select(inside, turns, UNDITHER3_FAR));
}
