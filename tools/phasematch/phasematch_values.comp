#include "phasematch.glsl"

layout(buffer_reference, std430) readonly buffer block_at { phasematch_side b; };

/* As phasematch_rows.c does it. */
float
value(block_at at, uint i, uint y)
{
	PX_F base = phasematch_single(gpu_in(at.b.channel[0], i, y), 1.0f);
	PX_F sum = 0.0f, squares = 0.0f, weight = 0.0f;

	for (uint k = 1u; k < at.b.phases; k++) {
		PX_F other = phasematch_single(gpu_in(at.b.channel[k], i, y), at.b.scale[k]);

		base = px_select(px_isnan(base), other, base);
	}
	for (uint k = 0u; k < at.b.phases; k++) {
		PX_F own = phasematch_single(gpu_in(at.b.channel[k], i, y), 1.0f);
		PX_F more = phase_mean_more(own, at.b.scale[k], base);
		PX_F part = at.b.weight[k] * more;
		PX_F square = part * more;
		PX_F new_sum = sum + part, new_squares = squares + square;
		PX_F new_weight = weight + at.b.weight[k];

		if (!px_isnan(own)) {
			sum = new_sum;
			squares = new_squares;
			weight = new_weight;
		}
	}
	if (!(weight > 0.0f && phasematch_spread(squares, sum, weight) <= at.b.variance_most))
		return PX_NAN;
	return phase_mean_of(base, sum, weight, at.b.factor);
}

float
deviation(block_at at, uint i, uint y)
{
	PX_F variance = 0.0f, weight = 0.0f;

	for (uint k = 0u; k < at.b.phases; k++) {
		PX_F share = at.b.weight[k] * at.b.scale[k] * gpu_in(at.b.sigma[k], i, y);
		PX_F square = share * share;
		PX_F new_variance = variance + square, new_weight = weight + at.b.weight[k];

		if (!px_isnan(phasematch_single(gpu_in(at.b.channel[k], i, y), 1.0f))) {
			variance = new_variance;
			weight = new_weight;
		}
	}
	return phasematch_map_sigma(variance, weight, at.b.unit);
}

void
main()
{
	uint y = gpu_y();
	block_at at = block_at(gpu.block);

	if (gl_GlobalInvocationID.x >= gpu.w || y >= gpu.y1)
		return;
	for (uint i = gl_GlobalInvocationID.x; i < at.b.lists.w; i += gpu.w) {
		float v = at.b.phases == 1u ?
		    phasematch_single(gpu_in(at.b.channel[0], i, y), at.b.factor) :
		    value(at, i, y);

		list_put(at.b.lists.values, i, y, v);
		if (at.b.has_sigma != 0u)
			list_put(at.b.lists.sigmas, i, y, deviation(at, i, y));
	}
}
