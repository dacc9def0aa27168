/* Thresholds of ordered dithering (methods §13). */
#ifndef HOLO_DITHER_PX_H
#define HOLO_DITHER_PX_H

#include "base/px.h"

/*
 * Threshold (M + 1/2)/4^n of an ordered dither of 2^n x 2^n, M_{n+1} = [[4M, 4M+2], [4M+3, 4M+1]]
 * [thesis eq 8.11-8.13].
 */
PX_FN float
dither_bayer(uint x, uint y, uint n)
{
	uint m = 0;

	for (uint i = 0; i < n; i++)
		m = m << 2 | (((x ^ y) >> i & 1u) << 1) | (y >> i & 1u);
	return (px_float(m) + 0.5f) / px_float(1u << (2 * n));
}

#endif
