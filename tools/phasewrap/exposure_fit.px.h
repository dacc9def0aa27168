/*
 * The normal equations of several exposures and of saturated pixels (phasewrap_rows.c has the
 * method), for one pixel: F (c s)' = r with the 2 x 2 matrix F of cc, cs and ss. Squares and
 * products are sums about means: sum ab - sum a sum b / n.
 */
#include "base/px.h"
#include "fringe/phase_noise.px.h"

/* A phase that is more than five times as uncertain as without saturation is none (three steps next
 * to each other of many determine hardly anything): its variance times N; without, it is 2. */
#define EXPOSURE_VARIANCE_MOST 50.0f
#define EXPOSURE_NO_MISFIT -1.0f	/* as many unknowns as samples */

PX_FN float
exposure_about_means(float sum_ab, float sum_a, float mean_b)
{
	return sum_ab - sum_a * mean_b;
}

PX_FN float
exposure_determinant(float cc, float cs, float ss)
{
	return cc * ss - cs * cs;
}

/* c of r = (rc, rs); s with rs and rc, cc and ss exchanged. */
PX_FN float
exposure_unknown(float rc, float rs, float ss, float cs, float inverse)
{
	return (rc * ss - rs * cs) * inverse;
}

/* u' F^-1 u of the direction u = (-s, c)/B in which the phase turns: the variance of the phase
 * times B^2 over that of a sample. */
PX_FN float
exposure_variance(float cc, float cs, float ss, float c, float s)
{
	PX_F square = c * c + s * s, product = square * exposure_determinant(cc, cs, ss);
	PX_F sum = ss * s * s + 2.0f * cs * s * c + cc * c * c;

	return px_divide(sum, product);
}

/* F^-1 u of the unit vector (-s, c) of that direction: c of it, or s with cc and ss exchanged. */
PX_FN float
exposure_direction(float ss, float cs, float along, float across, float determinant)
{
	PX_F sum = ss * along - cs * across;

	return px_divide(sum, determinant);
}

/*
 * What the noise of an image adds to the variance of the phase times B^2: its weight, of the
 * direction (dc, ds), the light and cosine and sine less their means, squared, times the camera's
 * variance at the level that the fit gives it. c, s: B cos phi and B sin phi in this exposure.
 */
PX_FN float
exposure_noise(float dc, float ds, float light, float cosine, float sine, float mean, float c,
    float s, float variance, float gain, float least)
{
	PX_F weight = (dc * cosine + ds * sine) * light, level = mean + c * cosine + s * sine;
	PX_F noise = px_max(variance + gain * level, least);

	return weight * weight * noise;
}

/* The standard deviation of the phase by the sum of these; NaN where no noise is left. */
PX_FN float
exposure_sigma(float sum, float amplitude)
{
	PX_F sigma = px_divide(px_sqrt(px_select(sum > 0.0f, sum, 0.0f)), amplitude);

	return px_select(sum > 0.0f, px_min(sigma, PHASE_NOISE_MOST), PX_NAN);
}

/* Is there a phase, of a variance that is no larger than so? */
PX_FN bool
exposure_solved(float determinant, float cc, float ss, float variance, float most)
{
	PX_F least = 1e-6f * cc * ss;

	return px_both(determinant > least, variance <= most);
}

/* A, by the sums of the light and of light times value, cosine and sine of the images. */
PX_FN float
exposure_mean(float value, float c, float cosine, float s, float sine, float light)
{
	PX_F left = value - c * cosine - s * sine;

	return px_divide(left, light);
}

/* What the fit leaves of an image v of an exposure, whose first image and means are taken off. */
PX_FN float
exposure_left(float v, float first, float mean, float c, float cosine, float s, float sine)
{
	return v - first - mean - c * cosine - s * sine;
}
