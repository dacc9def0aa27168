/*
 * Gaussian filter of phases (methods §4; Karpinsky 2014 §3.2): sin and cos are filtered, not the
 * phase, so that no jump of 2 pi is smeared. A neighbour counts only if its mirror image about the
 * centre counts too: a linear phase then stays what it is, at borders and holes as well.
 */
#ifndef GAUSS_PX_H
#define GAUSS_PX_H

#include "base/px.h"

/* Of a part's size, which numbers have in the order of their absolute values, NaN above them all:
 * so large (1e30) that sums may overflow, which would reach pixels whose windows it is not in (as
 * 0 x infinity). */
#define GAUSS_TOO_LARGE 0x7149f2ca

PX_FN int
gauss_size(float part)
{
	return px_int(px_bits(part) & 0x7fffffffu);
}

/* All bits set where the pixel is there, none where it is missing: NaN or too large. */
PX_FN uint
gauss_there(float part)
{
	return px_select(gauss_size(part) < GAUSS_TOO_LARGE, 0xffffffffu, 0u);
}

/* Likewise of a phase; sines of more than 1e9 may be no numbers. */
PX_FN uint
gauss_phase_there(float phase)
{
	return px_select(px_int(px_bits(phase) & 0x7fffffffu) <= 0x4e6e6b28, 0xffffffffu, 0u);
}

/* The pixel's part, 0 where it is missing. */
PX_FN float
gauss_part(float part, uint there)
{
	return px_from_bits(px_bits(part) & there);
}

/* What comes of the sums, of whose phase t is px_atan2_tangent(); missing pixels are not filled. */
PX_FN float
gauss_phase_by(float t, float sine, float cosine, float valid)
{
	return px_select(valid > 0.0f, px_atan2_angle(t, sine, cosine), PX_NAN);
}

PX_FN float
gauss_phase(float sine, float cosine, float valid)
{
	return gauss_phase_by(px_atan2_tangent(sine, cosine), sine, cosine, valid);
}

PX_FN float
gauss_mean(float sum, float weight, float valid)
{
	return px_select(valid > 0.0f, px_divide(sum, weight), PX_NAN);
}

/*
 * The standard deviation of a filtered phase. An error e_i of pixel i, whose vector is p_i, moves
 * the sum S = sum w_i p_i by w_i |p_i| e_i across p_i, and so the phase of S by
 * w_i e_i (p_i . S)/|S|^2:
 *
 *     sigma^2 = S' (sum w_i^2 sigma_i^2 p_i p_i') S / |S|^4
 *
 * where the errors of neighbours have nothing to do with each other. With p_i = (1, 0) it is that
 * of a mean, sum w_i^2 sigma_i^2 / (sum w_i)^2.
 *
 * An error of a phase that is not small moves its vector across by sin e_i, whose variance is
 * (1 - exp(-2 sigma_i^2))/2, and the mean square of p_i . S/|S| is (1 + exp(-2 sigma_i^2))/2:
 * tanh(sigma_i^2) takes the place of sigma_i^2.
 */
#define GAUSS_UNKNOWN 1e36f		/* variance of a pixel that is there and has no sigma */

PX_FN float
gauss_variance(float sigma, uint there)
{
	PX_F variance = px_select(px_abs(sigma) < 1e4f, sigma * sigma, GAUSS_UNKNOWN);

	return px_from_bits(px_bits(variance) & there);
}

/* The same of a phase: tanh by its [3/2] Pade approximant, within 0.002 up to a sigma of 1.3. */
PX_FN float
gauss_phase_variance(float sigma, uint there)
{
	PX_F square = px_min(sigma * sigma, 3.0f), fourth = square * square;
	PX_F top = square * (15.0f + fourth), bottom = 15.0f + 6.0f * fourth;
	PX_F mixed = px_min(px_divide(top, bottom), 1.0f);
	PX_F variance = px_select(px_abs(sigma) < 1e4f, mixed, GAUSS_UNKNOWN);

	return px_from_bits(px_bits(variance) & there);
}

/* c, s: S; cc, cs, ss: the sum in brackets; sharing: a factor where neighbours share errors; NaN
 * where a neighbour's sigma is unknown. */
PX_FN float
gauss_sigma_of(float c, float s, float cc, float cs, float ss, float sharing, float valid)
{
	PX_F a = c * cc + s * cs, b = c * cs + s * ss, square = c * c + s * s;
	PX_F sum = px_max(c * a + s * b, 0.0f);
	PX_F sigma = px_divide(px_sqrt(sum), square) * sharing;

	return px_select(px_both(valid > 0.0f, px_both(square > 1e-30f, sigma < 1e4f)), sigma,
	    PX_NAN);
}

#endif
