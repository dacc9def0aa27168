#include "gpu/gpu.glsl"
#include "unwrap2f.px.h"
#include "unwrap2f.block.h"

/* Behind unwrap2f.comp: the standard deviation of the absolute phase, and whether its order is
 * wrong. */
layout(buffer_reference, std430) readonly buffer block_at { unwrap2f_sigma_block b; };

#define MEAN_NONE 0u		/* enum unwrap_mean */
#define MEAN_SIGMAS 2u

struct pixel {
	float base, norm;
	float off[UNWRAP2F_PHASES], certain[UNWRAP2F_PHASES];
};

/* Chi squared of the line of `orders` more. */
float
cost_of(block_at at, pixel p, float orders)
{
	PX_F square = 0.0f, shift = 0.0f;

	for (uint k = 0; k < at.b.phases; k++) {
		PX_F e = unwrap2f_rival(p.off[k], at.b.ratio[k], orders);
		PX_F weighed = e * p.certain[k];

		square = square + weighed * e;
		shift = shift + weighed * at.b.ratio[k];
	}
	return unwrap2f_chi(square, shift, p.norm);
}

float
probability(block_at at, pixel p)
{
	PX_F own_cost = cost_of(at, p, 0.0f), rest = 0.0f, v = p.base * UNWRAP2F_TURN;

	for (uint k = 0; k < at.b.rivals; k++) {
		PX_F cost = cost_of(at, p, at.b.rival[k]);

		rest = rest + unwrap2f_odds(cost, own_cost, v + at.b.rival[k], at.b.lo, at.b.hi);
	}
	rest = rest + unwrap2f_again(v, at.b.seam, p.certain[0], at.b.first, at.b.last);
	return unwrap2f_p(rest);
}

void
main()
{
	uint x = gpu_x4(), y = gpu_y();
	block_at at = block_at(gpu.block);
	vec4 absolute, sigma, wrong;

	if (gpu_outside(x, y))
		return;
	absolute = gpu_fours(gpu_row(gpu.outputs, y)).at[x >> 2];
	for (uint i = 0; i < 4; i++) {
		PX_F sum = 0.0f, weight = 0.0f, variance = 0.0f, ratio = at.b.ratio[at.b.target];
		bool given = !px_isnan(absolute[i]);
		pixel p;

		p.base = unwrap2f_base(absolute[i], at.b.scale[at.b.target],
		    gpu_in4(at.b.channel[0], x, y)[i]);
		p.norm = 0.0f;
		for (uint k = 0; k < at.b.phases; k++) {
			PX_F phase = gpu_in4(at.b.channel[k], x, y)[i];
			PX_F known = unwrap2f_certain(phase, gpu_in4(at.b.deviation[k], x, y)[i]);
			bool there = known > 0.0f;
			PX_F v = p.base * UNWRAP2F_TURN, turns = phase * UNWRAP2F_TURN;
			PX_F norm = p.norm + known * (at.b.ratio[k] * at.b.ratio[k]);

			p.off[k] = unwrap2f_mismatch(px_select(there, v, 0.0f), at.b.ratio[k],
			    px_select(there, turns, 0.0f));
			p.certain[k] = known;
			p.norm = norm;
			PX_F own = unwrap2f_ordered(p.base, at.b.ratio[k],
			    px_select(there, phase, 0.0f));
			PX_F more = phase_mean_more(own, at.b.scale[k], p.base);
			PX_F share = at.b.mean == MEAN_SIGMAS ?
			    known * (at.b.ratio[k] * at.b.ratio[k]) : at.b.weight[k];
			PX_F part = share * more;
			PX_F spread = unwrap2f_spread(share, at.b.scale[k], known);

			sum = sum + px_select(there, part, 0.0f);
			weight = weight + px_select(there, share, 0.0f);
			variance = variance + px_select(there, spread, 0.0f);
		}
		if (at.b.mean == MEAN_NONE) {
			float own = gpu_in4(at.b.deviation[at.b.target], x, y)[i];

			sigma[i] = px_select(given, own, PX_NAN);
		} else {
			bool there = weight > 0.0f && given;
			PX_F divisor = px_select(there, weight, 1.0f);
			PX_F mean = phase_mean_of(p.base, sum, divisor, ratio);
			PX_F deviation = px_divide(px_sqrt(variance), divisor) * ratio;

			absolute[i] = px_select(there && at.b.mean == MEAN_SIGMAS, mean,
			    absolute[i]);
			sigma[i] = px_select(there, deviation, PX_NAN);
		}
		wrong[i] = px_select(given && !px_isnan(p.base), probability(at, p), PX_NAN);
	}
	if (at.b.mean == MEAN_SIGMAS)
		gpu_out4(0, x, y, absolute);
	gpu_out4(at.b.sigma, x, y, sigma);
	if (at.b.orders != 0)
		gpu_out4(at.b.p_order, x, y, wrong);
}
