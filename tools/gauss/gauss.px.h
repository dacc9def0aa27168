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

/* What comes of the sums; missing pixels are not filled. */
PX_FN float
gauss_phase(float sine, float cosine, float valid)
{
	return px_select(valid > 0.0f, px_atan2(sine, cosine), PX_NAN);
}

PX_FN float
gauss_mean(float sum, float weight, float valid)
{
	return px_select(valid > 0.0f, px_divide(sum, weight), PX_NAN);
}

#endif
