#include "gpu/gpu.glsl"
#include "skeleton.px.h"
#include "skeleton.block.h"

layout(buffer_reference, std430) readonly buffer block_at { skeleton_block b; };

void
main()
{
	uint x = gpu_x4(), y = gpu_y();
	block_at at = block_at(gpu.block);
	vec4 v;

	if (gpu_outside(x, y))
		return;
	v = gpu_in4(at.b.channel, x, y);
	for (int i = 0; i < 4; i++)
		v[i] = skeleton_pixel(v[i], at.b.gain);
	gpu_out4(at.b.channel, x, y, v);
}
