#include "gpu/gpu.glsl"
#include "holo/depthcode.px.h"
#include "depthenc.block.h"

layout(buffer_reference, std430) readonly buffer block_at { depthenc_block b; };

void
put4(uint wide, uint c, uint x, uint y, vec4 level)
{
	if (wide != 0u)
		gpu_out4_ushort(c, x, y, level);
	else
		gpu_out4_uchar(c, x, y, level);
}

void
main()
{
	uint x = gpu_x4(), y = gpu_y();
	block_at at = block_at(gpu.block);
	vec4 depth, luma, sine, cosine;

	if (gpu_outside(x, y))
		return;
	depth = gpu_in4(at.b.depth, x, y);
	for (int i = 0; i < 4; i++) {
		PX_F z = depthcode_normalise(depth[i], at.b.zero, at.b.per_depth);
		bool hole = !depthcode_inside(z);
		PX_F clamped = depthcode_clamp(px_select(hole, 0.0f, z));
		PX_F rest = depthcode_rest(clamped, at.b.fringes);

		luma[i] = px_select(hole, 0.0f,
		    depthcode_round(depthcode_luma(clamped, at.b.guard, at.b.swing)));
		sine[i] = px_select(hole, at.b.middle,
		    depthcode_round(depthcode_sine(rest, at.b.middle, at.b.amplitude)));
		cosine[i] = px_select(hole, at.b.middle,
		    depthcode_round(depthcode_cosine(rest, at.b.middle, at.b.amplitude)));
	}
	put4(at.b.wide, 0, x, y, luma);
	if (at.b.colour == 0u)
		return;
	put4(at.b.wide, 1, x, y, sine);
	put4(at.b.wide, 2, x, y, cosine);
}
