#include "splat_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu_level.h"
#include "base/fail.h"
#include "base/numbers.h"
#include "base/px.h"

#define FACING 1e-3f	/* square cells: points whose neighbours span less have no plane */
#define OBLIQUE 0.5f	/* of sigma, at least, since slopes have errors, too */

int
splat_view_resize(struct splat_view *view, size_t w, size_t h)
{
	size_t stride = (w + 16 + 31) / 16 * 16, n, bytes, spans;

	if (view->u && view->w == w && view->h == h)
		return 0;
	splat_view_free(view);
	view->w = w;
	view->h = h;
	view->stride = stride;
	view->segments = (w + SPLAT_SEGMENT - 1) / SPLAT_SEGMENT;
	if (size_multiply(stride, h + 2, &n) < 0 || size_multiply(n, 3 * sizeof(float), &bytes) < 0
	    || size_multiply(view->segments, h, &spans) < 0)
		return -1;
	view->u = aligned_alloc(64, bytes);
	view->span = calloc(spans, sizeof(*view->span));
	view->points = calloc(h, sizeof(*view->points));
	view->lost = calloc(h, sizeof(*view->lost));
	if (!view->u || !view->span || !view->points || !view->lost) {
		splat_view_free(view);
		return fail_memory();
	}
	view->v = view->u + n;
	view->d = view->v + n;
	for (size_t i = 0; i < 3 * n; i++)
		view->u[i] = PX_NAN;
	return 0;
}

void
splat_view_free(struct splat_view *view)
{
	free(view->u);
	free(view->span);
	free(view->points);
	free(view->lost);
	view->u = view->v = view->d = NULL;
	view->span = NULL;
	view->points = view->lost = NULL;
}

/* ---- places ---- */

/* Counts points of a segment that lie outside, and finds the rows of all. */
static uint32_t
survey(const float *restrict u, const float *restrict v, const struct splat_grid *grid, size_t n,
    struct splat_span *span)
{
	const float right = (float)grid->w - 0.5f, below = (float)grid->h - 0.5f;
	float low = INFINITY, high = -INFINITY;
	uint32_t lost = 0;

	_Pragma("omp simd reduction(min:low) reduction(max:high) reduction(+:lost)")
	for (size_t i = 0; i < n; i++) {
		float r = v[i];
		bool inside = (u[i] >= -0.5f) & (u[i] < right) & (r >= -0.5f) & (r < below);

		low = r < low ? r : low;
		high = r > high ? r : high;
		lost += !inside;
	}
	*span = (struct splat_span){ low, high, 1 };
	return lost;
}

static uint32_t
count(const float *restrict x, const float *restrict y, const float *restrict z, size_t n)
{
	uint32_t points = 0;

	_Pragma("omp simd reduction(+:points)")
	for (size_t i = 0; i < n; i++)
		points += (x[i] == x[i]) & (y[i] == y[i]) & (z[i] == z[i]);
	return points;
}

void
splat_view_project(struct splat_view *view, const struct splat_grid *grid,
    const struct splat_source *source, size_t y)
{
	const float *x3[3];
	size_t at = splat_view_at(view, y);
	uint32_t outside = 0;

	for (size_t k = 0; k < 3; k++)
		x3[k] = frame_floats(source->frame, source->xyz[k], y);
	splat_grid_project(grid, &source->pose, x3[0], x3[1], x3[2], view->w, view->u + at,
	    view->v + at, view->d + at);
	for (size_t s = 0; s < view->segments; s++) {
		size_t x0 = s * SPLAT_SEGMENT;
		size_t n = view->w - x0 < SPLAT_SEGMENT ? view->w - x0 : SPLAT_SEGMENT;

		outside += survey(view->u + at + x0, view->v + at + x0, grid, n,
		    &view->span[y * view->segments + s]);
	}
	view->points[y] = count(x3[0], x3[1], x3[2], view->w);
	/* pixels without a point are outside, too */
	view->lost[y] = outside - ((uint32_t)view->w - view->points[y]);
}

void
splat_view_reach(struct splat_view *view, size_t y)
{
	for (size_t s = 0; s < view->segments; s++) {
		size_t x0 = s * SPLAT_SEGMENT;
		size_t n = view->w - x0 < SPLAT_SEGMENT ? view->w - x0 : SPLAT_SEGMENT;
		const float *restrict here = view->v + splat_view_at(view, y) + x0;
		const float *restrict above = here - view->stride, *below = here + view->stride;
		float most = 0;

		_Pragma("omp simd reduction(max:most)")
		for (size_t i = 0; i < n; i++) {
			float a = px_abs(here[i] - above[i]), b = px_abs(below[i] - here[i]);
			float c = px_abs(here[i] - here[i - 1]), d = px_abs(here[i + 1] - here[i]);

			most = a > most ? a : most;
			most = b > most ? b : most;
			most = c > most ? c : most;
			most = d > most ? d : most;
		}
		view->span[y * view->segments + s].reach = most > SPLAT_NEAR ? SPLAT_REACH : 1;
	}
}

/* ---- planes ---- */

struct place {
	const float *restrict u, *restrict v, *restrict d;
};

static struct place
place_of(const struct splat_view *view, size_t at)
{
	return (struct place){ view->u + at, view->v + at, view->d + at };
}

static inline __attribute__((always_inline)) bool
is_neighbour(float u, float v, float d, float jump)
{
	return (px_abs(u) <= 2 * SPLAT_REACH) & (px_abs(v) <= 2 * SPLAT_REACH) &
	    (px_abs(d) <= jump);
}

/*
 * The change from a point to the next one of its row (or column): the mean of both sides, or that
 * of the only neighbour that belongs to the same surface.
 */
#define STEP(next, last)							\
	PX_F fu = next.u[i] - u0, fv = next.v[i] - v0, fd = next.d[i] - d0;	\
	PX_F bu = u0 - last.u[i], bv = v0 - last.v[i], bd = d0 - last.d[i];	\
	bool f = is_neighbour(fu, fv, fd, jump), b = is_neighbour(bu, bv, bd, jump);	\
	PX_F share = f & b ? 0.5f : 1.0f

#define EDGE 0.0625f	/* the weight of a point at a surface's edge, of what it is within */
#define ASIDE 3		/* points on each side of a row whose slopes are averaged */

/* The planes of a segment and of ASIDE points more on each side, each by its own neighbours. */
struct planes {
	float gx[SPLAT_SEGMENT + 2 * ASIDE], gy[SPLAT_SEGMENT + 2 * ASIDE];	/* 0: none */
	float su[SPLAT_SEGMENT + 2 * ASIDE], sv[SPLAT_SEGMENT + 2 * ASIDE];
	float taper[SPLAT_SEGMENT + 2 * ASIDE];	/* 1, or less at an edge above or below */
};

/* Those of n points from `at` on. */
static void
find_planes(const struct splat_view *view, size_t at, size_t n, struct planes *to)
{
	const struct place here = place_of(view, at);
	const struct place left = place_of(view, at - 1), right = place_of(view, at + 1);
	const struct place above = place_of(view, at - view->stride);
	const struct place below = place_of(view, at + view->stride);
	const float jump = view->jump;

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F u0 = here.u[i], v0 = here.v[i], d0 = here.d[i];
		PX_F iu, iv, id, ju, jv, jd, area, gx, gy, su, sv;
		bool along, across, plane;

		{
			STEP(right, left);
			iu = share * ((f ? fu : 0.0f) + (b ? bu : 0.0f));
			iv = share * ((f ? fv : 0.0f) + (b ? bv : 0.0f));
			id = share * ((f ? fd : 0.0f) + (b ? bd : 0.0f));
			along = f | b;
		}
		{
			STEP(below, above);
			ju = share * ((f ? fu : 0.0f) + (b ? bu : 0.0f));
			jv = share * ((f ? fv : 0.0f) + (b ? bv : 0.0f));
			jd = share * ((f ? fd : 0.0f) + (b ? bd : 0.0f));
			across = f | b;
			to->taper[i] = f & b ? 1.0f : EDGE;
		}
		su = px_max(px_abs(iu), px_abs(ju));
		sv = px_max(px_abs(iv), px_abs(jv));
		/* where one side is not known, the depth does not change across the other */
		{
			PX_F au = along ? iu : jv, av = along ? iv : -ju, ad = along ? id : 0.0f;

			ju = across ? ju : -iv;
			jv = across ? jv : iu;
			jd = across ? jd : 0.0f;
			iu = au;
			iv = av;
			id = ad;
		}
		area = iu * jv - ju * iv;
		plane = px_abs(area) > FACING;
		gx = (id * jv - jd * iv) / (plane ? area : 1.0f);
		gy = (iu * jd - ju * id) / (plane ? area : 1.0f);
		/* a footprint whose depth changes by more than a jump is no plane either */
		plane = plane & (px_abs(gx) + px_abs(gy) <= jump);
		to->gx[i] = plane ? gx : 0.0f;
		to->gy[i] = plane ? gy : 0.0f;
		to->su[i] = px_min(px_max(su, 1.0f), SPLAT_REACH);
		to->sv[i] = px_min(px_max(sv, 1.0f), SPLAT_REACH);
	}
}

/*
 * What a point adds to a cell falls off towards the edge of its surface, where pixels see two
 * surfaces, and where another camera's points go on without it (Curless and Levoy 1996).
 *
 * The mean of a slope and of those on both sides, as far as the surface goes on. Points lie beside
 * a cell's centre on all sides, so that slopes that are alike cancel, while each one's noise would
 * not: of a cell as wide as the points lie apart it adds 9 % to the variance, with slopes by
 * themselves 95 %.
 */
static void
smooth_planes(const struct splat_view *view, size_t at, size_t n, const struct planes *from,
    struct splat_points *to)
{
	const float *restrict d = view->d + at;
	const float *restrict gx = from->gx + ASIDE, *restrict gy = from->gy + ASIDE;
	const float *restrict taper = from->taper + ASIDE;
	const float jump = view->jump;
	float links[SPLAT_SEGMENT + 2 * ASIDE], *link = links + ASIDE;

	/* 1: the surface goes on to the next point, else 0 */
	CPU_SIMD
	for (long i = -ASIDE; i < (long)n + ASIDE - 1; i++)
		link[i] = px_abs(d[i] - d[i + 1]) <= jump ? 1.0f : 0.0f;
	CPU_SIMD
	for (long i = 0; i < (long)n; i++) {
		PX_F l1 = link[i - 1], l2 = l1 * link[i - 2], l3 = l2 * link[i - 3];
		PX_F r1 = link[i], r2 = r1 * link[i + 1], r3 = r2 * link[i + 2];
		PX_F within, many = 1.0f + l1 + l2 + l3 + r1 + r2 + r3;

		to->gx[i] = (gx[i] + l1 * gx[i - 1] + l2 * gx[i - 2] + l3 * gx[i - 3] +
		    r1 * gx[i + 1] + r2 * gx[i + 2] + r3 * gx[i + 3]) / many;
		to->gy[i] = (gy[i] + l1 * gy[i - 1] + l2 * gy[i - 2] + l3 * gy[i - 3] +
		    r1 * gy[i + 1] + r2 * gy[i + 2] + r3 * gy[i + 3]) / many;
		/* a quarter at the edge, a half beside it; squared, as weights are */
		within = px_max(many - (float)ASIDE, 1.0f) / (float)(ASIDE + 1);
		to->taper[i] = within * within * taper[i];
	}
	memcpy(to->su, from->su + ASIDE, n * sizeof(*to->su));
	memcpy(to->sv, from->sv + ASIDE, n * sizeof(*to->sv));
	to->u = view->u + at;
	to->v = view->v + at;
	to->d = d;
}

/* ---- weights ---- */

/*
 * The standard deviation of the depth at a cell: sigma is that of the point along its ray, which
 * moves it across the grid, too.
 */
static void
find_sigma(const struct splat_grid *grid, const struct splat_source *source,
    const float *restrict sigma, size_t n, const struct splat_points *to, float *restrict out)
{
	const double *K = grid->projector.K, *eye = source->eye;
	const float pixel = (float)grid->pixel_mm;
	const float fx = (float)(K[0] / grid->bin[0]), fy = (float)(K[4] / grid->bin[1]);
	const float cx = (float)((K[2] + 0.5) / grid->bin[0] - 0.5);
	const float cy = (float)((K[5] + 0.5) / grid->bin[1] - 0.5);
	const float x0 = (float)grid->corner_mm[0], y0 = (float)grid->corner_mm[1];
	const float e0 = (float)eye[0], e1 = (float)eye[1], e2 = (float)eye[2];
	const bool ortho = grid->ortho, known = !isnan(eye[0]);

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F u = to->u[i], v = to->v[i], d = to->d[i];
		PX_F xn = ortho ? 0.0f : (u - cx) / fx, yn = ortho ? 0.0f : (v - cy) / fy;
		PX_F rx = (ortho ? x0 + pixel * u : xn * d) - e0;
		PX_F ry = (ortho ? y0 + pixel * v : yn * d) - e1, rz = d - e2;
		PX_F cells_x = ortho ? 1.0f / pixel : fx / d;
		PX_F cells_y = ortho ? 1.0f / pixel : fy / d;
		PX_F change = rz - to->gx[i] * cells_x * (rx - xn * rz) -
		    to->gy[i] * cells_y * (ry - yn * rz);
		PX_F along = change / __builtin_sqrtf(rx * rx + ry * ry + rz * rz);

		out[i] = sigma[i] * (known ? px_max(px_abs(along), OBLIQUE) : 1.0f);
	}
}

static void
find_weights(const struct splat_grid *grid, const struct splat_source *source, size_t x0, size_t y,
    size_t n, struct splat_points *to)
{
	float sigma[SPLAT_SEGMENT], one[SPLAT_SEGMENT];
	const float *weight = one;
	bool by_sigma = source->weight == source->sigma;

	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		one[i] = 1;
	if (source->weight != NO_CHANNEL && !by_sigma)
		weight = frame_floats(source->frame, source->weight, y) + x0;
	if (source->sigma == NO_CHANNEL) {
		for (size_t i = 0; i < n; i++) {
			to->weight[i] = weight[i] * to->taper[i];
			to->noise[i] = 0;
		}
		return;
	}
	find_sigma(grid, source, (const float *)frame_floats(source->frame, source->sigma, y) + x0,
	    n, to, sigma);
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F variance = sigma[i] * sigma[i];
		bool good = variance > PX_LEAST;

		to->weight[i] = to->taper[i] *
		    (by_sigma ? (good ? 1.0f / variance : PX_NAN) : weight[i]);
		to->noise[i] = to->weight[i] * variance;
	}
}

void
splat_view_points(const struct splat_view *view, const struct splat_grid *grid,
    const struct splat_source *source, size_t x0, size_t y, size_t n, struct splat_points *to)
{
	struct planes planes;
	size_t at = splat_view_at(view, y) + x0;

	find_planes(view, at - ASIDE, n + 2 * ASIDE, &planes);
	smooth_planes(view, at, n, &planes, to);
	find_weights(grid, source, x0, y, n, to);
}
