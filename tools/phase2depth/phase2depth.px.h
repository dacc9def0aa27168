/*
 * Depth and shape from absolute phase (methods §8): z = c (PHI - PHI_ref) [Karpinsky 2014 §3.5],
 * and where the camera's ray meets the projector's column [Zhang 2006 eq 12-18].
 */
#include "base/px.h"

/* PHI - PHI_ref; NaN where either is missing. */
PX_FN float
phase2depth_above(float phase, float ref)
{
	return px_select(px_isnan(phase) || px_isnan(ref), PX_NAN, phase - ref);
}

/* 2 pi in two parts: a few whole turns of the first are exact. */
#define PHASE2DEPTH_TURN 6.28125f
#define PHASE2DEPTH_TURN_REST 0.0019353071795864769f

/* Whole turns that bring d radians into (-pi, pi]. */
PX_FN float
phase2depth_turns(float d)
{
	return 0.0f - px_floor(0.5f - d * (0.5f / PX_PI));
}

/* The difference of two wrapped phases within half a turn either way, (-pi, pi]. */
PX_FN float
phase2depth_half_turn(float d)
{
	PX_F turns = phase2depth_turns(d);
	PX_F rest = (d - turns * PHASE2DEPTH_TURN) - turns * PHASE2DEPTH_TURN_REST;

	return px_select(px_isnan(d), PX_NAN, rest);
}

/* Shaders for devices without doubles define PHASE2DEPTH_NO_DOUBLES. */
#ifndef PHASE2DEPTH_NO_DOUBLES
/* The same for an ideal plane; one rounding. */
PX_FN float
phase2depth_above_plane(float phase, double plane)
{
	return px_select(px_isnan(phase), PX_NAN, px_float(px_double(phase) - plane));
}
#endif

#ifndef PHASE2DEPTH_NO_DOUBLES
/* A wrapped phase above an ideal plane of many turns, within half a turn either way. */
PX_FN float
phase2depth_half_turn_plane(float phase, double plane)
{
	PX_D d = px_double(phase) - plane;
	PX_D turns = px_double(phase2depth_turns(px_float(d)));
	PX_D turn = px_double(PHASE2DEPTH_TURN) + px_double(PHASE2DEPTH_TURN_REST);

	return px_select(px_isnan(phase), PX_NAN, px_float(d - turns * turn));
}
#endif

/* One step of Horner's rule without the constant term: sum + c stands for c1 + c2 d + ... */
PX_FN float
phase2depth_horner(float sum, float c, float d)
{
	return px_select(px_isnan(d) || px_isnan(c), PX_NAN, (sum + c) * d);
}

/* One step of Horner's rule for the derivative of depth: sum d + power c. */
PX_FN float
phase2depth_slope(float sum, float c, float d, float power)
{
	PX_F product = sum * d;

	return product + power * c;
}

/* The standard deviation of what changes by `slope` for each radian of phase and of its reference;
 * NaN where one of theirs is. */
PX_FN float
phase2depth_sigma(float slope, float sigma, float ref_sigma)
{
	PX_F own = sigma * sigma, both = own + ref_sigma * ref_sigma;
	PX_F root = px_sqrt(px_select(both > 0.0f, both, 0.0f));
	bool known = px_both(px_abs(slope) < 1e30f, px_both(px_abs(sigma) < 1e9f,
	    px_abs(ref_sigma) < 1e9f));

	return px_select(known, px_abs(slope) * root, PX_NAN);
}

/* A table's value between two of its places, and one step of Horner's rule. */
PX_FN float
phase2depth_between(float a, float b, float part)
{
	PX_F rise = b - a;

	return a + part * rise;
}

PX_FN float
phase2depth_power(float sum, float at, float c)
{
	PX_F product = sum * at;

	return product + c;
}

/* The root of a variance out of the logarithm of variance and offset; `at` is the place along the
 * ray, -1 to 1, beyond which there is none. */
PX_FN float
phase2depth_deviation(float logarithm, float at, float offset)
{
	PX_F variance = px_exp(logarithm) - offset;
	bool known = px_both(px_abs(at) <= 1.0f, px_abs(logarithm) < 80.0f);

	return px_select(known, px_sqrt(px_select(variance > 0.0f, variance, 0.0f)), PX_NAN);
}

/* NaN outside the limits. */
PX_FN float
phase2depth_within(float z, float least, float most)
{
	return px_select(!px_isnan(z) && z >= least && z <= most, z, PX_NAN);
}

#ifndef PHASE2DEPTH_NO_DOUBLES
/* These three for a single c; NaN is not within limits. */
PX_FN float
phase2depth_plain(float phase, double plane, float c, float least, float most)
{
	PX_F z = (0.0f + c) * px_float(px_double(phase) - plane);

	return px_select(px_both(z >= least, z <= most), z, PX_NAN);
}

/*
 * Distance along the camera's axis of the point that appears in the projector's column `code`: of
 * the homogeneous (a_code + s b_code)/(a_w + s b_w) = code, solved for s.
 */
PX_FN double
phase2depth_distance(double code, double a_code, double a_w, double b_code, double b_w)
{
	return (a_code - code * a_w) / (code * b_w - b_code);
}
#endif

#ifndef PHASE2DEPTH_NO_DOUBLES
/* The column that a point at distance s appears in, without the lens, and how s changes with it. */
PX_FN double
phase2depth_code(double s, double a_code, double a_w, double b_code, double b_w)
{
	return (a_code + s * b_code) / (a_w + s * b_w);
}

PX_FN double
phase2depth_per_code(double s, double a_code, double a_w, double b_code, double b_w)
{
	PX_D w = a_w + s * b_w;

	return w * w / (b_code * a_w - b_w * a_code);
}
#endif

#ifndef PHASE2DEPTH_NO_DOUBLES
/* A coordinate of the camera's ray without the lens: what the table adds, in its unit. The least
 * number of the table stands for no ray. */
#define PHASE2DEPTH_NO_RAY (-0x7fffffff - 1)

PX_FN double
phase2depth_unbent(double x, int shift, double unit)
{
	PX_D added = unit * px_double(shift);

	return x + added;
}
#endif

/* How far ahead of the camera a point of the world lies. */
#define PHASE2DEPTH_AHEAD(R, T, x, y, z) \
	((R)[2] * ((x) - (T)[0]) + ((R)[5] * ((y) - (T)[1]) + (R)[8] * ((z) - (T)[2])))

/* A row of a matrix, m, times the ray (x, y, 1). Without a lens y is the row's, and the sum in
 * brackets is the same for all its pixels. */
#define PHASE2DEPTH_ALONG(m, first, x, y) \
	((m)[first] * (x) + ((m)[(first) + 1] * (y) + (m)[(first) + 2]))

/* Coordinate i (0 x, 1 y, 2 z) in the world of the point at `s` times the ray (x, y, 1). */
#define PHASE2DEPTH_WORLD(R, T, i, x, y, s) \
	px_float((s) * PHASE2DEPTH_ALONG(R, 3 * (i), x, y) + (T)[i])

/* The projector's lens (OpenCV's terms), with the coded coordinate in the place of x. Not 16
 * floats: gcc 12 copies 64 bytes as one and then makes no vectors of the loops that read them. */
struct phase2depth_lens {
	float k1, k2, k3, k4, k5, k6, p1, p2, s1, s2, s3, s4;
	float focal_px, skew_px, center_px;
};

struct phase2depth_change {
	float shift, derivative;
};

/*
 * What the lens adds to the coded coordinate, in pixels, for normalised x (coded) on the line
 * y = slope x + offset, and how that changes with x. Shifts are summed by themselves, not
 * as differences, so that small ones keep their digits. `plain`: k4 to k6, s1 to s4 and the
 * skew are zero.
 */
PX_FN PX_STRUCT phase2depth_change
phase2depth_shift(PX_STRUCT phase2depth_lens lens, float x, float slope, float offset, bool plain)
{
	PX_STRUCT phase2depth_change change;
	PX_F y = slope * x + offset, r2 = x * x + y * y;
	PX_F r2_x = 2.0f * (x + y * slope);
	PX_F c = r2 * (lens.k1 + r2 * (lens.k2 + r2 * lens.k3));	/* radial factor less 1 */
	PX_F c_x = (lens.k1 + r2 * (2.0f * lens.k2 + r2 * (3.0f * lens.k3))) * r2_x;
	PX_F factor, factor_x, shift_x, shift_x_x, shift_y, shift_y_x;

	if (!plain) {
		PX_F den = r2 * (lens.k4 + r2 * (lens.k5 + r2 * lens.k6));
		PX_F den_x = (lens.k4 + r2 * (2.0f * lens.k5 + r2 * (3.0f * lens.k6))) * r2_x;
		PX_F one = px_divide(1.0f, 1.0f + den);

		c = (c - den) * one;
		c_x = (c_x - (1.0f + c) * den_x) * one;
	}
	factor = c + 2.0f * (lens.p1 * y + lens.p2 * x);
	factor_x = c_x + 2.0f * (lens.p1 * slope + lens.p2);
	shift_x = x * factor + lens.p2 * r2;
	shift_y = y * factor + lens.p1 * r2;
	shift_x_x = factor + x * factor_x + lens.p2 * r2_x;
	shift_y_x = slope * factor + y * factor_x + lens.p1 * r2_x;
	if (plain) {
		change.shift = lens.focal_px * shift_x;
		change.derivative = lens.focal_px * shift_x_x;
	} else {
		shift_x = shift_x + r2 * (lens.s1 + r2 * lens.s2);
		shift_y = shift_y + r2 * (lens.s3 + r2 * lens.s4);
		shift_x_x = shift_x_x + (lens.s1 + 2.0f * lens.s2 * r2) * r2_x;
		shift_y_x = shift_y_x + (lens.s3 + 2.0f * lens.s4 * r2) * r2_x;
		change.shift = lens.focal_px * shift_x + lens.skew_px * shift_y;
		change.derivative = lens.focal_px * shift_x_x + lens.skew_px * shift_y_x;
	}
	return change;
}

#ifndef PHASE2DEPTH_NO_DOUBLES
/* The same lens, and the lines in its picture that the camera's rays are, in doubles. Floats make
 * the shift wrong by 5e-5 px at 48 degrees from the axis (root mean square, alone, 1e-5 as the
 * lens's terms, 7e-6 in the radial sum, 3e-6 as the ray), more than a phase near 0 is. */
struct phase2depth_exact_lens {
	double k1, k2, k3, k4, k5, k6, p1, p2, s1, s2, s3, s4;
	double focal_px, skew_px, center_px;
	double line[9]; /* row-major, times (x, y, 1) of the camera: l0 code + l1 other + l2 = 0 */
	double bend;	/* what a step of Newton's method leaves: phase2depth_next() */
	double fold_square;	/* at that square of the radius the lens folds back */
};

/* The shift itself. */
PX_FN double
phase2depth_exact_shift(PX_STRUCT phase2depth_exact_lens lens, double x, double y, bool plain)
{
	PX_D r2 = x * x + y * y, tangential = 2.0 * (lens.p1 * y + lens.p2 * x);
	PX_D c = r2 * (lens.k1 + r2 * (lens.k2 + r2 * lens.k3)), shift_x, shift_y;

	if (!plain) {
		PX_D den = r2 * (lens.k4 + r2 * (lens.k5 + r2 * lens.k6));

		c = (c - den) / (1.0 + den);
	}
	shift_x = x * (c + tangential) + lens.p2 * r2;
	if (plain)
		return lens.focal_px * shift_x;
	shift_x = shift_x + r2 * (lens.s1 + r2 * lens.s2);
	shift_y = y * (c + tangential) + lens.p1 * r2 + r2 * (lens.s3 + r2 * lens.s4);
	return lens.focal_px * shift_x + lens.skew_px * shift_y;
}

/* The ray through the camera's normalised (x, y) in the projector's picture, normalised: other
 * coordinate = slope coded coordinate + offset. */
struct phase2depth_exact_ray {
	double slope, offset;
};

PX_FN PX_STRUCT phase2depth_exact_ray
phase2depth_ray_of(PX_STRUCT phase2depth_exact_lens lens, double x, double y)
{
	PX_D l0 = PHASE2DEPTH_ALONG(lens.line, 0, x, y);
	PX_D l1 = PHASE2DEPTH_ALONG(lens.line, 3, x, y);
	PX_D l2 = PHASE2DEPTH_ALONG(lens.line, 6, x, y);
	PX_D one = -1.0 / l1;
	PX_STRUCT phase2depth_exact_ray ray = { l0 * one, l2 * one };

	return ray;
}
#endif

/* A ray in floats. */
struct phase2depth_ray {
	float slope, offset;
};

#ifndef PHASE2DEPTH_NO_DOUBLES
PX_FN PX_STRUCT phase2depth_ray
phase2depth_rounded(PX_STRUCT phase2depth_exact_ray exact)
{
	PX_STRUCT phase2depth_ray ray = { px_float(exact.slope), px_float(exact.offset) };

	return ray;
}
#endif

/* Pixels of the undone picture by one of the normalised coordinate, along a ray. */
PX_FN float
phase2depth_per_x(PX_STRUCT phase2depth_lens lens, float slope, bool plain)
{
	PX_F aside = lens.skew_px * slope;

	return px_select(plain, lens.focal_px, lens.focal_px + aside);
}

/* The normalised coordinate that `code` pixels were on a ray if there were no lens. */
PX_FN float
phase2depth_bare(PX_STRUCT phase2depth_lens lens, float code, PX_STRUCT phase2depth_ray ray,
    bool plain)
{
	PX_F aside = px_select(plain, 0.0f, lens.skew_px * ray.offset);
	PX_F one = px_divide(1.0f, phase2depth_per_x(lens, ray.slope, plain));

	return (code - (lens.center_px + aside)) * one;
}

/* Newton's first step, from there; in floats, as a further one follows. */
PX_FN float
phase2depth_first_step(PX_STRUCT phase2depth_lens lens, PX_STRUCT phase2depth_ray ray, float bare,
    bool plain)
{
	PX_STRUCT phase2depth_change c =
	    phase2depth_shift(lens, bare, ray.slope, ray.offset, plain);
	PX_F derivative = phase2depth_per_x(lens, ray.slope, plain) + c.derivative;

	return bare - px_divide(c.shift, derivative);
}

#ifndef PHASE2DEPTH_NO_DOUBLES
/* A further step: to p. */
struct phase2depth_step {
	double code;		/* the undone coordinate there, in pixels */
	float p;
	bool found;		/* within 0.1 px before the step, and within the lens's fold */
	bool unsettled;		/* one more step would change the code by PHASE2DEPTH_MISS_PX */
};

#define PHASE2DEPTH_MISS_PX 1e-7f

/*
 * From p. With what it has to go, the rest, the curvature along the ray makes it miss by the rest
 * squared times bend over the derivative cubed, in PHASE2DEPTH_MISS_PX.
 */
PX_FN PX_STRUCT phase2depth_step
phase2depth_next(PX_STRUCT phase2depth_lens lens, PX_STRUCT phase2depth_exact_lens exact,
    PX_STRUCT phase2depth_ray ray, PX_STRUCT phase2depth_exact_ray exact_ray, double code, float p,
    bool plain)
{
	PX_STRUCT phase2depth_step step;
	PX_STRUCT phase2depth_change c = phase2depth_shift(lens, p, ray.slope, ray.offset, plain);
	PX_F per_x = phase2depth_per_x(lens, ray.slope, plain), derivative = per_x + c.derivative;
	PX_D x = px_double(p), y = exact_ray.slope * x + exact_ray.offset;
	PX_D aside = px_select(plain, 0.0, exact.skew_px * y);
	PX_D shift = phase2depth_exact_shift(exact, x, y, plain);
	PX_D bare = exact.focal_px * x + (exact.center_px + aside);
	PX_D undone = code - shift;
	PX_F rest = px_float(undone - bare), along = rest * px_divide(1.0f, derivative);
	PX_F cube = derivative * derivative * px_abs(derivative);
	PX_F other = ray.slope * p + ray.offset, square = p * p + other * other;
	bool folds = !(derivative * per_x > 0.0f);
	bool within = square < px_float(exact.fold_square);

	step.code = undone - px_double(along * c.derivative);
	step.p = p + along;
	step.found = px_both(px_both(px_abs(rest) < 0.1f, !folds), within);
	step.unsettled = rest * rest * px_float(exact.bend) >= px_select(folds, 0.0f, cube);
	return step;
}

#define PHASE2DEPTH_STEPS 7	/* at most, behind the first one */

/* By how much the undone coordinate changes with the coded one. */
PX_FN float
phase2depth_undone(PX_STRUCT phase2depth_lens lens, double code, PX_STRUCT phase2depth_ray ray,
    bool plain)
{
	PX_F p = phase2depth_bare(lens, px_float(code), ray, plain);
	PX_F per_x = phase2depth_per_x(lens, ray.slope, plain);
	PX_STRUCT phase2depth_change c = phase2depth_shift(lens, p, ray.slope, ray.offset, plain);

	return px_divide(per_x, per_x + c.derivative);
}
#endif
