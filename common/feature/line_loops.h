/*
 * The loops over pixels of the line detector, and a candidate between pixels (derivatives there,
 * the Newton step, the width), for a file that is compiled once per instruction
 * level: it includes this and has `const struct line_level` of LINE_LEVEL_FUNCTIONS. Sums keep
 * their order, so that all levels give the same bits.
 */
#pragma once

#include <stdlib.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "base/cpu_level.h"
#include "base/px.h"
#include "feature/derivative_rows.h"
#include "feature/line.h"

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

static inline size_t
line_least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* ---- what varies too little ---- */

/* Least and largest of each column of a tile row, then of each tile. */
#define LINE_RANGES(name, type, intermediate, load)						\
static void											\
name(const struct line_filter *f, const struct line_image *image, size_t y0, size_t y1,		\
    intermediate *restrict lo, intermediate *restrict hi)					\
{												\
	const struct line_plane *a = &image->image, *b = &image->background;			\
												\
	(void)f;										\
	for (size_t y = y0; y < y1; y++) {							\
		const type *restrict p =							\
		    (const type *)((const unsigned char *)a->v + y * a->stride);		\
		const type *restrict q =							\
		    b->v ? (const type *)((const unsigned char *)b->v + y * b->stride) : p;	\
												\
		CPU_SIMD									\
		for (size_t x = 0; x < image->w; x++) {						\
			intermediate v = load;							\
												\
			(void)q;								\
			lo[x] = y == y0 ? v : lo[x] < v ? lo[x] : v;				\
			hi[x] = y == y0 ? v : hi[x] > v ? hi[x] : v;				\
		}										\
	}											\
}

LINE_RANGES(line_ranges_uchar, uint8_t, uint8_t, p[x])
LINE_RANGES(line_ranges_difference, uint8_t, int16_t, (int16_t)(p[x] - q[x]))
LINE_RANGES(line_ranges_ushort, uint16_t, uint16_t, p[x])

/* A NaN is in no comparison: it neither raises nor lowers. */
static void
line_ranges_float(const struct line_filter *f, const struct line_image *image, size_t y0,
    size_t y1, float *restrict row, float *restrict lo, float *restrict hi)
{
	(void)f;
	for (size_t x = 0; x < image->w; x++) {
		lo[x] = HUGE_VALF;
		hi[x] = -HUGE_VALF;
	}
	for (size_t y = y0; y < y1; y++) {
		line_span(image, y, 0, image->w, row);
		CPU_SIMD
		for (size_t x = 0; x < image->w; x++) {
			lo[x] = row[x] < lo[x] ? row[x] : lo[x];
			hi[x] = row[x] > hi[x] ? row[x] : hi[x];
		}
	}
}

#define LINE_REDUCE(type, sign)									\
	for (size_t t = 0, x = 0; x < image->w; t++, x += f->tile_w) {				\
		size_t end = line_least(x + f->tile_w, image->w);				\
		type a = ((const type *)lo)[x], b = ((const type *)hi)[x];			\
												\
		for (size_t i = x; i < end; i++) {						\
			a = ((const type *)lo)[i] < a ? ((const type *)lo)[i] : a;		\
			b = ((const type *)hi)[i] > b ? ((const type *)hi)[i] : b;		\
		}										\
		least[t] = (float)a;								\
		largest[t] = (float)b;								\
	}

static void
line_tile_ranges(const struct line_filter *f, const struct line_image *image, size_t tile_row,
    float *work, float *least, float *largest)
{
	size_t y0 = tile_row * f->tile_h, y1 = line_least(y0 + f->tile_h, image->h);
	size_t length = (image->w + LINE_LANES) / LINE_LANES * LINE_LANES;
	enum sample type = image->image.type;
	bool less = image->background.v != NULL;
	void *lo = work, *hi = work + length;

	if (type == SAMPLE_UCHAR && !less) {
		line_ranges_uchar(f, image, y0, y1, lo, hi);
		LINE_REDUCE(uint8_t, )
	} else if (type == SAMPLE_UCHAR && image->background.type == SAMPLE_UCHAR) {
		line_ranges_difference(f, image, y0, y1, lo, hi);
		LINE_REDUCE(int16_t, )
	} else if (type == SAMPLE_USHORT && !less) {
		line_ranges_ushort(f, image, y0, y1, lo, hi);
		LINE_REDUCE(uint16_t, )
	} else {
		line_ranges_float(f, image, y0, y1, work + 2 * length, lo, hi);
		LINE_REDUCE(float, )
	}
}

/* ---- candidates ---- */

/* The pixel whose derivatives are lane i of five, whose response is above the threshold. */
static void
line_candidate_at(const struct line_filter *f, size_t x, size_t y,
    const float five[DERIVATIVES][CPU_VECTOR_BYTES / 4], size_t i, float *strongest,
    struct line_candidates *to)
{
	struct line_candidate c = { .x = (uint32_t)x, .y = (uint32_t)y, .width = PX_NAN };
	const size_t *region = f->region;
	struct line_across across = line_across_of(five[DERIVATIVE_XX][i], five[DERIVATIVE_XY][i],
	    five[DERIVATIVE_YY][i]);
	float t;

	if (x - region[0] >= region[2] || y - region[1] >= region[3])
		return;		/* x below region[0] wraps */
	c.response = -across.lambda;
	if (strongest) {
		*strongest = c.response > *strongest ? c.response : *strongest;
		return;
	}
	t = line_offset(across, five[DERIVATIVE_X][i], five[DERIVATIVE_Y][i]);
	c.nu = across.nu;
	c.nv = across.nv;
	c.du = t * c.nu;
	c.dv = t * c.nv;
	if (!(px_abs(c.du) <= f->limit && px_abs(c.dv) <= f->limit))
		return;
	line_candidates_room(to, to->n + 1);
	to->v[to->n++] = c;
}

typedef int32_t line_whole __attribute__((vector_size(CPU_VECTOR_BYTES)));

/* Is a lane other than 0? */
static inline bool
line_any(line_whole v)
{
#if CPU_VECTOR_BYTES == 64
	return _mm512_test_epi32_mask((__m512i)v, (__m512i)v) != 0;
#elif CPU_VECTOR_BYTES == 32
	return !_mm256_testz_si256((__m256i)v, (__m256i)v);
#else
	int64_t any[CPU_VECTOR_BYTES / 8], all = 0;

	memcpy(any, &v, sizeof(any));
	for (size_t i = 0; i < CPU_VECTOR_BYTES / 8; i++)
		all |= any[i];
	return all != 0;
#endif
}

/* The lanes for which line_is_strong() holds: second derivatives alone tell. */
static inline bool
line_strong(const derivative_lanes five[DERIVATIVES], float low,
    int32_t mask[CPU_VECTOR_BYTES / 4])
{
	derivative_lanes mean = (five[DERIVATIVE_XX] + five[DERIVATIVE_YY]) * 0.5f;
	derivative_lanes d = (five[DERIVATIVE_XX] - five[DERIVATIVE_YY]) * 0.5f;
	derivative_lanes square = d * d + five[DERIVATIVE_XY] * five[DERIVATIVE_XY];
	derivative_lanes over = mean + low;	/* low - root < -mean where root > over */
	line_whole strong = (mean < 0.0f) & ((over < 0.0f) | (square > over * over));

	if (!line_any(strong))
		return false;
	memcpy(mask, &strong, sizeof(strong));
	return true;
}

/*
 * The pixels of a run of tiles as floats, with what the kernels reach on all sides, and what the
 * window of a candidate at their border does: rows of `stride`, the run's first pixel in row
 * `above`, column `before`.
 */
struct line_band {
	float *v;
	size_t stride, above, before;
};

static inline struct line_band
line_band_of(const struct line_filter *f, size_t w, float *v)
{
	size_t above = f->kernels.radius + f->near_reach + 2;
	/* a whole number of vectors more than the kernels' radius */
	size_t before = f->kernels.radius + (f->near_reach + 1 + LINE_LANES) / LINE_LANES *
	    LINE_LANES;

	return (struct line_band){ v, (w + 2 * before) / LINE_LANES * LINE_LANES + 2 * LINE_LANES,
		above, before };
}

/* Three rows of derivatives, the band, of which windows may read a row more, and what refining a
 * candidate takes. */
static size_t
line_band_work(const struct line_filter *f, size_t w)
{
	struct line_band band = line_band_of(f, w, NULL);
	size_t search = (f->tile_h + 2 * band.above + 4) * band.stride + line_patch_work(f);
	size_t ranges = 3 * ((w + LINE_LANES) / LINE_LANES * LINE_LANES);

	return search > ranges ? search : ranges;
}

/* Rows i0 <= i < i1 of the band of columns x0 <= x < x1, whose row `above` is y0. */
static void
line_fill_band(const struct line_image *image, const struct line_band *band, size_t y0, size_t x0,
    size_t x1, size_t i0, size_t i1)
{
	for (size_t i = i0; i < i1; i++) {
		line_span_beyond(image, (ptrdiff_t)(y0 + i) - (ptrdiff_t)band->above,
		    (ptrdiff_t)x0 - (ptrdiff_t)band->before, x1 - x0 + 2 * band->before,
		    band->v + i * band->stride);
	}
}

/* One row of pixels x0 <= x < x1 from row[0 .. 2 radius] of the band, whose column 0 is
 * x0 - radius. */
static void
line_search_row(const struct line_filter *f, const float *const *row, size_t x0, size_t x1,
    size_t y, float *const column[3], float *strongest, struct line_candidates *to)
{
	size_t r = f->kernels.radius, n = x1 - x0;

	for (size_t i = 0; i < n + 2 * r; i += DERIVATIVE_LANES)
		derivative_columns(&f->kernels, row, i, column, i);
	for (size_t i = 0; i < n; i += DERIVATIVE_LANES) {
		const float *from[3] = { column[0] + i + r, column[1] + i + r, column[2] + i + r };
		derivative_lanes five[DERIVATIVES];
		int32_t mask[DERIVATIVE_LANES];
		float values[DERIVATIVES][DERIVATIVE_LANES];

		derivative_along(&f->kernels, from, false, true, five);
		if (!line_strong(five, strongest ? *strongest : f->low, mask))
			continue;
		derivative_along(&f->kernels, from, true, false, five);
		memcpy(values, five, sizeof(values));
		for (size_t k = 0; k < line_least(DERIVATIVE_LANES, n - i); k++) {
			if (mask[k])
				line_candidate_at(f, x0 + i + k, y, (const float (*)
				    [DERIVATIVE_LANES])values, k, strongest, to);
		}
	}
}

/* Keeps those candidates from `first` on that are points. */
static void
line_refine_run(const struct line_filter *f, const struct line_image *image,
    const struct line_band *band, size_t y0, size_t x0, float *work, size_t first,
    struct line_candidates *to)
{
	size_t kept = first;

	for (size_t k = first; k < to->n; k++) {
		struct line_candidate c = to->v[k];
		const float *pixel = band->v + (c.y - y0 + band->above) * band->stride + c.x - x0 +
		    band->before;

		if (line_refine(f, image, pixel - band->above * (band->stride + 1), band->above,
		    band->stride, work, &c))
			to->v[kept++] = c;
	}
	to->n = kept;
}

static void
line_search_run(const struct line_filter *f, const struct line_image *image, size_t y0, size_t x0,
    size_t x1, float *work, float *strongest, struct line_candidates *to)
{
	struct line_band band = line_band_of(f, image->w, NULL);
	size_t r = f->kernels.radius, rows = line_least(f->tile_h, image->h - y0), first = to->n;
	size_t stride = band.stride, from = band.above - r, end = band.above + rows + r;
	const float *row[2 * DERIVATIVES_RADIUS_MOST + 1];
	float *column[3] = { work, work + stride, work + 2 * stride };

	band.v = work + 3 * stride;
	line_fill_band(image, &band, y0, x0, x1, from, end);
	for (size_t y = 0; y < rows; y++) {
		for (size_t i = 0; i <= 2 * r; i++)
			row[i] = band.v + (from + y + i) * stride + band.before - r;
		line_search_row(f, row, x0, x1, y0 + y, column, strongest, to);
	}
	if (to->n == first)
		return;
	line_fill_band(image, &band, y0, x0, x1, 0, from);
	line_fill_band(image, &band, y0, x0, x1, end, end + from);
	line_refine_run(f, image, &band, y0, x0,
	    work + (f->tile_h + 2 * band.above + 4) * stride, first, to);
}

static int
line_by_place(const void *a, const void *b)
{
	const struct line_candidate *p = a, *q = b;

	return p->y != q->y ? (p->y < q->y ? -1 : 1) : p->x < q->x ? -1 : p->x > q->x;
}

static void
line_search(const struct line_filter *f, const struct line_image *image, size_t tile_row,
    const bool *active, float *work, float *strongest, struct line_candidates *to)
{
	size_t tiles = (image->w + f->tile_w - 1) / f->tile_w, first = to->n;

	for (size_t t = 0; t < tiles; t++) {
		size_t end = t;

		while (end < tiles && active[end])
			end++;
		if (end == t)
			continue;
		line_search_run(f, image, tile_row * f->tile_h, t * f->tile_w,
		    line_least(end * f->tile_w, image->w), work, strongest, to);
		t = end;
	}
	if (to->n > first)	/* the order does not depend on which tiles are neighbours */
		qsort(to->v + first, to->n - first, sizeof(*to->v), line_by_place);
}

#define LINE_LEVEL_FUNCTIONS { line_band_work, line_tile_ranges, line_search }
