/*
 * Formulas of the line detector at a pixel (methods.md section 11; Steger 1998; Liu 2016 eq 11-12).
 * Those between pixels: line_steps.px.h.
 */
#ifndef LINE_PX_H
#define LINE_PX_H

#include "base/px.h"

/* The Hessian's eigenvalue that is nearest to minus infinity, and its unit vector: across a
 * line. */
struct line_across {
	float lambda, nu, nv;
};

PX_FN PX_STRUCT line_across
line_across_of(float xx, float xy, float yy)
{
	PX_STRUCT line_across across;
	PX_F mean = (xx + yy) * 0.5f, d = (xx - yy) * 0.5f;
	PX_F root = px_sqrt(d * d + xy * xy);
	PX_F u = px_select(d <= 0.0f, d - root, xy), v = px_select(d <= 0.0f, xy, -d - root);
	PX_F length = px_sqrt(u * u + v * v);
	PX_F nu = px_divide(u, length), nv = px_divide(v, length);

	across.lambda = mean - root;
	across.nu = px_select(length > 0.0f, nu, 1.0f);
	across.nv = px_select(length > 0.0f, nv, 0.0f);
	return across;
}

/* Is that eigenvalue below -low, and larger in magnitude than the other one? line_strong() of
 * line_loops.h asks this of many pixels at once. */
PX_FN bool
line_is_strong(float xx, float xy, float yy, float low)
{
	PX_F mean = (xx + yy) * 0.5f, d = (xx - yy) * 0.5f;
	PX_F square = d * d + xy * xy, over = mean + low;
	bool number = px_both(!px_isnan(square), !px_isnan(mean));

	return px_both(px_both(number, mean < 0.0f), over < 0.0f || square > over * over);
}

/* How far the slope's zero lies across, px. */
PX_FN float
line_offset(PX_STRUCT line_across across, float x, float y)
{
	return px_divide(-(across.nu * x + across.nv * y), across.lambda);
}

#endif
