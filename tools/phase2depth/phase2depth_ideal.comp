#include "gpu/gpu.glsl"
#include "phase2depth.px.h"
#include "phase2depth.block.h"
#include "depth.glsl"

layout(buffer_reference, std430) readonly buffer block_at { phase2depth_ideal_block b; };

void
main()
{
	uint x = gpu_x4(), y = gpu_y();
	block_at at = block_at(gpu.block);
	vec4 phase, d, depth;

	if (gpu_outside(x, y))
		return;
	phase = gpu_in4(at.b.depth.phase, x, y);
	for (int i = 0; i < 4; i++) {
		PX_D row = at.b.a + at.b.c * double(y), plane = row + at.b.b * double(x + uint(i));

		d[i] = at.b.depth.wrapped != 0
		    ? phase2depth_half_turn_plane(phase[i], plane)
		    : phase2depth_above_plane(phase[i], plane);
	}
	depth = depth_of(at.b.depth, d, x, y);
	gpu_out4(0, x, y, depth);
	write_sigma(at.b.depth, d, depth, x, y);
}
