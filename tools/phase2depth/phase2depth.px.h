/*
 * Depth and shape from absolute phase (methods §8): z = c (PHI - PHI_ref) [Karpinsky 2014 §3.5], and
 * where the camera's ray meets the projector's column [Zhang 2006 eq 12-18].
 */
#include "px.h"

#ifdef GL_core_profile
#define PX_D precise double
#define px_double(x) double(x)
#else
#define PX_D double
#define px_double(x) ((double)(x))
#endif

/* PHI - PHI_ref; NaN where either is missing. */
PX_FN float
phase2depth_above(float phase, float ref)
{
	return px_select(px_isnan(phase) || px_isnan(ref), PX_NAN, phase - ref);
}

/* The same for an ideal plane; one rounding. */
PX_FN float
phase2depth_above_plane(float phase, PX_D plane)
{
	return px_select(px_isnan(phase), PX_NAN, px_float(px_double(phase) - plane));
}

/* One step of Horner's rule without the constant term: sum + c stands for c1 + c2 d + ... */
PX_FN float
phase2depth_horner(float sum, float c, float d)
{
	return px_select(px_isnan(d) || px_isnan(c), PX_NAN, (sum + c) * d);
}

/*
 * Distance along the camera's axis of the point that appears in the projector's column `code`: of the
 * homogeneous (a_code + s b_code)/(a_w + s b_w) = code, solved for s.
 */
PX_FN PX_D
phase2depth_distance(PX_D code, PX_D a_code, PX_D a_w, PX_D b_code, PX_D b_w)
{
	return (a_code - code * a_w) / (code * b_w - b_code);
}

/* Terms of the projector's lens (OpenCV), with the coded coordinate in the place of x. */
struct phase2depth_lens {
	float k1, k2, k3, k4, k5, k6, p1, p2, s1, s2, s3, s4;
	float focal_px, skew_px;
};

/*
 * What the lens adds to the coded coordinate, in pixels, for normalised x (coded) on the line
 * y = slope x + offset (all points of a camera's ray), and *derivative: how that changes with x. The
 * 1 is kept out of the sums, so that small distortions keep their digits.
 */
PX_FN float
phase2depth_shift(const struct phase2depth_lens *lens, float x, float slope, float offset,
    float *derivative)
{
	PX_F y = slope * x + offset;
	PX_F r2 = x * x + y * y;
	PX_F den = 1.0f + r2 * (lens->k4 + r2 * (lens->k5 + r2 * lens->k6));
	PX_F num = r2 * (lens->k1 - lens->k4 + r2 * (lens->k2 - lens->k5 + r2 * (lens->k3 - lens->k6)));
	PX_F one = 1.0f / den;
	PX_F c = num * one;			/* radial factor less 1 */
	PX_F num_r2 = lens->k1 + r2 * (2.0f * lens->k2 + r2 * (3.0f * lens->k3));
	PX_F den_r2 = lens->k4 + r2 * (2.0f * lens->k5 + r2 * (3.0f * lens->k6));
	PX_F c_x = (num_r2 - (1.0f + c) * den_r2) * one * (2.0f * (x + y * slope));
	PX_F r2_x = 2.0f * (x + y * slope);
	PX_F prism_x = lens->s1 + 2.0f * lens->s2 * r2, prism_y = lens->s3 + 2.0f * lens->s4 * r2;
	PX_F xy_x = y + x * slope;		/* of x y */
	PX_F shift_x = x * c + 2.0f * lens->p1 * x * y + lens->p2 * (r2 + 2.0f * x * x) +
	    r2 * (lens->s1 + r2 * lens->s2);
	PX_F shift_y = y * c + lens->p1 * (r2 + 2.0f * y * y) + 2.0f * lens->p2 * x * y +
	    r2 * (lens->s3 + r2 * lens->s4);
	PX_F shift_x_x = c + x * c_x + 2.0f * lens->p1 * xy_x + lens->p2 * (r2_x + 4.0f * x) +
	    prism_x * r2_x;
	PX_F shift_y_x = slope * c + y * c_x + lens->p1 * (r2_x + 4.0f * y * slope) +
	    2.0f * lens->p2 * xy_x + prism_y * r2_x;

	*derivative = lens->focal_px * shift_x_x + lens->skew_px * shift_y_x;
	return lens->focal_px * shift_x + lens->skew_px * shift_y;
}

/*
 * What is to be taken off the coded coordinate to undo the lens. `coded` is focal x + skew y + shift,
 * the pixel less the principal point. Four steps of Newton's method; NaN where the lens folds back or
 * the steps have not settled to a hundredth of a pixel.
 */
PX_FN float
phase2depth_undo_lens(const struct phase2depth_lens *lens, float coded, float slope, float offset)
{
	PX_F per_x = lens->focal_px + lens->skew_px * slope;
	PX_F start = lens->skew_px * offset;
	PX_F x = (coded - start) / per_x;
	PX_F derivative, shift, rest;

#define PHASE2DEPTH_STEP() do { \
	shift = phase2depth_shift(lens, x, slope, offset, &derivative); \
	rest = coded - start - per_x * x - shift; \
	x = x + rest / (per_x + derivative); \
} while (false)
	PHASE2DEPTH_STEP();
	PHASE2DEPTH_STEP();
	PHASE2DEPTH_STEP();
	PHASE2DEPTH_STEP();
#undef PHASE2DEPTH_STEP
	shift = phase2depth_shift(lens, x, slope, offset, &derivative);
	rest = coded - start - per_x * x - shift;
	return px_select(px_abs(rest) < 0.01f && (per_x + derivative) * per_x > 0.0f, shift, PX_NAN);
}
