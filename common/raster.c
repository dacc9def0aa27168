#include "raster.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "fail.h"
#include "numbers.h"

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

/* The edge from a to b as a function that is positive on its inner side (for positive area). */
struct edge {
	double a, b, c;		/* a x + b y + c */
	bool owns;		/* points on the edge belong to the triangle */
};

static struct edge
edge_between(const struct raster_vertex *p, const struct raster_vertex *q)
{
	double dx = (double)q->x - p->x, dy = (double)q->y - p->y;
	bool turned = q->y < p->y || (q->y == p->y && q->x < p->x);
	const struct raster_vertex *from = turned ? q : p;

	/* from the same end in both triangles that share the edge, so that they agree to the bit */
	return (struct edge){ .a = -dy, .b = dx, .c = dy * from->x - dx * from->y,
		.owns = dy < 0 || (dy == 0 && dx > 0) };
}

static double
edge_at(const struct edge *edge, double x, double y)
{
	return edge->a * x + edge->b * y + edge->c;
}

static bool
inside(const struct edge *edge, double v)
{
	return v > 0 || (v == 0 && edge->owns);
}

static bool
finite_vertex(const struct raster_vertex *v)
{
	return isfinite(v->x) && isfinite(v->y) && isfinite(v->z);
}

static void
draw_pixel(struct raster *raster, size_t i, const struct raster_vertex *const v[3],
    const double weight[3])
{
	float z = (float)(weight[0] * v[0]->z + weight[1] * v[1]->z + weight[2] * v[2]->z);

	if (!(z < raster->z[i]))
		return;
	raster->z[i] = z;
	for (size_t k = 0; k < raster->attributes; k++)
		raster->attribute[k * raster->w * raster->h + i] = (float)(weight[0] *
		    v[0]->attribute[k] + weight[1] * v[1]->attribute[k] + weight[2] * v[2]->attribute[k]);
}

/* The whole numbers from low to high, clipped to 0 .. n - 1; false if there are none. */
static bool
clip_range(double low, double high, size_t first, size_t end, size_t *from, size_t *to)
{
	low = ceil(low);
	high = floor(high);
	if (low < (double)first)
		low = (double)first;
	if (high > (double)end - 1)
		high = (double)end - 1;
	if (!(low <= high))
		return false;
	*from = (size_t)low;
	*to = (size_t)high;
	return true;
}

void
raster_triangle(struct raster *raster, size_t y0, size_t y1, const struct raster_vertex *a,
    const struct raster_vertex *b, const struct raster_vertex *c)
{
	const struct raster_vertex *v[3] = { a, b, c };
	struct edge edge[3];
	double area, inverse;
	size_t left, right, top, bottom;

	if (!finite_vertex(a) || !finite_vertex(b) || !finite_vertex(c) ||
	    !clip_range(fminf(a->y, fminf(b->y, c->y)), fmaxf(a->y, fmaxf(b->y, c->y)), y0,
	    y1 < raster->h ? y1 : raster->h, &top, &bottom) ||
	    !clip_range(fminf(a->x, fminf(b->x, c->x)), fmaxf(a->x, fmaxf(b->x, c->x)), 0, raster->w,
	    &left, &right))
		return;
	area = ((double)b->x - a->x) * ((double)c->y - a->y) -
	    ((double)c->x - a->x) * ((double)b->y - a->y);
	if (area == 0)
		return;
	if (area < 0) {
		v[1] = c;
		v[2] = b;
		area = -area;
	}
	inverse = 1 / area;
	for (int k = 0; k < 3; k++)
		edge[k] = edge_between(v[(k + 1) % 3], v[(k + 2) % 3]);
	for (size_t y = top; y <= bottom; y++)
		for (size_t x = left; x <= right; x++) {
			double e[3], weight[3];

			for (int k = 0; k < 3; k++) {
				e[k] = edge_at(&edge[k], (double)x, (double)y);
				weight[k] = e[k] * inverse;
			}
			if (inside(&edge[0], e[0]) && inside(&edge[1], e[1]) && inside(&edge[2], e[2]))
				draw_pixel(raster, y * raster->w + x, v, weight);
		}
}
