#include "gpu/gpu.glsl"
#include "place.px.h"
#include "holodec.block.h"

layout(buffer_reference, std430) readonly buffer block_at { holodec_place_block b; };

/* Depths, which lie where z will, to coordinates. */
void
main()
{
	uint x = gpu_x4(), y = gpu_y();
	block_at at = block_at(gpu.block);
	vec4 depth;

	if (gpu_outside(x, y))
		return;
	depth = gpu_fours(gpu_row(gpu.outputs + 2, y)).at[x >> 2];
	for (uint k = 0; k < 3; k++) {
		uint row = 4 * k;
		PX_D start = at.b.row[row + 1] * double(y) + at.b.row[row + 3];
		vec4 v;

		for (uint i = 0; i < 4; i++)
			v[i] = holodec_coordinate(
			    at.b.row[row], double(x + i), at.b.row[row + 2], depth[i], start);
		gpu_out4(k, x, y, v);
	}
}
