/*
 * Formulas of the line detector between pixels: the Newton step, the sides of a line, its width.
 * Who includes this has defined LINE_WINDOW, the type of an image about a candidate, and
 *	PX_STRUCT line_place line_at(LINE_WINDOW, float du, float dv)
 * the derivatives at a point so far from the candidate's pixel, which is moved to the nearest place
 * that kernels are sampled at.
 */
#ifndef LINE_STEPS_PX_H
#define LINE_STEPS_PX_H

#include "feature/line.px.h"

/* A candidate: offset from its pixel, px, unit normal, response; is: false where it is no point. */
struct line_found {
	float du, dv, nu, nv, response;
	bool is;
};

/* Newton steps from the plain point on: one, and another one where that was long. */
PX_FN PX_STRUCT line_found
line_newton(LINE_WINDOW window, PX_STRUCT line_found c, float low)
{
	c.is = false;
	LINE_LOOP for (int i = 0; i < 3; i++) {
		PX_STRUCT line_place p = line_at(window, c.du, c.dv);
		PX_STRUCT line_across across = line_across_of(p.xx, p.xy, p.yy);
		PX_F t = line_offset(across, p.x, p.y), du = p.du + t * across.nu;
		PX_F dv = p.dv + t * across.nv;

		if (px_isnan(across.lambda) || px_isnan(t) || !(-across.lambda > low) ||
		    !(px_abs(t) <= 1.0f))
			return c;
		c.nu = across.nu;
		c.nv = across.nv;
		c.response = -across.lambda;
		c.du = du;
		c.dv = dv;
		if (!(px_abs(c.du) <= 1.0f && px_abs(c.dv) <= 1.0f))
			return c;
		if (px_abs(t) < 0.06f)
			break;
	}
	/* a little more than half, so that a point between two pixels is in one of them at least:
	 * the finder keeps one of both */
	c.is = px_abs(c.du) <= 0.52f && px_abs(c.dv) <= 0.52f;
	return c;
}

/* ---- the sides of a line ---- */

/* Gradient and second derivative along the normal at distance s from the point. */
struct line_side {
	float s, first, second;
};

PX_FN PX_STRUCT line_side
line_side_at(LINE_WINDOW window, PX_STRUCT line_found c, float s)
{
	PX_STRUCT line_side side;
	PX_F u = c.nu, v = c.nv, du = c.du + s * u, dv = c.dv + s * v;
	PX_STRUCT line_place p = line_at(window, du, dv);
	/* where the kernels really stand */
	PX_F at = (p.du - c.du) * u + (p.dv - c.dv) * v, first = p.x * u + p.y * v;
	PX_F second = p.xx * u * u + 2.0f * p.xy * u * v + p.yy * v * v;

	side.s = at;
	side.first = first;
	side.second = second;
	return side;
}

/* q of (1 - q) exp(-q/2) = ratio, the second derivative of a Gaussian over that at its middle, q
 * the squared distance over its variance; 0.02 to 2.9. */
PX_FN float
line_gaussian_place(float ratio)
{
	PX_F q = 1.0f - ratio * (1.65f - ratio);

	LINE_LOOP for (int i = 0; i < 2; i++) {
		PX_F e = px_exp(-q * 0.5f);
		PX_F more = px_divide((1.0f - q) * e - ratio, e * (3.0f - q) * 0.5f);

		q = px_min(px_max(q + more, 0.02f), 2.9f);
	}
	return q;
}

/* An inflection point: its distance from the point, NaN where there is none within reach, and the
 * gradient there. */
struct line_edge {
	float distance, gradient;
};

/*
 * The inflection point on one side (sign 1 or -1), where the second derivative along the normal is
 * 0: a Gaussian through the one at the point and the one at a distance gives a first estimate,
 * secants the result.
 */
PX_FN PX_STRUCT line_edge
line_inflection(LINE_WINDOW window, PX_STRUCT line_found c, float sigma, float most, float sign)
{
	PX_STRUCT line_edge edge;
	PX_F least = sigma * 0.5f, start = sigma * 1.35f, there = sign * start;
	PX_STRUCT line_side a = line_side_at(window, c, there), b;
	PX_F ratio = px_divide(-a.second, c.response), s = a.s * sign;
	PX_F root = px_sqrt(line_gaussian_place(px_min(px_max(ratio, -0.42f), 1.0f)));
	PX_F near = c.response * 0.1f, nearer = c.response * 0.05f, nearest = c.response * 1e-3f;

	s = px_divide(s, root);
	edge.distance = PX_NAN;
	edge.gradient = px_abs(a.first);
	if (px_isnan(s) || px_isnan(a.second))
		return edge;
	if (px_abs(a.second) < near) {
		/* so near that another step gives the same */
		edge.distance = px_select(s < most, s, PX_NAN);
		return edge;
	}
	LINE_LOOP for (int i = 0; i < 4; i++) {
		PX_F change, rise;

		s = px_min(px_max(s, least), most);
		there = sign * s;
		b = line_side_at(window, c, there);
		edge.gradient = px_abs(b.first);
		if (px_isnan(b.second))
			return edge;
		if (a.second == b.second || px_abs(b.second) < nearest) {
			edge.distance = b.s * sign;
			return edge;
		}
		rise = b.second - a.second;
		change = px_divide(b.second * (b.s - a.s), rise);
		s = (b.s - change) * sign;
		if (px_isnan(s))
			return edge;
		if (px_abs(b.second) < nearer)
			break;
		a = b;
	}
	edge.distance = px_select(s > least && s < most, s, PX_NAN);
	return edge;
}

/* Twice the standard deviation of a Gaussian line whose inflection points lie at d on average when
 * smoothed. */
PX_FN float
line_width(float d, float variance)
{
	PX_F root = px_sqrt(d * d - variance);

	return d * d > variance ? 2.0f * root : d * d <= variance ? 0.0f : PX_NAN;
}

#endif
