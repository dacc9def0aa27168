#include "fit.glsl"

/* The largest (or smallest) of the samples so near along a row or column; at last nothing beyond the
 * picture. */
float
value(block_at at, uint x, uint y)
{
	if (at.b.from != FIT_BITS)
		return gpu_scratch(at.b.from, x, y);
	return px_max(bit_of(0, x, y), px_max(bit_of(1, x, y), bit_of(2, x, y)));
}

void
main()
{
	uint x = gl_GlobalInvocationID.x, y = gpu_y();
	block_at at = block_at(gpu.block);
	float most;
	bool beyond;

	if (gpu_outside(x, y))
		return;
	most = value(at, x, y);
	for (int k = -FIT_CLOSE; k <= FIT_CLOSE; k++) {
		uint u = at.b.down != 0 ? x : column(x, k), v = at.b.down != 0 ? row(y, k) : y;
		float there = value(at, u, v);

		most = at.b.smallest != 0 ? px_min(most, there) : px_max(most, there);
	}
	beyond = x < FIT_MARGIN || y < FIT_MARGIN || x + FIT_MARGIN >= gpu.w ||
	    y + FIT_MARGIN >= gpu.h;
	gpu_scratch_put(at.b.to, x, y, at.b.last != 0 && beyond ? 0.0f : most);
}
