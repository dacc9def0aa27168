#include "gpu/gpu.glsl"
#include "kalman.px.h"

layout(buffer_reference, std430) readonly buffer block_at { kalman_block b; };

/* The squares of what channel c is off its state i, added to sum. */
vec4
add_squares(block_at at, vec4 sum, uint c, uint i, uint x, uint y)
{
	vec4 z = gpu_in4(c, x, y), last = gpu_state4(i, x, y);

	for (int k = 0; k < 4; k++)
		sum[k] = at.b.angle != 0u ? kalman_add_angle(sum[k], z[k], last[k]) :
		    kalman_add_square(sum[k], z[k], last[k]);
	return sum;
}

void
move(block_at at, vec4 gain, vec4 variance, uint c, uint to, uint i, uint x, uint y)
{
	vec4 z = gpu_in4(c, x, y), last = gpu_state4(i, x, y), made;

	for (int k = 0; k < 4; k++) {
		last[k] = at.b.angle != 0u ? kalman_turn(last[k], z[k], gain[k]) :
		    kalman_move(last[k], z[k], gain[k]);
		made[k] = px_select(px_isnan(variance[k]), PX_NAN, last[k]);
	}
	gpu_state4_put(i, x, y, last);
	gpu_out4(to, x, y, made);
}

void
main()
{
	uint x = gpu_x4(), y = gpu_y();
	block_at at = block_at(gpu.block);
	vec4 square = vec4(0.0), r = vec4(1.0), variance, away, outliers, stated, gain, made, sigma;

	if (gpu_outside(x, y))
		return;
	square = add_squares(at, square, at.b.value0, 0u, x, y);
	if (at.b.values == 3u) {
		square = add_squares(at, square, at.b.value1, 1u, x, y);
		square = add_squares(at, square, at.b.value2, 2u, x, y);
	}
	if (at.b.sigma_in != KALMAN_NONE)
		r = gpu_in4(at.b.sigma_in, x, y);
	variance = gpu_state4(at.b.values, x, y);
	away = gpu_state4(at.b.values + 1u, x, y);
	outliers = gpu_state4(at.b.values + 2u, x, y);
	stated = gpu_state4(at.b.values + 3u, x, y);
	for (int k = 0; k < 4; k++) {
		PX_F noise = at.b.sigma_in != KALMAN_NONE ? kalman_variance(r[k]) : 1.0f;
		PX_F time = away[k] + at.b.elapsed, count = outliers[k] + 1.0f;
		PX_F scaled = square[k] * at.b.per_square;
		PX_F predicted = kalman_predict(variance[k], time, at.b.motion);
		PX_F what = kalman_judge(scaled, noise, predicted, time > at.b.keep, at.b.gate,
		    count >= at.b.repeat);
		PX_F own_gain = kalman_gain(what, predicted, noise);
		PX_F own_made = kalman_settle(what, own_gain, predicted, noise);
		PX_F expected = kalman_predict(stated[k], time, at.b.moved);
		PX_F own_stated = kalman_state(what, own_gain, expected, noise);
		PX_F deviation = kalman_deviation(own_stated, at.b.unit);
		bool moves = what >= KALMAN_TAKEN;

		gain[k] = own_gain;
		made[k] = own_stated;
		stated[k] = moves ? own_stated : stated[k];
		sigma[k] = deviation;
		away[k] = moves || px_isnan(variance[k]) ? 0.0f : time;
		outliers[k] = moves ? 0.0f : what == KALMAN_OUTLIER ? count : outliers[k];
		variance[k] = moves ? own_made : variance[k];
	}
	gpu_state4_put(at.b.values, x, y, variance);
	gpu_state4_put(at.b.values + 1u, x, y, away);
	gpu_state4_put(at.b.values + 2u, x, y, outliers);
	gpu_state4_put(at.b.values + 3u, x, y, stated);
	move(at, gain, made, at.b.value0, at.b.out0, 0u, x, y);
	if (at.b.values == 3u) {
		move(at, gain, made, at.b.value1, at.b.out1, 1u, x, y);
		move(at, gain, made, at.b.value2, at.b.out2, 2u, x, y);
	}
	if (at.b.sigma_out != KALMAN_NONE)
		gpu_out4(at.b.sigma_out, x, y, sigma);
}
