#include "gpu/gpu.glsl"
#include "holo/depthcode.px.h"
#include "depthdec.block.h"

layout(buffer_reference, std430) readonly buffer block_at { depthdec_block b; };

void
main()
{
	uint x = gpu_x4(), y = gpu_y();
	block_at at = block_at(gpu.block);
	vec4 luma, valid, sine = vec4(0), cosine = vec4(0), folds = vec4(0), depth;

	if (gpu_outside(x, y))
		return;
	luma = gpu_samples4(at.b.luma, x, y, at.b.type);
	valid = luma;
	if (at.b.mask != DEPTHDEC_NONE)
		valid = gpu_samples4(at.b.mask, x, y, at.b.type);
	if (at.b.sine != DEPTHDEC_NONE) {
		sine = gpu_samples4(at.b.sine, x, y, at.b.type);
		cosine = gpu_samples4(at.b.cosine, x, y, at.b.type);
	}
	if (at.b.coarse != DEPTHDEC_NONE)
		folds = gpu_samples4(at.b.coarse, x, y, at.b.type);
	for (int i = 0; i < 4; i++) {
		PX_F coarse = depthcode_coarse(luma[i], at.b.guard, at.b.swing);
		PX_F z = coarse;

		if (at.b.sine != DEPTHDEC_NONE)
			z = depthcode_fine(coarse, sine[i] - at.b.middle, cosine[i] - at.b.middle,
			    at.b.fringes);
		if (at.b.coarse != DEPTHDEC_NONE)
			z = depthcode_unfold(depthcode_clamp(px_divide(folds[i], at.b.most)),
			    coarse, at.b.fringes);
		PX_F made = at.b.zero + z * at.b.extent;

		depth[i] = px_select(valid[i] >= at.b.least, made, PX_NAN);
	}
	gpu_out4(0, x, y, depth);
}
