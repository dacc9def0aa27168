#define PHASE2DEPTH_NO_DOUBLES
#include "gpu/gpu.glsl"
#include "phase2depth.px.h"
#include "phase2depth.block.h"
#include "depth.glsl"

layout(buffer_reference, std430) readonly buffer block_at { phase2depth_plane_block b; };

void
main()
{
	uint x = gpu_x4(), y = gpu_y();
	block_at at = block_at(gpu.block);
	vec4 phase, ref, d, depth;

	if (gpu_outside(x, y))
		return;
	phase = gpu_in4(at.b.phase, x, y);
	ref = gpu_in4(at.b.ref, x, y);
	for (int i = 0; i < 4; i++)
		d[i] = phase2depth_above(phase[i], ref[i]);
	for (int i = 0; i < 4 && at.b.wrapped != 0; i++)
		d[i] = phase2depth_half_turn(d[i]);
	depth = depth_of(at.b, d, x, y);
	gpu_out4(0, x, y, depth);
	write_sigma(at.b, d, depth, x, y);
}
