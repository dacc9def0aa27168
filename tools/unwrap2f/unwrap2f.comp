#include "gpu/gpu.glsl"
#include "unwrap2f.px.h"
#include "unwrap2f.block.h"

layout(buffer_reference, std430) readonly buffer block_at { unwrap2f_block b; };

#define START_FIELD 0u		/* enum unwrap_start */
#define START_LINE 1u
#define START_PREDICTED 2u

struct state {
	vec4 absolute, residual;
	bvec4 bad;
};

vec4
signal(block_at at, uint r, uint x, uint y, inout state s)
{
	precise vec4 sum;

	for (uint i = 0; i < at.b.step[r].n; i++) {
		precise vec4 phase = gpu_in4(at.b.step[r].channel[i], x, y);
		precise vec4 weighed = at.b.step[r].weight[i] * phase;

		/* as the processor does: a sum of two does not begin with 0, others make -0 to 0 */
		for (int k = 0; k < 4; k++)
			if (i == 0)
				sum[k] = px_select(at.b.step[r].n != 2 && weighed[k] == 0.0f, 0.0f,
				    weighed[k]);
			else
				sum[k] = sum[k] + weighed[k];
		for (int k = 0; k < 4; k++)
			s.bad[k] = s.bad[k] || px_isnan(phase[k]);
	}
	return sum;
}

void
start(block_at at, uint x, uint y, inout state s)
{
	vec4 phi4 = signal(at, 0, x, y, s);
	vec4 index4 = vec4(0);

	s.residual = vec4(0);
	if (at.b.start > START_LINE)
		index4 = gpu_in4(at.b.index, x, y);
	for (int i = 0; i < 4; i++) {
		PX_F phi = phi4[i];
		PX_F index = index4[i];
		PX_F k;

		s.bad[i] = s.bad[i] || px_isnan(index);
		if (at.b.start == START_FIELD) {
			k = unwrap2f_turns_above(phi, at.b.step[0].lo);
		} else if (at.b.start == START_LINE) {
			/* as the processor counts: from the first column of its tile of 256 */
			uint tile = x & ~255u;
			PX_F first = at.b.line_offset + at.b.line_slope_x * float(tile);
			PX_F lo = first + at.b.line_slope_y * float(y);

			lo = lo + at.b.line_slope_x * float(x + uint(i) - tile);
			k = unwrap2f_turns_above(phi, lo);
		} else if (at.b.start == START_PREDICTED) {
			PX_F coarse = index * at.b.gray_step + at.b.gray_offset;
			PX_F estimate = unwrap2f_order_estimate(coarse, 1.0f, phi);

			k = px_round(estimate);
			s.residual[i] = estimate - k;
		} else {
			PX_F turns = (phi + at.b.gray_offset) * UNWRAP2F_TURN;
			PX_F rest = index + 0.5f - turns;

			k = unwrap2f_counted(index, phi, at.b.gray_offset);
			s.residual[i] = rest - k;
		}
		s.absolute[i] = unwrap2f_absolute(phi, k);
	}
}

void
next_step(block_at at, uint r, uint x, uint y, inout state s)
{
	vec4 phi4 = signal(at, r, x, y, s);

	for (int i = 0; i < 4; i++) {
		PX_F phi = phi4[i];
		PX_F estimate = unwrap2f_order_estimate(s.absolute[i], at.b.step[r].ratio, phi);
		PX_F k;

		estimate = unwrap2f_seam(estimate, phi, at.b.step[r].lo, at.b.step[r].hi,
		    at.b.step[r].span);
		k = px_round(estimate);
		s.absolute[i] = unwrap2f_absolute(phi, k);
		s.residual[i] = unwrap2f_worse(s.residual[i], estimate - k);
	}
}

/* How badly the order k fits the other phases. */
float
cost_of(block_at at, float wanted, uint x, uint y, int i, float k)
{
	PX_F square = 0.0f, shift = 0.0f, cost, v = wanted + k;

	for (uint p = 1; p < at.b.phases; p++) {
		PX_F phase = gpu_in4(at.b.channel[p], x, y)[i] * UNWRAP2F_TURN;
		PX_F e = unwrap2f_mismatch(v, at.b.ratio[p], phase);

		square = square + e * e;
		shift = shift + at.b.ratio[p] * e;
	}
	cost = unwrap2f_cost(square, shift, at.b.norm);
	cost = cost + unwrap2f_outside(v, at.b.lo, at.b.hi, at.b.slack);
	return cost;
}

/* The orders that the steps found stand where no other line can be nearer. */
void
search(block_at at, uint x, uint y, inout state s)
{
	vec4 phi4 = gpu_in4(at.b.channel[0], x, y);
	bvec4 lacks = bvec4(false);
	bool ordered = at.b.steps > 0u, keep = ordered && at.b.complete == 0u;

	for (uint p = 0; p < at.b.phases; p++) {
		vec4 phase = gpu_in4(at.b.channel[p], x, y);

		for (int i = 0; i < 4; i++)
			lacks[i] = lacks[i] || px_isnan(phase[i]);
	}
	for (int i = 0; i < 4; i++) {
		PX_F wanted = phi4[i] * UNWRAP2F_TURN;
		float best = 2e30f, order = 0.0f;
		bool sure = false;

		if (lacks[i]) {
			s.bad[i] = s.bad[i] || !keep;
			s.residual[i] = px_abs(s.residual[i]);
			continue;
		}
		if (ordered) {
			PX_F lead = s.absolute[i] * UNWRAP2F_TURN - wanted;

			order = px_round(lead);
			best = cost_of(at, wanted, x, y, i, order);
			PX_F v = wanted + order;

			sure = unwrap2f_is_sure(best, v, at.b.sure, at.b.lo, at.b.hi) ||
			    unwrap2f_is_sure(best, v, at.b.inner_sure, at.b.inner_lo,
			    at.b.inner_hi);
		}
		if (!sure) {
			best = 2e30f;
			order = 0.0f;
		}
		for (int k = at.b.first; !sure && k <= at.b.last; k++) {
			float cost = cost_of(at, wanted, x, y, i, float(k));

			if (cost < best) {
				best = cost;
				order = float(k);
			}
		}
		PX_F line = wanted + order;
		PX_F outside = unwrap2f_outside(line, at.b.lo, at.b.hi, at.b.slack);
		PX_F left = unwrap2f_left(best, outside, at.b.per_distance);

		s.absolute[i] = unwrap2f_absolute(phi4[i], order);
		s.residual[i] = px_select(left > 0.5f, 0.5f, left);
	}
}

/* Every phase with its own order, and their mean. */
vec4
ordered_phases(block_at at, uint x, uint y, inout state s)
{
	vec4 result = s.absolute, sum = vec4(0), weight = vec4(0);

	for (uint p = 0; p < at.b.phases; p++) {
		vec4 phase = gpu_in4(at.b.channel[p], x, y);
		vec4 own;

		for (int i = 0; i < 4; i++) {
			PX_F turned = unwrap2f_ordered(s.absolute[i], at.b.ratio[p], phase[i]);
			PX_F more = phase_mean_more(turned, at.b.scale[p], s.absolute[i]);
			PX_F share = at.b.weight[p] * more;
			bool there = !px_isnan(turned);
			PX_F added = sum[i] + px_select(there, share, 0.0f);

			sum[i] = added;
			PX_F weighed = weight[i] + px_select(there, at.b.weight[p], 0.0f);
			weight[i] = weighed;
			own[i] = px_select(s.bad[i] || !there, PX_NAN, turned);
			result[i] = p == at.b.target ? turned : result[i];
		}
		if (at.b.all != 0)
			gpu_out4(at.b.own[p], x, y, own);
	}
	for (int i = 0; at.b.fuse != 0 && i < 4; i++)
		result[i] = phase_mean_of(s.absolute[i], sum[i], weight[i],
		    at.b.ratio[at.b.target]);
	return result;
}

void
main()
{
	uint x = gpu_x4(), y = gpu_y();
	block_at at = block_at(gpu.block);
	vec4 result;
	state s;

	if (gpu_outside(x, y))
		return;
	s.bad = bvec4(false);
	if (at.b.steps > 0u)
		start(at, x, y, s);
	for (uint r = 1; r < at.b.steps; r++)
		next_step(at, r, x, y, s);
	if (at.b.best != 0)
		search(at, x, y, s);
	for (int i = 0; i < 4; i++)
		s.bad[i] = s.bad[i] || !(px_abs(s.residual[i]) <= at.b.most);
	result = s.absolute;
	if (at.b.orders != 0)
		result = ordered_phases(at, x, y, s);
	for (int i = 0; i < 4; i++) {
		result[i] = px_select(s.bad[i] || px_isnan(result[i]), PX_NAN, result[i]);
		s.residual[i] = px_select(s.bad[i], PX_NAN, s.residual[i]);
	}
	gpu_out4(0, x, y, result);
	gpu_out4(1, x, y, s.residual);
}
