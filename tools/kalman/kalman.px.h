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

/* What a pixel's new value means. */
struct kalman_weight {
	float gain;	/* of the innovation; 1: the value itself */
	float variance; /* of the result; NaN: there is none */
	float kept;	/* variance, time and number of outliers for the next frame */
	float away;
	float outliers;
};

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

/*
 * square: of the innovation, NaN: there is no value; r: the value's variance, NaN likewise. The
 * others are what the last frame left; variance NaN: nothing.
 */
PX_FN PX_STRUCT kalman_weight
kalman_weigh(PX_STRUCT kalman_block b, float square, float r, float variance, float away,
    float outliers)
{
	PX_STRUCT kalman_weight to;
	PX_F time = away + b.elapsed, drift = b.motion * time, predicted = variance + drift * drift;
	PX_F total = predicted + r, far = square * b.per_square, count = outliers + 1.0f;
	bool missing = px_isnan(square) || px_isnan(r);
	bool fresh = px_isnan(variance) || time > b.keep;
	bool outside = !fresh && far > b.gate * total;
	bool restart = fresh || (outside && count >= b.repeat);
	bool held = missing || (outside && !restart);
	PX_F share = px_divide(predicted, px_select(total > 0.0f, total, 1.0f));
	PX_F settled = share * r;

	share = px_select(total > 0.0f, share, 1.0f);
	to.gain = px_select(restart, 1.0f, px_select(held, 0.0f, share));
	to.variance = px_select(missing, PX_NAN,
	    px_select(restart, r, px_select(held, predicted, settled)));
	to.kept = px_select(held, variance, px_select(restart, r, settled));
	to.away = px_select(held, px_select(px_isnan(variance), 0.0f, time), 0.0f);
	to.outliers = px_select(held, px_select(missing, outliers, count), 0.0f);
	return to;
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
