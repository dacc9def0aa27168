/*
 * The loops of kalman on the processor: the samples that noise and motion are measured from, and
 * the filter of a row, tile by tile. kalman.px.h has the formulas.
 */
#include "kalman.h"

#include "kalman.px.h"

#define INLINED static inline __attribute__((always_inline))

/* ---- samples of the noise ---- */

static void
take_samples(struct noise *noise, const struct frame *in, const struct channels *channels)
{
	struct noise_sample *to = noise->frame[NOISE_FRAMES - 1];

	memmove(noise->frame + 1, noise->frame, (NOISE_FRAMES - 1) * sizeof(*noise->frame));
	noise->frame[0] = to;
	for (size_t row = 0; row < noise->grid.rows; row++)
		for (size_t column = 0; column < noise->grid.columns; column++, to++) {
			size_t x = column * noise->grid.step, y = row * noise->grid.step;

			*to = (struct noise_sample){ .variance = 1 };
			for (size_t i = 0; i < channels->values; i++)
				to->value[i] = frame_floats(in, channels->value[i], y)[x];
			if (channels->sigma_in != NO_CHANNEL)
				to->variance = kalman_variance(
				    frame_floats(in, channels->sigma_in, y)[x]);
		}
}

static double
largest_value(const struct noise *noise, const struct channels *channels)
{
	double most = 0;

	for (size_t pixel = 0; pixel < coarse_grid_pixels(&noise->grid); pixel++)
		for (size_t i = 0; i < channels->values; i++) {
			double v = fabs((double)noise->frame[0][pixel].value[i]);

			if (v > most && v <= (double)KALMAN_MOST)
				most = v;
		}
	return most;
}

/* The length of the sum of factor * value over the frames, divided by the root of the sum's
 * variance; NaN where a value is missing. */
INLINED double
deviation(const struct noise *noise, const struct channels *channels, size_t pixel,
    const double *factor, size_t frames)
{
	double square = 0, variance = 0;

	for (size_t i = 0; i < channels->values; i++) {
		double sum = 0;

		for (size_t k = 0; k < frames; k++)
			sum += factor[k] != 0 ?
			    factor[k] * (double)noise->frame[k][pixel].value[i] : 0;
		if (channels->angle)
			sum = remainder(sum, 2 * M_PI);
		square += sum * sum;
	}
	for (size_t k = 0; k < frames; k++)
		variance += factor[k] != 0 ?
		    factor[k] * factor[k] * (double)noise->frame[k][pixel].variance : 0;
	return sqrt(square / variance);
}

/* Fast where factor and frames are constants. */
INLINED size_t
list_sums(struct noise *noise, const struct channels *channels, const double *factor,
    size_t frames)
{
	size_t n = 0;

	for (size_t pixel = 0; pixel < coarse_grid_pixels(&noise->grid); pixel++) {
		double v = deviation(noise, channels, pixel, factor, frames);

		if (isfinite(v))
			noise->work[n++] = v;
	}
	return n;
}

static size_t
list_deviations(struct noise *noise, const struct channels *channels, enum difference difference)
{
	static const double once[] = { 1, -1 }, twice[] = { 1, -2, 1 }, apart[] = { 1, 0, -1 };
	static const double far[] = { 1, 0, 0, 0, 0, 0, 0, 0, -1 };

	switch (difference) {
	case DIFFERENCE_FIRST:
		return list_sums(noise, channels, once, 2);
	case DIFFERENCE_SECOND:
		return list_sums(noise, channels, twice, 3);
	case DIFFERENCE_OVER_TWO:
		return list_sums(noise, channels, apart, 3);
	default:
		return list_sums(noise, channels, far, NOISE_FRAMES);
	}
}

static size_t
list_variances(struct noise *noise)
{
	size_t n = 0;

	for (size_t pixel = 0; pixel < coarse_grid_pixels(&noise->grid); pixel++)
		if (isfinite(noise->frame[0][pixel].variance))
			noise->work[n++] = (double)noise->frame[0][pixel].variance;
	return n;
}

static bool
is_repeated(const struct noise *noise, const struct channels *channels)
{
	size_t valid = 0;

	for (size_t pixel = 0; pixel < coarse_grid_pixels(&noise->grid); pixel++)
		for (size_t i = 0; i < channels->values; i++) {
			float a = noise->frame[0][pixel].value[i];
			float b = noise->frame[1][pixel].value[i];

			if (px_bits(a) != px_bits(b) && !(px_isnan(a) && px_isnan(b)))
				return false;
			valid += !px_isnan(a);
		}
	return valid >= MIN_DIFFERENCES;
}

static size_t
list_magnitudes(struct noise *noise, size_t *zeros)
{
	size_t n = 0;

	*zeros = 0;
	for (size_t i = 0; i < coarse_grid_pixels(&noise->grid); i++) {
		double v = fabs((double)noise->frame[0][i].value[0]);

		*zeros += v == 0;
		if (v > 0 && isfinite(v))
			noise->work[n++] = v;
	}
	return n;
}

/* ---- the filter ---- */

#define TILE 256		/* pixels that are computed together */

/* A tile of a row. */
struct tile {
	float square[TILE], noise[TILE], gain[TILE], variance[TILE];
};

/* Adds the squared innovations z - x. */
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

/* Judges each pixel of a tile and updates its variance, time and outliers; gain and variance of the
 * result go to the tile. */
static void
weigh(struct kalman_block block, struct tile *restrict tile, const struct state_row *state,
    size_t x, size_t n)
{
	const float *restrict variance = state[0].in + x, *restrict away = state[1].in + x;
	const float *restrict outliers = state[2].in + x, *restrict stated = state[3].in + x;
	float *restrict kept = state[0].out + x, *restrict later = state[1].out + x;
	float *restrict counted = state[2].out + x, *restrict restated = state[3].out + x;

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		float time = away[i] + block.elapsed, count = outliers[i] + 1.0f;
		float r = tile->noise[i];
		float predicted = kalman_predict(variance[i], time, block.motion);
		float what = kalman_judge(tile->square[i] * block.per_square, r, predicted,
		    time > block.keep, block.gate, count >= block.repeat);
		float gain = kalman_gain(what, predicted, r);
		float shown = kalman_settle(what, gain, predicted, r);
		float own = kalman_state(what, gain, kalman_predict(stated[i], time, block.moved),
		    r);
		bool moves = what >= KALMAN_TAKEN;

		tile->gain[i] = gain;
		tile->variance[i] = own;
		restated[i] = moves ? own : stated[i];
		kept[i] = moves ? shown : variance[i];
		later[i] = moves || px_isnan(variance[i]) ? 0.0f : time;
		counted[i] = moves ? 0.0f : what == KALMAN_OUTLIER ? count : outliers[i];
	}
}

/* Moves one value of each pixel by its gain: `state` for the next frame, `made` for the output. */
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

/* Filters pixels x to x + n - 1 of row y. */
static void
filter_tile(const struct run *run, const struct frame *in, struct frame *out, size_t x, size_t n,
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

static void
kalman_filter(const struct run *run, const struct frame *in, struct frame *out, size_t y0,
    size_t y1, const struct row_scratch *)
{
	size_t w = out->head.w;

	for (size_t y = y0; y < y1; y++)
		for (size_t x = 0; x < w; x += TILE)
			filter_tile(run, in, out, x, w - x < TILE ? w - x : TILE, y);
}

const struct kalman_rows AT_LEVEL(kalman_rows) = {
	.take_samples = take_samples,
	.largest_value = largest_value,
	.list_deviations = list_deviations,
	.list_variances = list_variances,
	.is_repeated = is_repeated,
	.filter = kalman_filter,
	.list_magnitudes = list_magnitudes,
};
