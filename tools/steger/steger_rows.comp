#include "steger.glsl"
#include "feature/line.px.h"

/* The five derivatives along rows, and the list of a row's candidates: a workgroup per row takes
 * its pixels in turn, and a prefix sum gives each candidate its place. */

struct candidate {
	float du, dv, nu, nv, response;
	bool is;
};

candidate
candidate_at(block_at at, uint x, uint y)
{
	gpu_floats weight = gpu_floats(gpu_constant(STEGER_KERNELS));
	gpu_floats smoothed = gpu_floats(gpu_row(gpu.scratches + STEGER_COLUMN, y));
	gpu_floats first = gpu_floats(gpu_row(gpu.scratches + STEGER_COLUMN + 1u, y));
	gpu_floats second = gpu_floats(gpu_row(gpu.scratches + STEGER_COLUMN + 2u, y));
	uint n = at.b.radius + 1u;
	PX_F v = smoothed.at[x], rx = v - v, rxy = rx, rxx = v * weight.at[2u * n];
	PX_F ry = first.at[x] * weight.at[0], ryy = second.at[x] * weight.at[0];
	candidate c;

	for (uint i = 1u; i < n; i++) {
		uint before = steger_clamped(int(x) - int(i), gpu.w);
		uint behind = steger_clamped(int(x) + int(i), gpu.w);
		PX_F left = smoothed.at[before], right = smoothed.at[behind];

		rx += (right - left) * weight.at[n + i];
		rxx += (left + right) * weight.at[2u * n + i];
		left = first.at[before];
		right = first.at[behind];
		ry += (left + right) * weight.at[i];
		rxy += (right - left) * weight.at[n + i];
		left = second.at[before];
		right = second.at[behind];
		ryy += (left + right) * weight.at[i];
	}
	line_across across = line_across_of(rxx, rxy, ryy);
	PX_F t = line_offset(across, rx, ry), du = t * across.nu, dv = t * across.nv;

	c.du = du;
	c.dv = dv;
	c.nu = across.nu;
	c.nv = across.nv;
	c.response = -across.lambda;
	c.is = line_is_strong(rxx, rxy, ryy, at.b.low) && !px_isnan(t) &&
	    px_abs(du) <= at.b.limit && px_abs(dv) <= at.b.limit;
	return c;
}

bool
in_region(block_at at, uint x, uint y)
{
	return x - at.b.region_x < at.b.region_w && y - at.b.region_y < at.b.region_h;
}

void
main()
{
	uint id = gl_LocalInvocationID.x, y = gpu_group_y(), n = 0u;
	block_at at = block_at(gpu.block);

	for (uint from = 0u; from < gpu.w; from += STEGER_GROUP) {
		uint x = from + id, place, all;
		candidate c;

		c.is = false;
		if (x < gpu.w && in_region(at, x, y))
			c = candidate_at(at, x, y);
		place = n + steger_prefix(c.is ? 1u : 0u, all) - 1u;
		n += all;
		if (c.is) {
			gpu_scratch_put(STEGER_AT, place, y, float(x));
			gpu_scratch_put(STEGER_DU, place, y, c.du);
			gpu_scratch_put(STEGER_DV, place, y, c.dv);
			gpu_scratch_put(STEGER_NU, place, y, c.nu);
			gpu_scratch_put(STEGER_NV, place, y, c.nv);
			gpu_scratch_put(STEGER_RESPONSE, place, y, c.response);
		}
	}
	if (id == 0u)
		gpu_scratch_put(STEGER_COUNT, 0u, y, float(n));
}
