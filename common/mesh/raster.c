/*
 * Draws triangles into an image with a depth buffer. Edges are exact: adjacent triangles leave no
 * gap and share no pixel.
 */
#include "mesh/raster.h"

#include <math.h>
#include <stdint.h>

#include "base/numbers.h"
#include "base/process.h"

int
raster_new(struct raster *raster, size_t w, size_t h, size_t attributes)
{
	size_t pixels;

	*raster = (struct raster){ .w = w, .h = h, .attributes = attributes };
	if (size_multiply(w, h, &pixels) < 0)
		return -1;
	raster->z = large_memory(pixels, (attributes + 1) * sizeof(*raster->z));
	if (!raster->z)
		return fail(NULL, "out of memory for a picture of %zu x %zu", w, h);
	raster->attribute = raster->z + pixels;
	return 0;
}

/* Behind the last row that is kept, or y1. */
static size_t
raster_end(const struct raster *raster, size_t y1)
{
	return y1 < raster->top + raster->h ? y1 : raster->top + raster->h;
}

void
raster_clear(struct raster *raster, size_t y0, size_t y1)
{
	size_t first = (y0 - raster->top) * raster->w;
	size_t end = (raster_end(raster, y1) - raster->top) * raster->w;

	for (size_t i = first; i < end; i++)
		raster->z[i] = INFINITY;
	memset(raster->attribute + first * raster->attributes, 0,
	    (end - first) * raster->attributes * sizeof(*raster->attribute));
}

void
raster_free(struct raster *raster)
{
	free(raster->z);
	raster->z = raster->attribute = NULL;
}

#define ONE ((int64_t)1 << RASTER_BITS)

struct point {
	int64_t x, y;
};

static int64_t
snap(double v)
{
	return llrint(v * (double)ONE);
}

static bool
drawable(const struct raster_vertex *v)
{
	return fabs(v->x) <= RASTER_FARTHEST && fabs(v->y) <= RASTER_FARTHEST && isfinite(v->z);
}

/* Farther from the rows that are drawn than rounding takes it. */
static bool
above(const struct raster_vertex *v, size_t y0)
{
	return v->y < (double)y0 - 1;
}

static bool
below(const struct raster_vertex *v, size_t y1)
{
	return v->y > (double)y1;
}

/* The whole pixels from low to high, among first .. end - 1; false if there are none. */
static bool
clip_range(int64_t low, int64_t high, size_t first, size_t end, size_t *from, size_t *to)
{
	low = (low + ONE - 1) >> RASTER_BITS;
	high >>= RASTER_BITS;
	if (low < (int64_t)first)
		low = (int64_t)first;
	if (high >= (int64_t)end)
		high = (int64_t)end - 1;
	if (low > high)
		return false;
	*from = (size_t)low;
	*to = (size_t)high;
	return true;
}

static int64_t
least(int64_t a, int64_t b, int64_t c)
{
	int64_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

static int64_t
most(int64_t a, int64_t b, int64_t c)
{
	return -least(-a, -b, -c);
}

static double
blend(const double weight[3], double a, double b, double c)
{
	double v = weight[0] * a + weight[1] * b + weight[2] * c;
	double low = a < b ? a : b, high = a < b ? b : a;

	low = c < low ? c : low;
	high = c > high ? c : high;
	/* weights are not negative, but their sum is 1 only within rounding */
	return v < low ? low : v > high ? high : v;
}

#define TOGETHER 4		/* attributes, in vectors */

static inline float
mean_attribute(const double weight[3], const struct raster_vertex *const v[3], size_t k)
{
	return (float)(weight[0] * (double)v[0]->attribute[k] +
	    weight[1] * (double)v[1]->attribute[k] + weight[2] * (double)v[2]->attribute[k]);
}

static inline void
draw_pixel(struct raster *raster, size_t i, const struct raster_vertex *const v[3],
    const double weight[3])
{
	float z = (float)blend(weight, v[0]->z, v[1]->z, v[2]->z);
	float *to = raster->attribute + i * raster->attributes;
	size_t k = 0;

	if (!(z < raster->z[i]))
		return;
	raster->z[i] = z;
	for (; k + TOGETHER <= raster->attributes; k += TOGETHER)
		for (size_t j = k; j < k + TOGETHER; j++)
			to[j] = mean_attribute(weight, v, j);
	for (; k < raster->attributes; k++)
		to[k] = mean_attribute(weight, v, k);
}

static bool
before(struct point p, struct point q)
{
	return p.y < q.y || (p.y == q.y && p.x < q.x);
}

/* A triangle on the grid of corners: counter-clockwise or not, as it came. */
struct triangle {
	struct point p[3];
	const struct raster_vertex *v[3];
};

/* The pixels of a triangle's box, within the rows that are drawn. */
struct box {
	size_t left, right, top, bottom;
};

/* Coordinates in 2^-RASTER_BITS px have 58 bits, an edge function of them 120; where a triangle is
 * no larger than SMALL, 63. */
#define SMALL (6 * ONE)
#define EXACT __int128
#define DRAW draw_large
#include "mesh/raster_draw.h"
#undef EXACT
#undef DRAW
#define EXACT int64_t
#define DRAW draw_small
#include "mesh/raster_draw.h"

void
raster_triangle(struct raster *raster, size_t y0, size_t y1, const struct raster_vertex *a,
    const struct raster_vertex *b, const struct raster_vertex *c)
{
	struct triangle t = { .v = { a, b, c } };
	int64_t x[3], y[3], left, right, top, bottom;
	struct box box = { 0 };

	if (above(a, y0) & above(b, y0) & above(c, y0))
		return;
	if (below(a, y1) & below(b, y1) & below(c, y1))
		return;
	if (!drawable(a) || !drawable(b) || !drawable(c))
		return;
	for (int k = 0; k < 3; k++) {
		t.p[k].x = x[k] = snap(t.v[k]->x);
		t.p[k].y = y[k] = snap(t.v[k]->y);
	}
	left = least(x[0], x[1], x[2]);
	right = most(x[0], x[1], x[2]);
	top = least(y[0], y[1], y[2]);
	bottom = most(y[0], y[1], y[2]);
	if (!clip_range(top, bottom, y0, raster_end(raster, y1), &box.top, &box.bottom) ||
	    !clip_range(left, right, 0, raster->w, &box.left, &box.right))
		return;
	if (right - left <= SMALL && bottom - top <= SMALL)
		draw_small(raster, &box, &t);
	else
		draw_large(raster, &box, &t);
}
