/*
 * A triangle's pixels, for raster.c: function DRAW, with edges computed in integers EXACT. Corners
 * are arranged; nothing is drawn of a triangle without area.
 */
#define PASTE2(a, b) a##_##b
#define PASTE(a, b) PASTE2(a, b)
#define edge PASTE(edge, DRAW)
#define edge_between PASTE(edge_between, DRAW)
#define inside PASTE(inside, DRAW)
#define draw_row PASTE(draw_row, DRAW)

/* The edge function from p to q: positive inside, for triangles of positive area. */
struct edge {
	EXACT value;		/* at the pixel */
	EXACT along_x, along_y;	/* change from pixel to pixel */
	bool owns;		/* points on the edge belong to the triangle */
};

static inline struct edge
edge_between(struct point p, struct point q, size_t x, size_t y)
{
	int64_t dx = q.x - p.x, dy = q.y - p.y;
	int64_t px = ((int64_t)x << RASTER_BITS) - p.x, py = ((int64_t)y << RASTER_BITS) - p.y;

	return (struct edge){ .value = (EXACT)dx * py - (EXACT)dy * px,
		.along_x = -(EXACT)dy * ONE, .along_y = (EXACT)dx * ONE,
		.owns = dy < 0 || (dy == 0 && dx > 0) };
}

static inline bool
inside(EXACT v, bool owns)
{
	return v > 0 || (v == 0 && owns);
}

static inline void
draw_row(struct raster *raster, size_t first, size_t n, const struct edge edge[3],
    const struct raster_vertex *const v[3], double inverse)
{
	EXACT e[3] = { edge[0].value, edge[1].value, edge[2].value };

	for (size_t i = first; i < first + n; i++) {
		if (inside(e[0], edge[0].owns) && inside(e[1], edge[1].owns) &&
		    inside(e[2], edge[2].owns)) {
			const double weight[3] = { (double)e[0] * inverse, (double)e[1] * inverse,
				(double)e[2] * inverse };

			draw_pixel(raster, i, v, weight);
		}
		for (int k = 0; k < 3; k++)
			e[k] += edge[k].along_x;
	}
}

static void
DRAW(struct raster *raster, const struct box *box, struct point p[3],
    const struct raster_vertex *v[3])
{
	EXACT area = (EXACT)(p[1].x - p[0].x) * (p[2].y - p[0].y) -
	    (EXACT)(p[2].x - p[0].x) * (p[1].y - p[0].y);
	struct edge edge[3];

	if (area == 0)
		return;
	if (area < 0) {
		order(p, v, 1, 2);
		area = -area;
	}
	for (int k = 0; k < 3; k++)
		edge[k] = edge_between(p[(k + 1) % 3], p[(k + 2) % 3], box->left, box->top);
	for (size_t y = box->top; y <= box->bottom; y++) {
		draw_row(raster, y * raster->w + box->left, box->right - box->left + 1, edge, v,
		    1 / (double)area);
		for (int k = 0; k < 3; k++)
			edge[k].value += edge[k].along_y;
	}
}

#undef PASTE2
#undef PASTE
#undef edge
#undef edge_between
#undef inside
#undef draw_row
