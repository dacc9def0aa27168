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

#define LINE_WINDOW const struct line_window *
#define LINE_LOOP

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
	const float *v;
	size_t half, stride;
	float reach;		/* how far from the point its sides may be sought, px */
	const struct line_filter *filter;
	float *sums;		/* memory for line_at() */
};

typedef float line_lanes __attribute__((vector_size(4 * LINE_LANES), aligned(4), may_alias));

/* The pixels about (x, y), with those that its sides may need, in `to`. */
static inline struct line_window
line_load_window(const struct line_filter *f, const struct line_image *image, size_t x, size_t y,
    float *to)
{
	size_t half = line_window_half(f, f->reach), stride = line_window_stride(half);

	for (size_t i = 0; i <= 2 * half; i++) {
		line_span_beyond(image, (ptrdiff_t)y - (ptrdiff_t)half + (ptrdiff_t)i,
		    (ptrdiff_t)x - (ptrdiff_t)half, 2 * half + 1, to + i * stride);
	}
	return (struct line_window){ .v = to, .half = half, .stride = stride };
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
	float du, dv;		/* from the window's middle, px */
	float x, y, xx, xy, yy;
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
 * The five derivatives at a point, which is moved to the nearest 1/LINE_STEPS px, with kernels
 * sampled there. It is no farther from the window's middle than reach + 1.
 */
static inline struct line_place
line_at(const struct line_window *window, float du, float dv)
{
	const struct line_filter *f = window->filter;
	int iu = (int)px_floor(du + 0.5f), iv = (int)px_floor(dv + 0.5f);
	int qu = (int)px_floor((du - (float)iu) * LINE_STEPS + 0.5f);
	int qv = (int)px_floor((dv - (float)iv) * LINE_STEPS + 0.5f);
	const float *wu = f->weight + (size_t)(qu + LINE_STEPS / 2) * 3 * f->room;
	const float *wv = f->weight + (size_t)(qv + LINE_STEPS / 2) * 3 * f->room;
	size_t n = f->taps, half = window->half - n / 2;
	const float *from = window->v + (size_t)((ptrdiff_t)half + iv) * window->stride +
	    (size_t)((ptrdiff_t)half + iu);
	float *sums = window->sums;
	line_lanes x, y, xx, xy, yy;

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
	return (struct line_place){ (float)iu + (float)qu * (1.0f / LINE_STEPS),
		(float)iv + (float)qv * (1.0f / LINE_STEPS), line_sum(x), line_sum(y),
		line_sum(xx), line_sum(xy), line_sum(yy) };
}

#include "feature/line_steps.px.h"

/* ---- a candidate ---- */

static inline void
line_edges(const struct line_window *window, const struct line_found *point,
    struct line_edge edge[2])
{
	float sigma = (float)window->filter->kernels.sigma;

	edge[0] = line_inflection(window, *point, sigma, window->reach, -1);
	edge[1] = line_inflection(window, *point, sigma, window->reach, 1);
}

/* The point of a candidate, its width; false: it is none. v: the 2 half + 1 rows of pixels about
 * it, with what its sides within near_reach need; work: line_patch_work() floats. */
static bool
line_refine(const struct line_filter *f, const struct line_image *image, const float *v,
    size_t half, size_t stride, float *work, struct line_candidate *c)
{
	float variance = (float)(f->kernels.sigma * f->kernels.sigma), d;
	struct line_found point = { c->du, c->dv, c->nu, c->nv, c->response, true };
	struct line_edge edge[2];
	struct line_window window = { v, half, stride, (float)f->near_reach, f, work };

	if (!f->options.plain)
		point = line_newton(&window, point, f->low);
	if (!point.is)
		return false;
	line_edges(&window, &point, edge);
	if (px_isnan(edge[0].distance) || px_isnan(edge[1].distance)) {
		window = line_load_window(f, image, c->x, c->y, work + 3 * f->room);
		window.reach = (float)f->reach;
		window.filter = f;
		window.sums = work;
		line_edges(&window, &point, edge);
	}
	d = (edge[0].distance + edge[1].distance) * 0.5f;
	*c = (struct line_candidate){ c->x, c->y, point.du, point.dv, point.nu, point.nv,
		point.response, line_width(d, variance) };
	line_asymmetry_correct(f, c, d, edge[0].gradient, edge[1].gradient);
	return true;
}

#endif
