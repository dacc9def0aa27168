#include "fit.glsl"

/* step_row(): a step down. */
float
from(block_at at, uint x, uint y, int dx, int dy)
{
	uint u = column(x, dx), v = row(y, dy);

	if (at.b.first == 0)
		return gpu_scratch(at.b.from, u, v);
	return gpu_scratch(FIT_INSIDE, u, v) > 0.0f ? gpu_scratch(FIT_TURNS, u, v) : UNDITHER3_FAR;
}

/* The bend of a line along (dx, dy) at a pixel (u, v) away. */
float
bend(block_at at, uint x, uint y, int u, int v, int dx, int dy)
{
	return undither3_bend_of(from(at, x, y, u - dx, v - dy), from(at, x, y, u, v),
	    from(at, x, y, u + dx, v + dy));
}

void
main()
{
	uint x = gl_GlobalInvocationID.x, y = gpu_y();
	block_at at = block_at(gpu.block);
	bits_bounds bounds;
	float here, last, bent;

	if (gpu_outside(x, y))
		return;
	if (gpu_scratch(FIT_INSIDE, x, y) == 0.0f) {
		gpu_scratch_put(at.b.to, x, y, UNDITHER3_FAR);
		return;
	}
	here = from(at, x, y, 0, 0);
	last = at.b.first != 0 ? here : gpu_scratch(FIT_LAST, x, y);
	if (at.b.anew != 0) {
		bounds = bound(here, x, y);
		gpu_scratch_put(FIT_LOW, x, y, bounds.low);
		gpu_scratch_put(FIT_HIGH, x, y, bounds.high);
	} else {
		bounds.low = gpu_scratch(FIT_LOW, x, y);
		bounds.high = gpu_scratch(FIT_HIGH, x, y);
	}
	bent = undither3_bent(bend(at, x, y, -1, 0, 1, 0), bend(at, x, y, 0, 0, 1, 0),
	    bend(at, x, y, 1, 0, 1, 0), bend(at, x, y, 0, -1, 0, 1), bend(at, x, y, 0, 0, 0, 1),
	    bend(at, x, y, 0, 1, 0, 1));

	PX_F next = undither3_step(here, bent, bounds.low, bounds.high);
	PX_F onward = next + at.b.momentum * (next - last);

	gpu_scratch_put(at.b.to, x, y, onward);
	gpu_scratch_put(FIT_LAST, x, y, next);
}
