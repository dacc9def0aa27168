/*
 * A triangle's pixels, for raster.c: function DRAW, with edges computed in integers EXACT. Nothing
 * is drawn of a triangle without area.
 */
#define PASTE2(a, b) a##_##b
#define PASTE(a, b) PASTE2(a, b)
#define edge PASTE(edge, DRAW)
#define edge_between PASTE(edge_between, DRAW)
#define draw_edges PASTE(draw_edges, DRAW)

/* The edge function from p to q: not negative inside, for triangles of positive area. */
struct edge {
	EXACT value;		/* at the box's first pixel, less `out` */
	EXACT along_x, along_y;	/* change from pixel to pixel */
	EXACT out;		/* 1 if points on the edge do not belong to the triangle, else 0 */
};

static inline struct edge
edge_between(struct point p, struct point q, const struct box *box)
{
	int64_t dx = q.x - p.x, dy = q.y - p.y;
	int64_t px = ((int64_t)box->left << RASTER_BITS) - p.x;
	int64_t py = ((int64_t)box->top << RASTER_BITS) - p.y;
	EXACT out = !(dy < 0 || (dy == 0 && dx > 0));

	return (struct edge){ .value = (EXACT)dx * py - (EXACT)dy * px - out,
		.along_x = -(EXACT)dy * ONE, .along_y = (EXACT)dx * ONE, .out = out };
}

/* Edge k lies opposite of corner k. */
static inline void
draw_edges(struct raster *raster, const struct box *box, struct edge a, struct edge b,
    struct edge c, const struct raster_vertex *const v[3], double inverse)
{
	for (size_t y = box->top; y <= box->bottom; y++) {
		EXACT at_a = a.value, at_b = b.value, at_c = c.value;
		size_t row = (y - raster->top) * raster->w;

		for (size_t x = box->left; x <= box->right; x++) {
			if ((at_a | at_b | at_c) >= 0) {
				const double weight[3] = { (double)(at_a + a.out) * inverse,
					(double)(at_b + b.out) * inverse,
					(double)(at_c + c.out) * inverse };

				draw_pixel(raster, row + x, v, weight);
			}
			at_a += a.along_x;
			at_b += b.along_x;
			at_c += c.along_x;
		}
		a.value += a.along_y;
		b.value += b.along_y;
		c.value += c.along_y;
	}
}

/* Corners are taken in an order that does not depend on the one they came in: the first of rows and
 * columns, and then those that make the area positive. */
static inline void
DRAW(struct raster *raster, const struct box *box, const struct triangle *t)
{
	const struct point *in = t->p;
	size_t first = before(in[1], in[0]), second, third;
	struct point p, q, r;
	EXACT area;

	first = before(in[2], in[first]) ? 2 : first;
	second = first == 2 ? 0 : first + 1;
	third = 3 - first - second;
	p = in[first];
	q = in[second];
	r = in[third];
	area = (EXACT)(q.x - p.x) * (r.y - p.y) - (EXACT)(r.x - p.x) * (q.y - p.y);
	if (area == 0)
		return;
	if (area < 0) {
		size_t swap = second;

		second = third;
		third = swap;
		q = in[second];
		r = in[third];
		area = -area;
	}
	draw_edges(raster, box, edge_between(q, r, box), edge_between(r, p, box),
	    edge_between(p, q, box), (const struct raster_vertex *const[3]){ t->v[first],
	    t->v[second], t->v[third] }, 1 / (double)area);
}

#undef PASTE2
#undef PASTE
#undef edge
#undef edge_between
#undef draw_edges
