/*
 * The loops of shade on the processor: the colours, pictures from the camera with the normals of
 * each pixel, and what is counted of a frame's values. shade.px.h has the formulas, turned_rows.c
 * turned views.
 */
#include "shade.h"

#include "image/colormap.px.h"

/* ---- the colours of a surface: by a value, or of plaster ---- */

static void
fill_by_value(const struct priv *priv, const float *restrict value, float *restrict r,
    float *restrict g, float *restrict b, size_t n)
{
	const float *restrict anchor = priv->anchor[0];
	float last = (float)(priv->anchors - 1);
	float low = priv->low, span = priv->high - priv->low;
	struct shade_vector nan = priv->nan;

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
	for (size_t k = 0; k < 3 && priv->rgb[0] != NO_CHANNEL; k++) {
		float other[2][TILE];
		float *rgb[3];

		/* each colour is the same one of the grey of its value */
		rgb[k] = (float *[]){ tile->colour.x, tile->colour.y, tile->colour.z }[k];
		rgb[(k + 1) % 3] = other[0];
		rgb[(k + 2) % 3] = other[1];
		fill_by_value(priv, frame_floats(in, priv->rgb[k], y) + x, rgb[0], rgb[1], rgb[2],
		    n);
	}
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

/* The same, by the normals of the triangles around each pixel. Or, where `normals` is a frame, puts
 * these normals there. */
static void
shade_found(const struct run *run, const struct frame *in, struct frame *out,
    struct frame *normals, size_t x, size_t n, size_t y0, size_t y1, struct tile *tile)
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
		if (!normals) {
			put_row(run, in, out, y, x, &line[here], tile, n);
			continue;
		}
		memcpy(frame_floats(normals, 0, y) + x, tile->normal.x, n * sizeof(float));
		memcpy(frame_floats(normals, 1, y) + x, tile->normal.y, n * sizeof(float));
		memcpy(frame_floats(normals, 2, y) + x, tile->normal.z, n * sizeof(float));
	}
}

static void
find_normals(const struct run *run, const struct frame *in, size_t y0, size_t y1,
    struct frame *normals)
{
	struct tile tile;

	for (size_t x = 0; x < in->head.w; x += TILE) {
		size_t n = in->head.w - x < TILE ? in->head.w - x : TILE;

		shade_found(run, in, NULL, normals, x, n, y0, y1, &tile);
	}
}

static void
pixels_rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *)
{
	const struct priv *priv = run->priv;
	struct tile tile;

	one_colour_look(run, in, y0, y1);
	colours_fill(priv, NULL, tile.colour.x, tile.colour.y, tile.colour.z, TILE);
	for (size_t x = 0; x < in->head.w; x += TILE) {
		size_t n = in->head.w - x < TILE ? in->head.w - x : TILE;

		if (mesh_has_normals(&priv->mesh))
			shade_given(run, in, out, x, n, y0, y1, &tile);
		else
			shade_found(run, in, out, NULL, x, n, y0, y1, &tile);
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

const struct shade_rows AT_LEVEL(shade_rows) = {
	.find_row = find_row,
	.one_colour_look = one_colour_look,
	.find_normals = find_normals,
	.pixels_rows = pixels_rows,
};
