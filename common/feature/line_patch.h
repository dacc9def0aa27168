/*
 * A candidate of the line detector between pixels: derivatives there, the Newton step, the width.
 * Included by line_loops.h.
 */
#ifndef LINE_PATCH_H
#define LINE_PATCH_H

#include "base/px.h"
#include "feature/line_asymmetry.h"
#include "feature/line_level.h"
#include "feature/line_pixels.h"

/* ---- derivatives between pixels ---- */

/* Half the pixels in a row of a window: the kernel and its Newton steps, a side's distance,
 * rounding. */
static inline size_t
line_window_half(const struct line_filter *f, size_t reach)
{
	return f->kernels.radius + reach + 3;
}

static inline size_t
line_window_stride(size_t half)
{
	return (2 * half + LINE_LANES) / LINE_LANES * LINE_LANES;
}

/* Floats for the largest window and what belongs to it. */
static inline size_t
line_patch_work(const struct line_filter *f)
{
	size_t half = line_window_half(f, f->reach);

	/* the last row's kernel may end in lanes behind it */
	return (2 * half + 1) * line_window_stride(half) + 4 * f->room;
}

/* The pixels about a candidate: 2 half + 1 rows, of as many columns at least, `stride` apart. */
struct line_window {
	float *v;
	size_t half, stride;
	float reach;		/* how far from the point its sides may be sought, px */
	float *sums;		/* memory for line_derivatives() */
};

typedef float line_lanes __attribute__((vector_size(4 * LINE_LANES), aligned(4), may_alias));

/* Rows of whole vectors of an image of uchar without background. */
static inline void
line_load_uchar(const unsigned char *from, size_t stride, float sign, struct line_window *to)
{
	typedef uint8_t byte_lanes __attribute__((vector_size(LINE_LANES), aligned(1), may_alias));
	typedef int32_t whole_lanes __attribute__((vector_size(4 * LINE_LANES)));

	for (size_t i = 0; i <= 2 * to->half; i++, from += stride) {
		for (size_t x = 0; x < to->stride; x += LINE_LANES) {
			byte_lanes bytes = *(const byte_lanes *)(from + x);
			whole_lanes whole = __builtin_convertvector(bytes, whole_lanes);

			*(line_lanes *)(to->v + i * to->stride + x) =
			    __builtin_convertvector(whole, line_lanes) * sign;
		}
	}
}

/* Fills the window with the pixels about (x, y). */
static inline void
line_load_window(const struct line_filter *f, const struct line_image *image, size_t x, size_t y,
    size_t reach, struct line_window *to)
{
	size_t half = line_window_half(f, reach);
	const struct line_plane *plane = &image->image;

	to->half = half;
	to->stride = line_window_stride(half);
	to->reach = (float)reach;
	if (x >= half && y >= half && x - half + to->stride <= image->w && y + half < image->h &&
	    plane->type == SAMPLE_UCHAR && !image->background.v) {
		line_load_uchar((const unsigned char *)plane->v + (y - half) * plane->stride + x -
		    half, plane->stride, image->dark ? -1 : 1, to);
		return;
	}
	for (size_t i = 0; i <= 2 * half; i++) {
		line_span_beyond(image, (ptrdiff_t)y - (ptrdiff_t)half + (ptrdiff_t)i,
		    (ptrdiff_t)x - (ptrdiff_t)half, 2 * half + 1, to->v + i * to->stride);
	}
}

static inline float
line_sum(line_lanes v)
{
	float s[LINE_LANES];

	memcpy(s, &v, sizeof(s));
	for (size_t n = LINE_LANES / 2; n; n /= 2) {
		for (size_t i = 0; i < n; i++)
			s[i] += s[i + n];
	}
	return s[0];
}

/* A point between pixels and what was found there. */
struct line_place {
	float du, dv;		/* from the patch's middle, px */
	float five[DERIVATIVES];
};

/* The three sums down LINE_LANES columns of the window. Odd and even taps are added apart, which
 * takes half the time. */
static inline void
line_down(const struct line_filter *f, const float *from, size_t stride, const float *weight,
    float *sums)
{
	size_t n = f->taps;
	const float *w0 = weight, *w1 = weight + f->room, *w2 = weight + 2 * f->room;
	line_lanes a = *(const line_lanes *)from;
	line_lanes a0 = a * w0[0], a1 = a * w1[0], a2 = a * w2[0], b0 = a - a, b1 = b0, b2 = b0;

	for (size_t j = 1; j + 1 < n; j += 2) {
		line_lanes b = *(const line_lanes *)(from + j * stride);

		a = *(const line_lanes *)(from + (j + 1) * stride);
		b0 += b * w0[j];
		b1 += b * w1[j];
		b2 += b * w2[j];
		a0 += a * w0[j + 1];
		a1 += a * w1[j + 1];
		a2 += a * w2[j + 1];
	}
	*(line_lanes *)sums = a0 + b0;
	*(line_lanes *)(sums + f->room) = a1 + b1;
	*(line_lanes *)(sums + 2 * f->room) = a2 + b2;
}

/*
 * The five derivatives at the point, which is moved to the nearest 1/LINE_STEPS px, with kernels
 * sampled there. The point is no farther from the window's middle than reach + 1.
 */
static inline void
line_derivatives(const struct line_filter *f, const struct line_window *window,
    struct line_place *p)
{
	int iu = (int)px_floor(p->du + 0.5f), iv = (int)px_floor(p->dv + 0.5f);
	int qu = (int)px_floor((p->du - (float)iu) * LINE_STEPS + 0.5f);
	int qv = (int)px_floor((p->dv - (float)iv) * LINE_STEPS + 0.5f);
	const float *wu = f->weight + (size_t)(qu + LINE_STEPS / 2) * 3 * f->room;
	const float *wv = f->weight + (size_t)(qv + LINE_STEPS / 2) * 3 * f->room;
	size_t n = f->taps, half = window->half - n / 2;
	const float *from = window->v + (size_t)((ptrdiff_t)half + iv) * window->stride +
	    (size_t)((ptrdiff_t)half + iu);
	float *sums = window->sums;
	line_lanes x, y, xx, xy, yy;

	p->du = (float)iu + (float)qu * (1.0f / LINE_STEPS);
	p->dv = (float)iv + (float)qv * (1.0f / LINE_STEPS);
	for (size_t i = 0; i < f->room; i += LINE_LANES)
		line_down(f, from + i, window->stride, wv, sums + i);
	/* pixels that lie beyond the kernel's end may be NaN */
	for (size_t i = n; i < f->room; i++)
		sums[i] = sums[f->room + i] = sums[2 * f->room + i] = 0;
	x = y = xx = xy = yy = (line_lanes){ 0 };
	for (size_t i = 0; i < f->room; i += LINE_LANES) {
		line_lanes s0 = *(const line_lanes *)(sums + i);
		line_lanes s1 = *(const line_lanes *)(sums + f->room + i);
		line_lanes s2 = *(const line_lanes *)(sums + 2 * f->room + i);
		line_lanes g = *(const line_lanes *)(wu + i);
		line_lanes g1 = *(const line_lanes *)(wu + f->room + i);

		x += s0 * g1;
		y += s1 * g;
		xx += s0 * *(const line_lanes *)(wu + 2 * f->room + i);
		xy += s1 * g1;
		yy += s2 * g;
	}
	p->five[DERIVATIVE_X] = line_sum(x);
	p->five[DERIVATIVE_Y] = line_sum(y);
	p->five[DERIVATIVE_XX] = line_sum(xx);
	p->five[DERIVATIVE_XY] = line_sum(xy);
	p->five[DERIVATIVE_YY] = line_sum(yy);
}

static inline float line_normal(float xx, float xy, float yy, float *nu, float *nv);
static inline float line_abs(float x);

/* ---- the sides of a line ---- */

/* Gradient and second derivative along the normal at distance s from the point. */
struct line_side {
	float s, first, second;
};

static inline void
line_side_at(const struct line_filter *f, const struct line_candidate *c,
    const struct line_window *window, float s, struct line_side *side)
{
	struct line_place p = { .du = c->du + s * c->nu, .dv = c->dv + s * c->nv };
	float u = c->nu, v = c->nv;

	line_derivatives(f, window, &p);
	/* where the kernels really stand */
	side->s = (p.du - c->du) * u + (p.dv - c->dv) * v;
	side->first = p.five[DERIVATIVE_X] * u + p.five[DERIVATIVE_Y] * v;
	side->second = p.five[DERIVATIVE_XX] * u * u + 2 * p.five[DERIVATIVE_XY] * u * v +
	    p.five[DERIVATIVE_YY] * v * v;
}

/* q of (1 - q) exp(-q/2) = ratio, the second derivative of a Gaussian over that at its middle, q
 * the squared distance over its variance; 0.02 to 2.9. */
static inline float
line_gaussian_place(float ratio)
{
	float q = 1 - ratio * (1.65f - ratio);

	for (int i = 0; i < 2; i++) {
		float e = px_exp(-q * 0.5f);

		q += ((1 - q) * e - ratio) / (e * (3 - q) * 0.5f);
		q = px_min(px_max(q, 0.02f), 2.9f);
	}
	return q;
}

/*
 * The inflection point on one side (sign 1 or -1), where the second derivative along the normal is
 * 0: a Gaussian through the one at the point and the one at a distance gives a first estimate,
 * secants the result. NaN where there is none within reach.
 */
static inline float
line_inflection(const struct line_filter *f, const struct line_candidate *c,
    const struct line_window *window, float sign, float start, struct line_side *end)
{
	float most = window->reach, least = (float)f->kernels.sigma * 0.5f, s;
	struct line_side a, b;

	line_side_at(f, c, window, sign * start, &a);
	s = a.s * sign;
	s = s / px_sqrt(line_gaussian_place(px_min(px_max(-a.second / c->response, -0.42f), 1.0f)));
	*end = a;
	if (line_abs(a.second) < c->response * 0.1f)
		return s < most ? s : PX_NAN;	/* so near that another step gives the same */
	for (int i = 0; i < 4; i++) {
		s = px_min(px_max(s, least), most);
		if (!(s <= most))
			return PX_NAN;
		line_side_at(f, c, window, sign * s, &b);
		*end = b;
		if (a.second == b.second || line_abs(b.second) < c->response * 1e-3f)
			return b.s * sign;
		s = (b.s - b.second * (b.s - a.s) / (b.second - a.second)) * sign;
		if (line_abs(b.second) < c->response * 0.05f)
			break;
		a = b;
	}
	return s > least && s < most ? s : PX_NAN;
}

/* ---- a candidate ---- */

/* Newton steps from the plain point on: one, and another one where that was long. */
static inline bool
line_newton(const struct line_filter *f, const struct line_window *window,
    struct line_candidate *c)
{
	for (int step = 0; step < 3; step++) {
		struct line_place p = { .du = c->du, .dv = c->dv };
		float lambda, t;

		line_derivatives(f, window, &p);
		lambda = line_normal(p.five[DERIVATIVE_XX], p.five[DERIVATIVE_XY],
		    p.five[DERIVATIVE_YY], &c->nu, &c->nv);
		t = -(c->nu * p.five[DERIVATIVE_X] + c->nv * p.five[DERIVATIVE_Y]) / lambda;
		if (!(-lambda > f->low) || !(line_abs(t) <= 1))
			return false;
		c->response = -lambda;
		c->du = p.du + t * c->nu;
		c->dv = p.dv + t * c->nv;
		if (!(line_abs(c->du) <= 1 && line_abs(c->dv) <= 1))
			return false;
		if (line_abs(t) < 0.06f)
			break;
	}
	/* a little more than half, so that a point between two pixels is in one of them at least:
	 * the finder keeps one of both */
	return line_abs(c->du) <= 0.52f && line_abs(c->dv) <= 0.52f;
}

/* Moves the point back towards the side of the stronger gradient. */
static inline void
line_correct(const struct line_filter *f, struct line_candidate *c, float half_width,
    float left_gradient, float right_gradient)
{
	float sigma = (float)f->kernels.sigma;
	float shift = sigma * line_asymmetry_shift(f->asymmetry, half_width / sigma, left_gradient,
	    right_gradient);

	if (left_gradient < right_gradient)
		shift = -shift;
	c->du -= shift * c->nu;
	c->dv -= shift * c->nv;
}

static bool
line_refine(const struct line_filter *f, const struct line_image *image, float *work,
    struct line_candidate *c)
{
	float variance = (float)(f->kernels.sigma * f->kernels.sigma), left, right, d;
	float start = (float)f->kernels.sigma * 1.35f;
	struct line_side sides[2] = { { 0 } };
	struct line_window window = { .v = work + 3 * f->room, .sums = work };

	line_load_window(f, image, c->x, c->y, f->near_reach, &window);
	if (!f->options.plain && !line_newton(f, &window, c))
		return false;
	left = line_inflection(f, c, &window, -1, start, &sides[0]);
	right = line_inflection(f, c, &window, 1, start, &sides[1]);
	if (px_isnan(left) || px_isnan(right)) {
		line_load_window(f, image, c->x, c->y, f->reach, &window);
		left = line_inflection(f, c, &window, -1, start, &sides[0]);
		right = line_inflection(f, c, &window, 1, start, &sides[1]);
	}
	d = (left + right) * 0.5f;
	c->width = d * d > variance ? 2 * px_sqrt(d * d - variance) :
	    d * d <= variance ? 0 : PX_NAN;
	if (f->asymmetry && c->width >= 0)
		line_correct(f, c, d, line_abs(sides[0].first), line_abs(sides[1].first));
	return true;
}

#endif
