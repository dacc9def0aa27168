#include "steger.glsl"

/* The image less its background, smoothed and derived down its columns. */

vec4
pixels4(uint c, uint x, uint y)
{
	return gpu_samples4(c, x, y, gpu.planes.at[c].type);
}

vec4
difference4(block_at at, uint x, int row)
{
	uint y = steger_clamped(row, gpu.h);
	precise vec4 v = pixels4(at.b.image, x, y);

	if (at.b.background != STEGER_NONE)
		v = v - pixels4(at.b.background, x, y);
	if (at.b.dark != 0u)
		v = -v;
	return v;
}

void
main()
{
	uint x = gpu_x4(), y = gpu_y();
	block_at at = block_at(gpu.block);
	gpu_floats weight = gpu_floats(gpu_constant(STEGER_KERNELS));
	uint radius = at.b.radius;

	if (gpu_outside(x, y))
		return;
	precise vec4 v = difference4(at, x, int(y));
	precise vec4 smoothed = v * weight.at[0], second = v * weight.at[2u * (radius + 1u)];
	precise vec4 first = v - v;

	for (uint i = 1u; i <= radius; i++) {
		precise vec4 above = difference4(at, x, int(y) - int(i));
		precise vec4 below = difference4(at, x, int(y) + int(i));
		precise vec4 sum = above + below;

		smoothed += sum * weight.at[i];
		first += (below - above) * weight.at[radius + 1u + i];
		second += sum * weight.at[2u * (radius + 1u) + i];
	}
	gpu_scratch4_put(STEGER_COLUMN, x, y, smoothed);
	gpu_scratch4_put(STEGER_COLUMN + 1u, x, y, first);
	gpu_scratch4_put(STEGER_COLUMN + 2u, x, y, second);
}
