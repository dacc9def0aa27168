/*
 * The loops of shade on the processor: the colours, pictures from the camera with the normals of
 * each pixel, what is counted of a frame's values, and for turned views the vertices of the surface
 * and the samples of the picture. shade.px.h has the formulas.
 */
#include "shade.h"

#include <math.h>
#include <string.h>

#include "image/colormap.px.h"

/* ---- the colours of a surface: by a value, or of plaster ---- */

static void
fill_by_value(const struct priv *priv, const float *restrict value, float *restrict r,
    float *restrict g, float *restrict b, size_t n)
{
	const float (*anchors)[3], *restrict anchor;
	float last = (float)(colormap_anchors(priv->map, &anchors) - 1);
	float low = priv->low, span = priv->high - priv->low;
	struct shade_vector nan = priv->nan;

	anchor = anchors[0];
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F v = value[i];
		bool missing = px_isnan(v);
		PX_F place = colormap_place((v - low) / span, last);
		PX_F before = colormap_anchor(place, last), share = place - before;
		int at = 3 * (int)before;

		r[i] = px_select(missing, nan.x,
		    colormap_between(anchor[at], anchor[at + 3], share));
		g[i] = px_select(missing, nan.y,
		    colormap_between(anchor[at + 1], anchor[at + 4], share));
		b[i] = px_select(missing, nan.z,
		    colormap_between(anchor[at + 2], anchor[at + 5], share));
	}
}

/* The colours of n pixels, by their values; NULL: of plaster. */
static void
colours_fill(const struct priv *priv, const float *value, float *restrict r, float *restrict g,
    float *restrict b, size_t n)
{
	if (value) {
		fill_by_value(priv, value, r, g, b, n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		r[i] = g[i] = b[i] = PLASTER;
}

/* ---- values that are counted: do they show more than one colour (shade.c)? ---- */

#define STEP 4			/* pixels from one sample to the next, along rows and columns */
#define BESIDE 0.1		/* part of the range's extent that is far beyond its ends */

/* The value's cell of the range; the first or last one for values outside. */
static size_t
cell_of(float value, float low, float high)
{
	float cell = (value - low) / (high - low) * SHADE_CELLS;

	return cell > 0 ? cell < SHADE_CELLS ? (size_t)cell : SHADE_CELLS - 1 : 0;
}

/* Raises *most to the value. Several threads may do so. */
static void
raise_to(float *most, float value)
{
	float old;

	__atomic_load(most, &old, __ATOMIC_RELAXED);
	while (value > old && !__atomic_compare_exchange(most, &old, &value, true,
	    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static void
one_colour_look(const struct run *run, const struct frame *in, size_t y0, size_t y1)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	struct colour_counts *counts = &priv->counts;
	float low = priv->low, high = priv->high, away = (float)BESIDE * (high - low);
	size_t n = 0, inside = 0, below = 0, above = 0;
	uint64_t cells[SHADE_CELLS / 64] = { 0 };
	uint32_t set = 0, unset = 0;
	float depth = 0, beyond = 0;

	if (!p->range.n || priv->value == NO_CHANNEL)
		return;
	for (size_t y = (y0 + STEP - 1) / STEP * STEP; y < y1; y += STEP) {
		const float *value = frame_floats(in, priv->value, y);

		for (size_t x = 0; x < in->head.w; x += STEP) {
			size_t cell = cell_of(value[x], low, high);
			float from_end = fminf(value[x] - low, high - value[x]);
			uint32_t bits;

			if (!shade_there(value[x]))
				continue;
			memcpy(&bits, &value[x], sizeof(bits));
			set |= bits;
			unset |= ~bits;
			cells[cell / 64] |= (uint64_t)1 << cell % 64;
			n++;
			depth = fmaxf(depth, from_end);
			beyond = fmaxf(beyond, -from_end);
			inside += (value[x] > low) & (value[x] < high);
			below += value[x] < low - away;
			above += value[x] > high + away;
		}
	}
	for (size_t i = 0; i < SHADE_CELLS / 64; i++)
		if (cells[i])
			__atomic_fetch_or(&counts->cells[i], cells[i], __ATOMIC_RELAXED);
	raise_to(&counts->depth, depth);
	raise_to(&counts->beyond, beyond);
	__atomic_fetch_or(&counts->set, set, __ATOMIC_RELAXED);
	__atomic_fetch_or(&counts->unset, unset, __ATOMIC_RELAXED);
	__atomic_fetch_add(&counts->points, n, __ATOMIC_RELAXED);
	__atomic_fetch_add(&counts->inside, inside, __ATOMIC_RELAXED);
	__atomic_fetch_add(&counts->below, below, __ATOMIC_RELAXED);
	__atomic_fetch_add(&counts->above, above, __ATOMIC_RELAXED);
}

/* ---- pictures from the camera: every pixel shows its own point ---- */

#define TILE 256		/* columns that are computed together */
#define SPAN (TILE + 32)	/* one more column on each side, rounded up to whole vectors */

/* A piece of a row with one more column on each side. z increases away from the camera, and is NaN
 * where a point is missing. */
struct line {
	float x[SPAN], y[SPAN], z[SPAN];
} __attribute__((aligned(64)));

struct row_shares {
	float x[SPAN], y[SPAN], z[SPAN];
};

/* The normals that the squares between two lines add to their corners a b c d; the square to the
 * left of pixel i is at [i]. */
struct squares {
	struct row_shares a, b, c, d;
} __attribute__((aligned(64)));

/* The pixels of a tile. */
struct tile {
	struct row_shares normal, colour;
} __attribute__((aligned(64)));

static void
load_points(const float *restrict x, const float *restrict y, const float *restrict z, float sign,
    struct line *restrict line, size_t at, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		bool there = px_both(
		    shade_there(x[i]), px_both(shade_there(y[i]), shade_there(z[i])));

		line->x[at + i] = x[i];
		line->y[at + i] = y[i];
		line->z[at + i] = px_select(there, sign * z[i], PX_NAN);
	}
}

static void
load_depth(const float *restrict z, float sign, struct line *restrict line, size_t at, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		line->z[at + i] = px_select(shade_there(z[i]), sign * z[i], PX_NAN);
}

/* Loads columns x - 1 to x + n of row y; points outside of the image are missing. */
static void
load_line(const struct priv *priv, const struct frame *in, ptrdiff_t y, size_t x, size_t n,
    struct line *line)
{
	const size_t *point = priv->mesh.point;
	size_t first = x > 0 ? x - 1 : 0, end = x + n < in->head.w ? x + n + 1 : in->head.w;
	float sign = priv->mesh.towards ? -1 : 1;

	for (size_t i = 0; i < SPAN; i++)
		line->z[i] = PX_NAN;
	if (y < 0 || y >= (ptrdiff_t)in->head.h)
		return;
	if (point[0] == NO_CHANNEL)
		load_depth(frame_floats(in, point[2], (size_t)y) + first, sign, line,
		    first + 1 - x, end - first);
	else
		load_points(frame_floats(in, point[0], (size_t)y) + first,
		    frame_floats(in, point[1], (size_t)y) + first,
		    frame_floats(in, point[2], (size_t)y) + first, sign, line, first + 1 - x,
		    end - first);
}

#define PUT(shares, i, v) ((shares).x[i] = (v).x, (shares).y[i] = (v).y, (shares).z[i] = (v).z)

static void
squares_of_points(const struct line *restrict upper, const struct line *restrict lower,
    struct squares *restrict out, size_t n, float jump)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		struct shade_vector a = { upper->x[i], upper->y[i], upper->z[i] };
		struct shade_vector b = { upper->x[i + 1], upper->y[i + 1], upper->z[i + 1] };
		struct shade_vector c = { lower->x[i], lower->y[i], lower->z[i] };
		struct shade_vector d = { lower->x[i + 1], lower->y[i + 1], lower->z[i + 1] };
		struct shade_square square = shade_square_of(a, b, c, d, jump);

		PUT(out->a, i, square.a);
		PUT(out->b, i, square.b);
		PUT(out->c, i, square.c);
		PUT(out->d, i, square.d);
	}
}

static void
squares_of_depth(const struct line *restrict upper, const struct line *restrict lower,
    struct squares *restrict out, size_t n, float jump, float right, float down)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		struct shade_vector a = { 0, 0, upper->z[i] }, b = { right, 0, upper->z[i + 1] };
		struct shade_vector c = { 0, down, lower->z[i] };
		struct shade_vector d = { right, down, lower->z[i + 1] };
		struct shade_square square = shade_square_of(a, b, c, d, jump);

		PUT(out->a, i, square.a);
		PUT(out->b, i, square.b);
		PUT(out->c, i, square.c);
		PUT(out->d, i, square.d);
	}
}

/* Sums the normals of the squares above and below a line's pixels; 0 where the pixel is missing. */
static void
sum_normals(const struct squares *restrict above, const struct squares *restrict below,
    struct row_shares *restrict normal, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		normal->x[i] = ((above->d.x[i] + above->c.x[i + 1]) + below->b.x[i]) +
		    below->a.x[i + 1];
		normal->y[i] = ((above->d.y[i] + above->c.y[i + 1]) + below->b.y[i]) +
		    below->a.y[i + 1];
		normal->z[i] = ((above->d.z[i] + above->c.z[i + 1]) + below->b.z[i]) +
		    below->a.z[i + 1];
	}
}

/* Takes the frame's own normals where there are points. */
static void
take_normals(const struct priv *priv, const struct frame *in, size_t y, size_t x,
    const struct line *restrict line, struct row_shares *restrict normal, size_t n)
{
	const float *restrict nx = frame_floats(in, priv->mesh.normal[0], y) + x;
	const float *restrict ny = frame_floats(in, priv->mesh.normal[1], y) + x;
	const float *restrict nz = frame_floats(in, priv->mesh.normal[2], y) + x;
	float sign = priv->mesh.towards ? -1 : 1;

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		bool missing = px_isnan(line->z[i + 1]);

		normal->x[i] = px_select(missing, 0.0f, nx[i]);
		normal->y[i] = px_select(missing, 0.0f, ny[i]);
		normal->z[i] = px_select(missing, 0.0f, sign * nz[i]);
	}
}

static void
light_pixels(const struct tile *restrict tile, struct shade_light light,
    struct shade_vector background, unsigned char *restrict r, unsigned char *restrict g,
    unsigned char *restrict b, size_t n)
{
	const struct row_shares *restrict normals = &tile->normal,
	    *restrict colours = &tile->colour;

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		struct shade_vector normal = { normals->x[i], normals->y[i], normals->z[i] };
		struct shade_vector colour = { colours->x[i], colours->y[i], colours->z[i] };
		struct shade_vector level = shade_levels(light, normal, colour, background);

		r[i] = (unsigned char)(int)(level.x + 0.5f);
		g[i] = (unsigned char)(int)(level.y + 0.5f);
		b[i] = (unsigned char)(int)(level.z + 0.5f);
	}
}

/* Gives points without a normal one that faces the viewer. */
static void
face_viewer(const struct line *restrict line, struct row_shares *restrict normals, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		struct shade_vector normal = { normals->x[i], normals->y[i], normals->z[i] };
		struct shade_vector facing = shade_facing(normal, !px_isnan(line->z[i + 1]));

		normals->x[i] = facing.x;
		normals->y[i] = facing.y;
		normals->z[i] = facing.z;
	}
}

static void
put_row(const struct run *run, const struct frame *in, struct frame *out, size_t y, size_t x,
    const struct line *line, struct tile *tile, size_t n)
{
	const struct priv *priv = run->priv;

	if (priv->lone)
		face_viewer(line, &tile->normal, n);
	if (priv->value != NO_CHANNEL)
		colours_fill(priv, frame_floats(in, priv->value, y) + x, tile->colour.x,
		    tile->colour.y, tile->colour.z, n);
	light_pixels(tile, priv->light, priv->background,
	    (unsigned char *)frame_row(out, 0, y) + x, (unsigned char *)frame_row(out, 1, y) + x,
	    (unsigned char *)frame_row(out, 2, y) + x, n);
}

/* Shades rows y0 to y1 - 1 of n columns from x on by the frame's own normals. */
static void
shade_given(const struct run *run, const struct frame *in, struct frame *out, size_t x, size_t n,
    size_t y0, size_t y1, struct tile *tile)
{
	struct line line;

	for (size_t y = y0; y < y1; y++) {
		load_line(run->priv, in, (ptrdiff_t)y, x, n, &line);
		take_normals(run->priv, in, y, x, &line, &tile->normal, n);
		put_row(run, in, out, y, x, &line, tile, n);
	}
}

static void
find_squares(const struct priv *priv, const struct line *upper, const struct line *lower,
    struct squares *squares, size_t n)
{
	if (priv->mesh.point[0] == NO_CHANNEL)
		squares_of_depth(upper, lower, squares, n + 1, priv->jump,
		    (float)priv->mesh.spacing[0], (float)priv->mesh.spacing[1]);
	else
		squares_of_points(upper, lower, squares, n + 1, priv->jump);
}

/* The same, by the normals of the triangles around each pixel. */
static void
shade_found(const struct run *run, const struct frame *in, struct frame *out, size_t x, size_t n,
    size_t y0, size_t y1, struct tile *tile)
{
	const struct priv *priv = run->priv;
	struct line line[2];
	struct squares squares[2];

	load_line(priv, in, (ptrdiff_t)y0 - 1, x, n, &line[(y0 + 1) % 2]);
	load_line(priv, in, (ptrdiff_t)y0, x, n, &line[y0 % 2]);
	find_squares(priv, &line[(y0 + 1) % 2], &line[y0 % 2], &squares[y0 % 2], n);
	for (size_t y = y0; y < y1; y++) {
		size_t here = y % 2, next = (y + 1) % 2;

		load_line(priv, in, (ptrdiff_t)y + 1, x, n, &line[next]);
		find_squares(priv, &line[here], &line[next], &squares[next], n);
		sum_normals(&squares[here], &squares[next], &tile->normal, n);
		put_row(run, in, out, y, x, &line[here], tile, n);
	}
}

static void
pixels_rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	const struct priv *priv = run->priv;
	struct tile tile;

	(void)scratch;
	one_colour_look(run, in, y0, y1);
	colours_fill(priv, NULL, tile.colour.x, tile.colour.y, tile.colour.z, TILE);
	for (size_t x = 0; x < in->head.w; x += TILE) {
		size_t n = in->head.w - x < TILE ? in->head.w - x : TILE;

		if (mesh_has_normals(&priv->mesh))
			shade_given(run, in, out, x, n, y0, y1, &tile);
		else
			shade_found(run, in, out, x, n, y0, y1, &tile);
	}
}

/* The values of the points of row y, without gaps. */
static void
find_row(void *arg, size_t y)
{
	const struct values *values = arg;
	const struct priv *priv = values->priv;
	const float *of = frame_floats(values->in, priv->value, y), *point[3];
	float *to = values->value + y * values->in->head.w;
	size_t n = 0;

	for (int k = 0; k < 3; k++)
		point[k] = priv->mesh.point[k] == NO_CHANNEL ? of :
		    frame_floats(values->in, priv->mesh.point[k], y);
	for (size_t x = 0; x < values->in->head.w; x++) {
		to[n] = of[x];
		n += shade_there(of[x]) & shade_there(point[0][x]) & shade_there(point[1][x]) &
		    shade_there(point[2][x]);
	}
	values->n[y] = n;
}

/* ---- turned views: vertices ---- */

static void
fill_vertices(struct surface *surface, const struct frame *frame, size_t value)
{
	const struct mesh *mesh = &surface->mesh;
	bool has_normals = mesh_has_normals(mesh);

	for (size_t y = 0; y < mesh->h; y++) {
		const struct vertex *vertex = mesh->row;

		surface->first[y + 1] = surface->first[y] + (uint32_t)mesh_row(mesh, y);
		for (size_t x = 0; x < mesh->w; x++) {
			uint32_t i = mesh->number[y * mesh->w + x];
			float *own;

			if (i == MESH_NONE)
				continue;
			own = surface->own[i];
			for (int k = 0; k < 3; k++)
				own[k] = vertex->point[k];
			surface->vertex[i].attribute[SURFACE_VALUE] = value == NO_CHANNEL ? own[2] :
			    frame_floats(frame, value, y)[x];
			own[2] = mesh->towards ? -own[2] : own[2];
			for (int k = 0; k < 3; k++)
				surface->vertex[i].attribute[k] =
				    has_normals ? vertex->normal[k] : 0;
			if (has_normals && mesh->towards)
				surface->vertex[i].attribute[SURFACE_NZ] *= -1;
			vertex++;
		}
	}
}

/* Adds a triangle's normal, whose length is its area, to those of its corners from `from` to
 * `end` - 1. */
static inline void
add_face_normal(struct surface *surface, const uint32_t corner[3], uint32_t from, uint32_t end)
{
	const float *a = surface->own[corner[0]], *b = surface->own[corner[1]],
		    *c = surface->own[corner[2]];
	float u[3], v[3], n[3];

	for (int k = 0; k < 3; k++) {
		u[k] = b[k] - a[k];
		v[k] = c[k] - a[k];
	}
	for (int k = 0; k < 3; k++)
		n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3 && corner[i] >= from && corner[i] < end; k++)
			surface->vertex[corner[i]].attribute[k] += n[k];
}

/* A vertex's normal is the sum of those of its triangles. The row above a band has triangles of the
 * band's first vertices. */
static void
normals_band(void *arg, size_t band)
{
	struct surface *surface = arg;
	const struct mesh *mesh = &surface->mesh;
	size_t y0 = band * MESH_ROWS, y1 = y0 + MESH_ROWS < mesh->h ? y0 + MESH_ROWS : mesh->h;
	uint32_t from = surface->first[y0], end = surface->first[y1];
	uint32_t t[2 * PIECE][3];

	for (size_t y = y0 ? y0 - 1 : 0; y < y1 && y + 1 < mesh->h; y++)
		for (size_t x = 0; x + 1 < mesh->w; x += PIECE) {
			size_t cells = mesh->w - 1 - x < PIECE ? mesh->w - 1 - x : PIECE;
			size_t n = mesh_cells(mesh, x, y, cells, t);

			for (size_t i = 0; i < n; i++)
				add_face_normal(surface, t[i], from, end);
		}
}

static void
turn(float v[3], const double r[9])
{
	double in[3] = { v[0], v[1], v[2] };

	for (int k = 0; k < 3; k++)
		v[k] = (float)(r[3 * k] * in[0] + r[3 * k + 1] * in[1] + r[3 * k + 2] * in[2]);
}

static size_t
piece_end(const struct surface *surface, size_t piece)
{
	size_t end = (piece + 1) * VERTICES;

	return end < surface->mesh.vertices ? end : surface->mesh.vertices;
}

static void
turn_piece(void *arg, size_t piece)
{
	struct surface *surface = arg;

	for (size_t i = piece * VERTICES; i < piece_end(surface, piece); i++) {
		turn(surface->own[i], surface->rotation);
		turn(surface->vertex[i].attribute, surface->rotation);
	}
}

static void
place_piece(void *arg, size_t piece)
{
	struct surface *surface = arg;
	const double centre[2] = { ((double)surface->w - 1) / 2, ((double)surface->h - 1) / 2 };

	for (size_t i = piece * VERTICES; i < piece_end(surface, piece); i++) {
		struct raster_vertex *v = &surface->vertex[i];
		const float *own = surface->own[i];

		v->x = (float)(centre[0] + surface->scale * (own[0] - surface->middle[0]));
		v->y = (float)(centre[1] + surface->scale * (own[1] - surface->middle[1]));
		v->z = (float)(surface->scale * own[2]);
	}
}

static void
widen(float reach[2], double y)
{
	reach[0] = (float)y < reach[0] ? (float)y : reach[0];
	reach[1] = (float)y > reach[1] ? (float)y : reach[1];
}

/* A pixel on the border of two pieces is a corner of cells of both. */
static void
find_reach(void *arg, size_t y)
{
	struct surface *surface = arg;
	size_t w = surface->mesh.w;

	for (size_t i = 0; i < surface->pieces; i++)
		surface->reach[y * surface->pieces + i][0] =
		    -(surface->reach[y * surface->pieces + i][1] = -INFINITY);
	for (size_t x = 0; x < w; x++) {
		float (*reach)[2] = &surface->reach[y * surface->pieces + x / PIECE];
		uint32_t i = surface->mesh.number[y * w + x];

		if (i == MESH_NONE)
			continue;
		widen(reach[0], surface->vertex[i].y);
		if (x % PIECE == 0 && x > 0)
			widen(reach[-1], surface->vertex[i].y);
	}
}

/* ---- turned views: triangles and samples ---- */

/* Does the surface between rows y and y + 1 of pixels, in this piece, reach rows y0 to y1 - 1 of
 * the picture? With half a row to spare, as vertices are rounded before they are drawn. */
static bool
touches(const struct surface *surface, size_t y, size_t piece, float y0, float y1)
{
	const float *above = surface->reach[y * surface->pieces + piece];
	const float *below = surface->reach[(y + 1) * surface->pieces + piece];

	y0 -= 0.5f;
	y1 += 0.5f;
	return (above[1] >= y0 || below[1] >= y0) && (above[0] < y1 || below[0] < y1);
}

/* Draws rows y0 <= y < y1 of the picture into a raster that has them. Several threads may draw
 * different rows. */
static void
surface_draw(const struct surface *surface, struct raster *raster, size_t y0, size_t y1)
{
	const struct raster_vertex *v = surface->vertex;
	size_t cells = surface->mesh.w - 1;
	uint32_t t[2 * PIECE][3];

	raster_clear(raster, y0, y1);
	for (size_t y = 0; y + 1 < surface->mesh.h; y++)
		for (size_t piece = 0; piece < surface->pieces; piece++) {
			size_t x = piece * PIECE, end = x + PIECE < cells ? x + PIECE : cells, n;

			if (!touches(surface, y, piece, (float)y0, (float)y1))
				continue;
			n = mesh_cells(&surface->mesh, x, y, end - x, t);
			for (size_t k = 0; k < n; k++)
				raster_triangle(raster, y0, y1, &v[t[k][0]], &v[t[k][1]],
				    &v[t[k][2]]);
		}
}

#define CHUNK 256		/* samples of a row that are lit together */

struct chunk {
	float colour[3][CHUNK], level[3][CHUNK];
};

/* The levels of n samples from `first` on. Samples without a surface have normal 0, and are
 * background. */
static void
find_levels(const struct picture *picture, const struct raster *raster, size_t first, size_t n,
    struct chunk *chunk)
{
	const struct shade_light light = picture->priv->light;
	const struct shade_vector background = picture->priv->background;
	const float *restrict z = raster->z + first;
	const float *restrict attribute = raster->attribute + first * SURFACE_PLANES;
	float value[CHUNK];

	for (size_t i = 0; i < n; i++)
		value[i] = attribute[i * SURFACE_PLANES + SURFACE_VALUE];
	colours_fill(picture->priv, picture->parameters->by == BY_NONE ? NULL : value,
	    chunk->colour[0], chunk->colour[1], chunk->colour[2], n);
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		bool drawn = z[i] != INFINITY;
		float nx = attribute[i * SURFACE_PLANES + SURFACE_NX];
		float ny = attribute[i * SURFACE_PLANES + SURFACE_NY];
		float nz = attribute[i * SURFACE_PLANES + SURFACE_NZ];
		struct shade_vector normal = { px_select(drawn, nx, 0.0f),
			px_select(drawn, ny, 0.0f), px_select(drawn, nz, 0.0f) };
		struct shade_vector colour = { chunk->colour[0][i], chunk->colour[1][i],
			chunk->colour[2][i] };
		struct shade_vector level = shade_levels(light, normal, colour, background);

		chunk->level[0][i] = level.x;
		chunk->level[1][i] = level.y;
		chunk->level[2][i] = level.z;
	}
}

/* Adds n samples to each pixel, from left to right; fast where n is a constant. */
static inline void
add_n(const float *restrict level, size_t n, size_t pixels, float *restrict sum)
{
	for (size_t i = 0; i < pixels; i++)
		for (size_t k = 0; k < n; k++)
			sum[i] += level[i * n + k];
}

static void
add_samples(const float *level, size_t n, size_t pixels, float *sum)
{
	if (n == 2)		/* the default */
		add_n(level, 2, pixels, sum);
	else
		add_n(level, n, pixels, sum);
}

/* A row of pixels, each the mean of n x n samples, n <= CHUNK. */
static void
paint_row(const struct picture *picture, const struct raster *raster, size_t y)
{
	size_t n = picture->samples, w = picture->out->head.w, most = CHUNK / n;
	struct chunk chunk;

	for (size_t x = 0, pixels; x < w; x += pixels) {
		float sum[3][CHUNK] = { 0 };

		pixels = w - x < most ? w - x : most;
		for (size_t j = 0; j < n; j++) {
			size_t first = (y * n + j - raster->top) * raster->w + x * n;

			find_levels(picture, raster, first, pixels * n, &chunk);
			for (size_t k = 0; k < 3; k++)
				add_samples(chunk.level[k], n, pixels, sum[k]);
		}
		for (size_t k = 0; k < 3; k++) {
			unsigned char *to = frame_row(picture->out, k, y);

			for (size_t i = 0; i < pixels; i++)
				to[x + i] = (unsigned char)(sum[k][i] / (float)(n * n) + 0.5f);
		}
	}
}

static size_t
strip_end(const struct picture *picture, size_t strip)
{
	size_t end = (strip + 1) * picture->rows;

	return end < picture->h ? end : picture->h;
}

static void
paint_strip(const struct picture *picture, const struct raster *raster, size_t strip)
{
	size_t end = strip_end(picture, strip) / picture->samples;

	for (size_t y = strip * picture->rows / picture->samples; y < end; y++)
		paint_row(picture, raster, y);
}

/* A thread's strips, one after another, in memory of its own that stays in its cache. */
static void
draw_and_paint(void *arg, size_t thread)
{
	struct picture *picture = arg;
	struct raster *raster = &picture->raster[thread];
	size_t strip;

	while ((strip = __atomic_fetch_add(&picture->next, 1, __ATOMIC_RELAXED)) <
	    picture->strips) {
		raster->top = strip * picture->rows;
		surface_draw(picture->surface, raster, raster->top, strip_end(picture, strip));
		paint_strip(picture, raster, strip);
	}
}

static void
draw_only(void *arg, size_t strip)
{
	const struct picture *picture = arg;

	surface_draw(picture->surface, picture->raster, strip * picture->rows,
	    strip_end(picture, strip));
}

static void
paint_only(void *arg, size_t strip)
{
	const struct picture *picture = arg;

	paint_strip(picture, picture->raster, strip);
}

const struct shade_rows AT_LEVEL(shade_rows) = {
	.find_row = find_row,
	.one_colour_look = one_colour_look,
	.fill_vertices = fill_vertices,
	.normals_band = normals_band,
	.turn_piece = turn_piece,
	.place_piece = place_piece,
	.find_reach = find_reach,
	.draw_and_paint = draw_and_paint,
	.draw_only = draw_only,
	.paint_only = paint_only,
	.pixels_rows = pixels_rows,
};
