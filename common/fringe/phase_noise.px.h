/*
 * The standard deviation of a phase by phase shifting (methods §2). The sums of the fit, C = B cos
 * phi and S = B sin phi, are linear in the images, so that noise e_n of image n moves the phase by
 *
 *     sum (cos phi s_n - sin phi c_n) e_n / B
 *
 * with the weights c_n, s_n of struct phase_shift_weights. The variance of e_n is that of the
 * camera, variance + gain I_n, where I_n is the fit's own A + C cosine_n + S sine_n. So the sum
 * over the images is one over their weights, which does not depend on the pixel.
 */
#ifndef PHASE_NOISE_PX_H
#define PHASE_NOISE_PX_H

#include "base/px.h"

/* Sums over the images of a fringe set: of s s, s c, c c, and of these times cosine and sine. */
struct phase_noise_terms {
	float ss, sc, cc;
	float ss_cosine, sc_cosine, cc_cosine, ss_sine, sc_sine, cc_sine;
};

/* pi/sqrt 3: of a phase of which nothing is known. */
#define PHASE_NOISE_MOST 1.81379936f

/*
 * In radians. mean: A; c, s: the fit's sums, of an amplitude above 0; variance + gain I, in grey
 * levels squared, is nowhere taken for less than `least`; NaN where no noise is left.
 */
PX_FN float
phase_noise_sigma(PX_STRUCT phase_noise_terms t, float mean, float c, float s, float variance,
    float gain, float least)
{
	PX_F square = c * c + s * s, amplitude = px_sqrt(square);
	PX_F one = px_divide(1.0f, amplitude), a = c * one, b = s * one;
	PX_F aa = a * a, ab = a * b * 2.0f, bb = b * b;
	PX_F weight = aa * t.ss - ab * t.sc + bb * t.cc;
	PX_F cosine = aa * t.ss_cosine - ab * t.sc_cosine + bb * t.cc_cosine;
	PX_F sine = aa * t.ss_sine - ab * t.sc_sine + bb * t.cc_sine;
	PX_F wave = (a * cosine + b * sine) * amplitude, level = variance + gain * mean;
	PX_F sum = level * weight + gain * wave;
	PX_F enough = px_max(sum, least * weight);
	PX_F sigma = px_sqrt(px_select(enough > 0.0f, enough, 0.0f)) * one;

	return px_select(enough > 0.0f, px_min(sigma, PHASE_NOISE_MOST), PX_NAN);
}

/* Of the mean of two phases with errors of their own; where nothing is known of one of them,
 * nothing is of the mean. */
PX_FN float
phase_noise_of_mean(float a, float b)
{
	PX_F sum = a * a + b * b, sigma = px_sqrt(sum) * 0.5f;

	return px_select(px_max(a, b) >= PHASE_NOISE_MOST, PHASE_NOISE_MOST, sigma);
}

#endif
