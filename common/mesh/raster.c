#include "mesh/raster.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/numbers.h"

int
raster_new(struct raster *raster, size_t w, size_t h, size_t attributes)
{
	size_t pixels, planes;

	*raster = (struct raster){ .w = w, .h = h, .attributes = attributes };
	if (size_multiply(w, h, &pixels) < 0 || size_multiply(pixels, attributes + 1, &planes) < 0)
		return -1;
	raster->z = calloc(planes, sizeof(*raster->z));
	if (!raster->z)
		return fail(NULL, "out of memory for a picture of %zu x %zu", w, h);
	raster->attribute = raster->z + pixels;
	for (size_t i = 0; i < pixels; i++)
		raster->z[i] = INFINITY;
	return 0;
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

bool
raster_rows(const double y[3], size_t h, size_t *top, size_t *bottom)
{
	int64_t s[3];

	for (int k = 0; k < 3; k++) {
		if (!(fabs(y[k]) <= RASTER_FARTHEST))
			return false;
		s[k] = snap(y[k]);
	}
	return clip_range(least(s[0], s[1], s[2]), most(s[0], s[1], s[2]), 0, h, top, bottom);
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

static void
draw_pixel(struct raster *raster, size_t i, const struct raster_vertex *const v[3],
    const double weight[3])
{
	float z = (float)blend(weight, v[0]->z, v[1]->z, v[2]->z);
	size_t plane = raster->w * raster->h, k = 0;
	float *to = raster->attribute + i;

	if (!(z < raster->z[i]))
		return;
	raster->z[i] = z;
	for (; k + TOGETHER <= raster->attributes; k += TOGETHER) {
		float value[TOGETHER];

		for (size_t j = 0; j < TOGETHER; j++)
			value[j] = mean_attribute(weight, v, k + j);
		for (size_t j = 0; j < TOGETHER; j++, to += plane)
			*to = value[j];
	}
	for (; k < raster->attributes; k++, to += plane)
		*to = mean_attribute(weight, v, k);
}

static bool
before(struct point p, struct point q)
{
	return p.y < q.y || (p.y == q.y && p.x < q.x);
}

static void
order(struct point *p, const struct raster_vertex **v, int i, int j)
{
	struct point point = p[i];
	const struct raster_vertex *vertex = v[i];

	p[i] = p[j];
	p[j] = point;
	v[i] = v[j];
	v[j] = vertex;
}

/* Corners as points, in an order that does not depend on the one they came in. */
static void
arrange(struct point p[3], const struct raster_vertex *v[3])
{
	for (int k = 0; k < 3; k++)
		p[k] = (struct point){ snap(v[k]->x), snap(v[k]->y) };
	if (before(p[1], p[0]))
		order(p, v, 0, 1);
	if (before(p[2], p[1]))
		order(p, v, 1, 2);
	if (before(p[1], p[0]))
		order(p, v, 0, 1);
}

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
	const struct raster_vertex *v[3] = { a, b, c };
	struct point p[3];
	struct box box;
	int64_t low, high, last;

	if (above(a, y0) & above(b, y0) & above(c, y0))
		return;
	if (below(a, y1) & below(b, y1) & below(c, y1))
		return;
	if (!drawable(a) || !drawable(b) || !drawable(c))
		return;
	arrange(p, v);
	low = least(p[0].x, p[1].x, p[2].x);
	high = most(p[0].x, p[1].x, p[2].x);
	last = most(p[0].y, p[1].y, p[2].y);
	if (!clip_range(p[0].y, last, y0, y1 < raster->h ? y1 : raster->h, &box.top,
	    &box.bottom) ||
	    !clip_range(low, high, 0, raster->w, &box.left, &box.right))
		return;
	if (high - low <= SMALL && last - p[0].y <= SMALL)
		draw_small(raster, &box, p, v);
	else
		draw_large(raster, &box, p, v);
}
