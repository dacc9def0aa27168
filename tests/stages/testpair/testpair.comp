#include "gpu/gpu.glsl"
#include "testpair.px.h"

layout(buffer_reference, std430) readonly buffer block_at { testpair_block b; };

void
main()
{
	uint x = gl_GlobalInvocationID.x, y = gpu_y();
	block_at at = block_at(gpu.block);

	if (gpu_outside(x, y))
		return;
	gpu_out(0, x, y, testpair_sum(gpu_sample(at.b.left, x, y, at.b.left_type),
	    gpu_sample(at.b.ref, x, y, at.b.ref_type),
	    gpu_sample(at.b.right, x % at.b.right_w, y, at.b.right_type)));
	gpu_out(1, x, y, 0.0);
}
