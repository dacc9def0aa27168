/*
 * A scalar Kalman filter per pixel (Kalman 1960), of a value that moves at random:
 *	x_k = x_(k-1) + w, w of standard deviation motion * time
 *	z_k = x_k + v, v of variance r
 * Variances are in any unit that squares of innovations and r share.
 */
#ifndef KALMAN_PX_H
#define KALMAN_PX_H

#include "base/px.h"
#include "kalman.block.h"

#define KALMAN_MOST 1e18f	/* larger values are invalid: their squares would not be finite */
#define KALMAN_MOST_SIGMA 1e15f
#define KALMAN_LEAST_SIGMA 1e-15f
#define KALMAN_MOST_ANGLE 1e4f

/* What becomes of a pixel. */
#define KALMAN_MISSING 0.0f	/* there is no value */
#define KALMAN_OUTLIER 1.0f	/* it is left out */
#define KALMAN_TAKEN 2.0f
#define KALMAN_NEW 3.0f		/* the pixel begins anew with it */

/* z - x, squared, is added to the sum of squares; x unknown: nothing. An invalid z makes it NaN. */
PX_FN float
kalman_add_square(float sum, float z, float x)
{
	PX_F d = z - x, square = d * d;
	PX_F more = sum + px_select(px_isnan(x), 0.0f, square);

	return px_select(px_abs(z) <= KALMAN_MOST, more, PX_NAN);
}

/* The same of angles in radians. */
PX_FN float
kalman_add_angle(float sum, float z, float x)
{
	bool valid = px_abs(z) <= KALMAN_MOST_ANGLE;
	PX_F d = px_wrap(px_select(px_both(valid, !px_isnan(x)), z - x, 0.0f)), square = d * d;
	PX_F more = sum + square;

	return px_select(valid, more, PX_NAN);
}

/* The variance of a value whose standard deviation is sigma; NaN where that is none. */
PX_FN float
kalman_variance(float sigma)
{
	PX_F square = sigma * sigma;

	return px_select(px_both(sigma >= KALMAN_LEAST_SIGMA, sigma <= KALMAN_MOST_SIGMA),
	    square, PX_NAN);
}

/* The variance of what is expected, `time` after the last value; NaN: nothing is. */
PX_FN float
kalman_predict(float variance, float time, float motion)
{
	PX_F drift = motion * time, predicted = variance + drift * drift;

	return predicted;
}

/*
 * KALMAN_...: square: of the innovation, in the unit of the variances, NaN: there is no value; r:
 * the value's variance, NaN likewise; late: the last value was too long ago; outliers: so many in a
 * row before.
 */
PX_FN float
kalman_judge(float square, float r, float predicted, bool late, float gate, bool repeats)
{
	PX_F total = predicted + r, most = gate * total;
	bool missing = px_isnan(square) || px_isnan(r);
	bool outside = square > most;
	PX_F seen = px_select(outside, px_select(repeats, KALMAN_NEW, KALMAN_OUTLIER),
	    KALMAN_TAKEN);

	seen = px_select(px_isnan(predicted) || late, KALMAN_NEW, seen);
	return px_select(missing, KALMAN_MISSING, seen);
}

/* Of the innovation; 1: the value itself. */
PX_FN float
kalman_gain(float what, float predicted, float r)
{
	PX_F total = predicted + r;
	PX_F share = px_divide(predicted, px_select(total > 0.0f, total, 1.0f));

	share = px_select(total > 0.0f, share, 1.0f);
	share = px_select(what == KALMAN_TAKEN, share, 0.0f);
	return px_select(what == KALMAN_NEW, 1.0f, share);
}

/* The variance of the result; NaN: there is none. */
PX_FN float
kalman_settle(float what, float gain, float predicted, float r)
{
	PX_F settled = gain * r;
	PX_F variance = px_select(what == KALMAN_OUTLIER, predicted, settled);

	return px_select(what == KALMAN_MISSING, PX_NAN, variance);
}

/*
 * The variance that is stated of the result, whose gain may be larger than the best one:
 * (1 - K)^2 V' + K^2 r, which is kalman_settle()'s where `expected`, V', is what the gain was
 * computed by.
 */
PX_FN float
kalman_state(float what, float gain, float expected, float r)
{
	PX_F rest = 1.0f - gain, old = rest * rest * expected, own = gain * gain * r;
	PX_F variance = px_select(what == KALMAN_NEW, r, old + own);

	variance = px_select(what == KALMAN_OUTLIER, expected, variance);
	return px_select(what == KALMAN_MISSING, PX_NAN, variance);
}

/* The standard deviation of the result; unit: that of a variance of 1. */
PX_FN float
kalman_deviation(float variance, float unit)
{
	PX_F deviation = unit * px_sqrt(variance);

	return px_select(px_isnan(deviation), PX_NAN, deviation);
}

/* The result from x (NaN: none) and the value z. */
PX_FN float
kalman_move(float x, float z, float gain)
{
	PX_F step = gain * (z - x), moved = x + step;

	return px_select(gain >= 1.0f, z, px_select(gain > 0.0f, moved, x));
}

PX_FN float
kalman_turn(float x, float z, float gain)
{
	bool moves = px_both(gain > 0.0f, gain < 1.0f);
	PX_F step = gain * px_wrap(px_select(moves, z - x, 0.0f));
	PX_F moved = px_wrap(px_select(moves, x + step, 0.0f));

	return px_select(gain >= 1.0f, z, px_select(gain > 0.0f, moved, x));
}

#endif
