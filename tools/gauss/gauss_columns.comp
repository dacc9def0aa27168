#include "gauss.glsl"

/* Row y of the window: its part, 0 in holes; these are 1. */
vec4
part_at(block_at at, uint x, uint y, out uvec4 hole)
{
	vec4 part = gpu_scratch4(at.b.scratch + GAUSS_PART, x, y);

	for (uint i = 0; i < 4; i++) {
		hole[i] = px_select(is_missing(part[i]), 1u, 0u);
		part[i] = px_select(is_missing(part[i]), 0.0f, part[i]);
	}
	return part;
}

/* Bit n of word k: row 32 k + n of the window, from its top. */
void
put_holes(block_at at, uint x, uint y)
{
	uint radius = at.b.radius;
	uint top = radius - min(radius, y), end = radius + min(radius + 1, gpu.h - y);

	for (uint k = 0; k < at.b.words; k++) {
		uvec4 holes = uvec4(0), hole;

		for (uint row = max(top, 32 * k); row < min(end, 32 * k + 32); row++) {
			part_at(at, x, y + row - radius, hole);
			holes |= hole << (row & 31u);
		}
		gpu_scratch4_put(at.b.scratch + GAUSS_HOLES + k, x, y, uintBitsToFloat(holes));
	}
}

/* Sums over the columns of a window; near the upper and lower border it is shorter. */
void
main()
{
	uint x = gpu_x4(), y = gpu_y(), radius, far;
	block_at at = block_at(gpu.block);
	uvec4 holes, above, below;
	precise vec4 total, pair, weighed;

	if (gpu_outside(x, y))
		return;
	radius = at.b.radius;
	far = reach(y, gpu.h, radius);
	total = part_at(at, x, y, holes);
	holes = holes << (radius & 31u);
	for (uint k = 1; k <= far; k++) {
		pair = part_at(at, x, y - k, above) + part_at(at, x, y + k, below);
		weighed = at.b.kernel[k] * pair;
		total = total + weighed;
		holes |= above << ((radius - k) & 31u) | below << ((radius + k) & 31u);
	}
	gpu_scratch4_put(at.b.scratch + GAUSS_COLUMN, x, y, total);
	if (at.b.words == 1 && far == radius)
		gpu_scratch4_put(at.b.scratch + GAUSS_HOLES, x, y, uintBitsToFloat(holes));
	else
		put_holes(at, x, y);
	if (at.b.kind == GAUSS_PLAIN)
		return;
	total = gpu_scratch4(at.b.scratch + GAUSS_PART + 1, x, y);
	for (uint k = 1; k <= far; k++) {
		pair = gpu_scratch4(at.b.scratch + GAUSS_PART + 1, x, y - k) +
		    gpu_scratch4(at.b.scratch + GAUSS_PART + 1, x, y + k);
		weighed = at.b.kernel[k] * pair;
		total = total + weighed;
	}
	gpu_scratch4_put(at.b.scratch + GAUSS_COLUMN + 1, x, y, total);
}
