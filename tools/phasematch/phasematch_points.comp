#include "phasematch.glsl"

/* The support of a disparity and the point that it stands for, as phasematch_rows.c makes them. */

layout(buffer_reference, std430) readonly buffer block_at { phasematch_output b; };

float
disparity_at(block_at at, int x, int y)
{
	return x < 0 || y < 0 || x >= int(gpu.w) || y >= int(gpu.h) ? PX_NAN :
	    gpu_scratch(at.b.disparity, uint(x), uint(y));
}

uint
pair(block_at at, uint x, uint y, int i, int j, float own)
{
	return phasematch_pair_supports(disparity_at(at, int(x) - i, int(y) - j),
	    disparity_at(at, int(x) + i, int(y) + j), own, at.b.range,
	    phasematch_slope(own, at.b.centres, at.b.steep));
}

uint
support(block_at at, uint x, uint y, float own)
{
	return pair(at, x, y, 1, 1, own) + pair(at, x, y, 0, 1, own) +
	    pair(at, x, y, -1, 1, own) + pair(at, x, y, 1, 0, own);
}

void
put_points(block_at at, uint x, uint y, float z, bool there)
{
	PX_F px = phasematch_aside(z, float(x), at.b.cx, at.b.focal);
	PX_F py = phasematch_aside(z, float(y), at.b.cy, at.b.focal);
	PX_F a = px + at.b.shift0, b = py + at.b.shift1, c = z + at.b.shift2;

	if (at.b.turned != 0u) {
		px = phasematch_turn(a, b, c, at.b.r0, at.b.r1, at.b.r2);
		py = phasematch_turn(a, b, c, at.b.r3, at.b.r4, at.b.r5);
		z = phasematch_turn(a, b, c, at.b.r6, at.b.r7, at.b.r8);
	}
	gpu_out(at.b.x, x, y, px_select(there, px, PX_NAN));
	gpu_out(at.b.y, x, y, px_select(there, py, PX_NAN));
	gpu_out(at.b.z, x, y, px_select(there, z, PX_NAN));
}

void
main()
{
	uint x = gl_GlobalInvocationID.x, y = gpu_y();
	block_at at = block_at(gpu.block);
	float d, z = PX_NAN, sigma = PX_NAN;
	bool there;

	if (gpu_outside(x, y))
		return;
	d = gpu_scratch(at.b.disparity, x, y);
	there = !px_isnan(d);
	if (there && at.b.support > 0u)
		there = support(at, x, y, d) >= at.b.support;
	if (there && at.b.z != PHASEMATCH_NONE) {
		z = phasematch_limit(phasematch_depth(d, at.b.centres, at.b.focal_baseline),
		    at.b.least, at.b.most);
		there = !px_isnan(z);
	}
	if (there && at.b.sigma_disparity != PHASEMATCH_NONE)
		sigma = gpu_scratch(at.b.sigma, x, y);
	gpu_out(0, x, y, px_select(there, d, PX_NAN));
	if (at.b.sigma_disparity != PHASEMATCH_NONE)
		gpu_out(at.b.sigma_disparity, x, y, sigma);
	if (at.b.sigma_z != PHASEMATCH_NONE)
		gpu_out(at.b.sigma_z, x, y, px_select(px_isnan(sigma), PX_NAN,
		    phasematch_depth_sigma(sigma, z, at.b.focal_baseline)));
	if (at.b.z != PHASEMATCH_NONE)
		put_points(at, x, y, z, there);
}
