/* The formulas of the windowed Fourier filter (Kemao 2007), for wff_rows.c and the shaders: sums
 * and products alone, so that every device that rounds them to nearest gives the processor's bits.
 */
#ifndef WFF_PX_H
#define WFF_PX_H

#include "base/px.h"

/* exp(-2 pi i j k/n) for j = 1, 2, 3. */
struct wff_twiddles {
	float c1, s1, c2, s2, c3, s3;
};

/* Four samples, a quarter of a line apart. */
struct wff_four {
	float ar, ai, br, bi, cr, ci, dr, di;
};

/* A step of the transform by decimation in frequency, radix 4; b and c change places, which makes
 * the order of the result that of reversed bits. */
PX_FN PX_STRUCT wff_four
wff_split(PX_STRUCT wff_four v, PX_STRUCT wff_twiddles w)
{
	PX_F t0r = v.ar + v.cr, t0i = v.ai + v.ci, t1r = v.ar - v.cr, t1i = v.ai - v.ci;
	PX_F t2r = v.br + v.dr, t2i = v.bi + v.di;
	PX_F t3r = v.bi - v.di, t3i = v.dr - v.br;		/* -i (b - d) */
	PX_F y0r = t0r + t2r, y0i = t0i + t2i, y1r = t1r + t3r, y1i = t1i + t3i;
	PX_F y2r = t0r - t2r, y2i = t0i - t2i, y3r = t1r - t3r, y3i = t1i - t3i;
	PX_F br = y2r * w.c2 - y2i * w.s2, bi = y2r * w.s2 + y2i * w.c2;
	PX_F cr = y1r * w.c1 - y1i * w.s1, ci = y1r * w.s1 + y1i * w.c1;
	PX_F dr = y3r * w.c3 - y3i * w.s3, di = y3r * w.s3 + y3i * w.c3;
	PX_STRUCT wff_four r = { y0r, y0i, br, bi, cr, ci, dr, di };

	return r;
}

/* The inverse of wff_split(), times 4. */
PX_FN PX_STRUCT wff_four
wff_join(PX_STRUCT wff_four v, PX_STRUCT wff_twiddles w)
{
	PX_F y2r = v.br * w.c2 + v.bi * w.s2, y2i = v.bi * w.c2 - v.br * w.s2;
	PX_F y1r = v.cr * w.c1 + v.ci * w.s1, y1i = v.ci * w.c1 - v.cr * w.s1;
	PX_F y3r = v.dr * w.c3 + v.di * w.s3, y3i = v.di * w.c3 - v.dr * w.s3;
	PX_F t0r = v.ar + y2r, t0i = v.ai + y2i, t2r = v.ar - y2r, t2i = v.ai - y2i;
	PX_F t1r = y1r + y3r, t1i = y1i + y3i;
	PX_F t3r = y3i - y1i, t3i = y1r - y3r;			/* i (y1 - y3) */
	PX_F ar = t0r + t1r, ai = t0i + t1i, br = t2r + t3r, bi = t2i + t3i;
	PX_F cr = t0r - t1r, ci = t0i - t1i, dr = t2r - t3r, di = t2i - t3i;
	PX_STRUCT wff_four r = { ar, ai, br, bi, cr, ci, dr, di };

	return r;
}

PX_FN float
wff_power(float re, float im)
{
	return re * re + im * im;
}

/* A sample times the window's weights of its column and row. */
PX_FN float
wff_weighted(float v, float across, float down)
{
	return v * (across * down);
}

/* What |c|^2 must exceed: of an unknown noise so many medians, else so many sums of squared
 * weights. */
PX_FN float
wff_least(float share, float median, float power, float squares)
{
	PX_F of_median = share * median, of_squares = power * squares;

	return px_select(share > 0.0f, of_median, of_squares);
}

#endif
