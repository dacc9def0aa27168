#include "gpu/gpu.glsl"
#include "phase2depth.px.h"
#include "phase2depth.block.h"

#define CALIB_TERMS 9u	/* CALIB_SIGMA_TERMS */
#define TILE 512u	/* of a row; columns are counted from its first, as the processor does */

layout(buffer_reference, std430) readonly buffer block_at { phase2depth_rays_block b; };
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer lens_fours {
	ivec4 at[];
};

/* The coded coordinate without the projector's lens; false where there is none. */
bool
undo_lens(block_at at, float phase, double x, double y, inout double code)
{
	PX_STRUCT phase2depth_lens lens = at.b.terms;
	PX_STRUCT phase2depth_exact_lens exact = at.b.exact_terms;
	PX_STRUCT phase2depth_exact_ray exact_ray = phase2depth_ray_of(exact, x, y);
	PX_STRUCT phase2depth_ray ray = phase2depth_rounded(exact_ray);
	PX_F seen = float(at.b.px_per_rad) * phase + float(at.b.code0_px);
	bool plain = at.b.plain != 0, found = false, unsettled = true;
	PX_F bare = phase2depth_bare(lens, seen, ray, plain);
	PX_F p = phase2depth_first_step(lens, ray, bare, plain);
	PX_D undone = code;

	for (int i = 0; i < PHASE2DEPTH_STEPS && unsettled; i++) {
		PX_STRUCT phase2depth_step step = phase2depth_next(lens, exact, ray, exact_ray,
		    code, p, plain);

		p = step.p;
		undone = step.code;
		found = step.found;
		unsettled = step.unsettled;
	}
	code = undone;
	return found;
}

vec3
point(block_at at, float phase, double x0, double y0, uint column, int lens_x, int lens_y)
{
	PX_D ray_x = x0 + at.b.x_per_column * double(column);
	PX_D x = phase2depth_unbent(ray_x, lens_x, at.b.lens_unit);
	PX_D y = phase2depth_unbent(y0, lens_y, at.b.lens_unit);
	PX_D code = at.b.px_per_rad * double(phase) + at.b.code0_px;
	bool found = at.b.distorted == 0 || undo_lens(at, phase, x, y, code);
	PX_D b_w = PHASE2DEPTH_ALONG(at.b.b_w, 0, x, y);
	PX_D b_code = PHASE2DEPTH_ALONG(at.b.b_code, 0, x, y);
	PX_D s = phase2depth_distance(code, at.b.a_code, at.b.a_w, b_code, b_w);
	PX_D w = at.b.a_w + s * b_w;
	float depth = float(s), depth_projector = float(w);
	bool valid = !px_isnan(phase) && lens_x != PHASE2DEPTH_NO_RAY && found && depth > 0.0f &&
	    depth_projector > 0.0f && depth >= at.b.least && depth <= at.b.most;
	PX_F a = PHASE2DEPTH_WORLD(at.b.R, at.b.T, 0, x, y, s);
	PX_F b = PHASE2DEPTH_WORLD(at.b.R, at.b.T, 1, x, y, s);
	PX_F c = PHASE2DEPTH_WORLD(at.b.R, at.b.T, 2, x, y, s);

	return valid ? vec3(a, b, c) : vec3(PX_NAN);
}

/* The standard deviation along the ray of a point. */
float
deviation(block_at at, vec3 p, float sigma, double x0, double y0, uint column, int lens_x,
    int lens_y)
{
	PX_D ray_x = x0 + at.b.x_per_column * double(column);
	PX_D x = phase2depth_unbent(ray_x, lens_x, at.b.lens_unit);
	PX_D y = phase2depth_unbent(y0, lens_y, at.b.lens_unit);
	PX_D s = PHASE2DEPTH_AHEAD(at.b.R, at.b.T, double(p.x), double(p.y), double(p.z));
	PX_D b_w = PHASE2DEPTH_ALONG(at.b.b_w, 0, x, y);
	PX_D b_code = PHASE2DEPTH_ALONG(at.b.b_code, 0, x, y);
	PX_D per_code = phase2depth_per_code(s, at.b.a_code, at.b.a_w, b_code, b_w);
	PX_D code = phase2depth_code(s, at.b.a_code, at.b.a_w, b_code, b_w);
	PX_F undone = 1.0f, length, per_rad;

	if (at.b.distorted != 0)
		undone = phase2depth_undone(at.b.terms, code,
		    phase2depth_rounded(phase2depth_ray_of(at.b.exact_terms, x, y)),
		    at.b.plain != 0);
	length = px_sqrt(float(x * x + y * y + 1.0));
	per_rad = float(at.b.px_per_rad * per_code) * length * undone;
	return px_select(px_isnan(p.x), PX_NAN, phase2depth_sigma(per_rad, sigma, 0.0f));
}

/* The coefficient k of the calibration's logarithm of sigma on the ray of a pixel. */
float
calib_term(block_at at, uint k, uint x, uint y)
{
	uint step = at.b.calib_step_px, row = CALIB_TERMS * at.b.calib_columns;
	uint first = row * (y / step) + CALIB_TERMS * (x / step) + k;
	PX_F per_step = px_divide(1.0f, float(step));
	PX_F down = float(y % step) * per_step, part = float(x % step) * per_step;
	gpu_floats table = gpu_floats(gpu_constant(at.b.calib_table));
	PX_F left = phase2depth_between(table.at[first], table.at[first + row], down);
	PX_F right = phase2depth_between(table.at[first + CALIB_TERMS],
	    table.at[first + row + CALIB_TERMS], down);

	return phase2depth_between(left, right, part);
}

float
calib_deviation(block_at at, vec3 p, uint x, uint y)
{
	PX_D s = PHASE2DEPTH_AHEAD(at.b.R, at.b.T, double(p.x), double(p.y), double(p.z));
	PX_F place = float((s - at.b.calib_middle_mm) * at.b.calib_per_mm);
	PX_F v = calib_term(at, CALIB_TERMS - 1u, x, y);

	for (uint k = CALIB_TERMS - 1u; k-- > 0;)
		v = phase2depth_power(v, place, calib_term(at, k, x, y));
	return px_select(px_isnan(p.x), PX_NAN, phase2depth_deviation(v, place, at.b.calib_offset_mm2));
}

void
main()
{
	uint x = gpu_x4(), y = gpu_y(), first = x & ~(TILE - 1u);
	block_at at = block_at(gpu.block);
	vec4 phase, sigma = vec4(0), calib = vec4(0);
	ivec4 lens_x = ivec4(0), lens_y = ivec4(0);
	vec4 result[3];

	if (gpu_outside(x, y))
		return;
	phase = gpu_in4(at.b.phase, x, y);
	if (at.b.has_sigma != 0)
		sigma = gpu_in4(at.b.sigma, x, y);
	if (at.b.lens != 0) {
		uint64_t row = gpu_constant(0) + 4ul * uint64_t(at.b.lens_stride) * y;
		uint64_t next = row + 4ul * uint64_t(at.b.lens_stride) * at.b.lens_rows;

		lens_x = lens_fours(row).at[x >> 2];
		lens_y = lens_fours(next).at[x >> 2];
	}
	for (uint i = 0; i < 4; i++) {
		PX_D row_x0 = at.b.x0 + at.b.x_per_row * double(y);
		PX_D x0 = row_x0 + at.b.x_per_column * double(first);
		PX_D y0 = at.b.y0 + at.b.y_per_row * double(y);
		vec3 p = point(at, phase[i], x0, y0, x + i - first, lens_x[i], lens_y[i]);

		if (at.b.has_sigma != 0)
			sigma[i] = deviation(at, p, sigma[i], x0, y0, x + i - first, lens_x[i],
			    lens_y[i]);
		if (at.b.has_calib != 0 && x + i < gpu.w)
			calib[i] = calib_deviation(at, p, x + i, y);
		result[0][i] = p.x;
		result[1][i] = p.y;
		result[2][i] = p.z;
	}
	for (uint c = 0; c < 3; c++)
		gpu_out4(c, x, y, result[c]);
	if (at.b.has_sigma != 0)
		gpu_out4(3, x, y, sigma);
	if (at.b.has_calib != 0)
		gpu_out4(3 + at.b.has_sigma, x, y, calib);
}
