#include "gpu/gpu.glsl"
#include "skeleton.px.h"
#include "skeleton.block.h"

layout(buffer_reference, std430) readonly buffer block_at { skeleton_block b; };

void
main()
{
	uint x = gpu_x4(), y = gpu_y();
	block_at at = block_at(gpu.block);
	vec4 left, right;

	if (gpu_outside(x, y))
		return;
	left = gpu_samples4(at.b.left, x, y, at.b.left_type);
	right = gpu_samples4(at.b.right, x, y, at.b.right_type);
	for (int i = 0; i < 4; i++)
		left[i] = skeleton_pixel(left[i], right[i]);
	gpu_out4(0, x, y, left);
}
