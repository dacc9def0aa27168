#include "kalman.h"

#include "kalman.px.h"
#include "run/stage.h"

#define TILE 256		/* pixels that are weighed together */

/* What is in a tile of a row. */
struct tile {
	float square[TILE], noise[TILE], gain[TILE], variance[TILE];
};

static void
add_squares(float *restrict sum, const float *restrict z, const float *restrict x, bool angle,
    size_t n)
{
	if (angle) {
		CPU_SIMD
		for (size_t i = 0; i < n; i++)
			sum[i] = kalman_add_angle(sum[i], z[i], x[i]);
		return;
	}
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		sum[i] = kalman_add_square(sum[i], z[i], x[i]);
}

/* A row of a state plane, before and after. */
struct state_row {
	const float *in;
	float *out;
};

static struct state_row
state_row(const struct run *run, const struct frame *in, struct frame *out, size_t state, size_t y)
{
	return (struct state_row){ frame_floats(in, run_state_in(run, state), y),
		frame_floats(out, run_state_out(run, state), y) };
}

static void
weigh(struct kalman_block block, struct tile *restrict tile, const struct state_row *state,
    size_t x, size_t n)
{
	const float *restrict variance = state[0].in + x, *restrict away = state[1].in + x;
	const float *restrict outliers = state[2].in + x;
	float *restrict kept = state[0].out + x, *restrict later = state[1].out + x;
	float *restrict counted = state[2].out + x;

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		float time = away[i] + block.elapsed, count = outliers[i] + 1.0f;
		float r = tile->noise[i];
		float predicted = kalman_predict(variance[i], time, block.motion);
		float what = kalman_judge(tile->square[i] * block.per_square, r, predicted,
		    time > block.keep, block.gate, count >= block.repeat);
		float gain = kalman_gain(what, predicted, r);
		float shown = kalman_settle(what, gain, predicted, r);
		bool moves = what >= KALMAN_TAKEN;

		tile->gain[i] = gain;
		tile->variance[i] = shown;
		kept[i] = moves ? shown : variance[i];
		later[i] = moves || px_isnan(variance[i]) ? 0.0f : time;
		counted[i] = moves ? 0.0f : what == KALMAN_OUTLIER ? count : outliers[i];
	}
}

static void
move(const struct tile *restrict tile, const float *restrict z, const float *restrict x,
    float *restrict state, float *restrict made, bool angle, size_t n)
{
	if (angle) {
		CPU_SIMD
		for (size_t i = 0; i < n; i++)
			state[i] = kalman_turn(x[i], z[i], tile->gain[i]);
	} else {
		CPU_SIMD
		for (size_t i = 0; i < n; i++)
			state[i] = kalman_move(x[i], z[i], tile->gain[i]);
	}
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		made[i] = px_select(px_isnan(tile->variance[i]), PX_NAN, state[i]);
}

static void
put_sigma(const struct tile *restrict tile, float unit, float *restrict sigma, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		sigma[i] = kalman_deviation(tile->variance[i], unit);
}

/* Pixels x to x + n - 1 of row y. */
static void
filter(const struct run *run, const struct frame *in, struct frame *out, size_t x, size_t n,
    size_t y)
{
	const struct kalman *kalman = run->priv;
	const struct channels *channels = &kalman->channels;
	struct state_row weight[KALMAN_STATES];
	struct tile tile;

	for (size_t i = 0; i < KALMAN_STATES; i++)
		weight[i] = state_row(run, in, out, channels->values + i, y);
	for (size_t i = 0; i < n; i++) {
		tile.square[i] = 0;
		tile.noise[i] = 1;
	}
	for (size_t i = 0; i < channels->values; i++)
		add_squares(tile.square, frame_floats(in, channels->value[i], y) + x,
		    state_row(run, in, out, i, y).in + x, channels->angle, n);
	if (channels->sigma_in != NO_CHANNEL) {
		const float *restrict sigma = frame_floats(in, channels->sigma_in, y) + x;

		for (size_t i = 0; i < n; i++)
			tile.noise[i] = kalman_variance(sigma[i]);
	}
	weigh(kalman->block, &tile, weight, x, n);
	for (size_t i = 0; i < channels->values; i++) {
		struct state_row value = state_row(run, in, out, i, y);

		move(&tile, frame_floats(in, channels->value[i], y) + x, value.in + x,
		    value.out + x, frame_floats(out, channels->value_out[i], y) + x,
		    channels->angle, n);
	}
	if (channels->sigma_out != NO_CHANNEL)
		put_sigma(&tile, kalman->block.unit,
		    frame_floats(out, channels->sigma_out, y) + x, n);
}

void
kalman_rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	const struct kalman *kalman = run->priv;
	size_t w = out->head.w;

	(void)scratch;
	for (size_t y = y0; y < y1; y++) {
		for (size_t x = 0; x < w; x += TILE)
			filter(run, in, out, x, w - x < TILE ? w - x : TILE, y);
		for (size_t c = 0; c < out->head.c; c++)
			if (!channels_makes(&kalman->channels, c))
				frame_pass(in, kalman->channels.source[c], out, c, y);
	}
}
