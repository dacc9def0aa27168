#include "gpu/gpu.glsl"
#include "undither3.px.h"
#include "undither3.block.h"

layout(buffer_reference, std430) readonly buffer block_at { undither3_block b; };

/* Levels: the sums along rows, summed down columns. Outside of the image there is nothing. */
void
main()
{
	uint x = gpu_x4(), y = gpu_y();
	block_at at = block_at(gpu.block);
	vec4 v[1 + 2 * UNDITHER3_REACH], level;

	if (gpu_outside(x, y))
		return;
	for (uint plane = 0; plane < at.b.planes; plane++) {
		for (uint k = 0; k < 1 + 2 * UNDITHER3_REACH; k++) {
			uint row = y + k - UNDITHER3_REACH;	/* above 0: large */

			v[k] = row < gpu.h ? gpu_scratch4(plane, x, row) : vec4(0.0f);
		}
		for (uint i = 0; i < 4; i++) {
			PX_F share = undither3_smooth(v[3][i], v[0][i], v[1][i], v[2][i],
			    v[4][i], v[5][i], v[6][i], at.b.kernel[0], at.b.kernel[1],
			    at.b.kernel[2], at.b.kernel[3]);
			PX_F full = 255.0f * share;

			level[i] = full;
		}
		gpu_out4(at.b.to[plane], x, y, level);
	}
	if (at.b.texture != 0)
		gpu_out4(3, x, y, gpu_samples4(1, x, y, GPU_UCHAR));
}
