#include "pixels.h"

#include "base/cpu_level.h"
#include "colours.h"
#include "one_colour.h"

#define TILE 256
#define SPAN (TILE + 32)		/* a column more on each side, and whole vectors */

/* A piece of a row with a column more on each side; z is NaN where a point is missing, and points
 * away from the camera. */
struct line {
	float x[SPAN], y[SPAN], z[SPAN];
} __attribute__((aligned(64)));

struct row_shares {
	float x[SPAN], y[SPAN], z[SPAN];
};

/* What the squares between two lines give to their corners: that left of pixel i at [i]. */
struct squares {
	struct row_shares a, b, c, d;
} __attribute__((aligned(64)));

/* Normals, and then colours, of the pixels of a tile. */
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

/* Columns x - 1 to x + n of row y; there is nothing outside of the image. */
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

/* Pixels of a line between the squares above and below it; 0 where the pixel is missing. */
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

/* The frame's own normals, where there are points. */
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

/* Gives points without a normal one. */
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

/* Rows y0 .. y1 - 1 of n columns from x on, by the normals that the frame brings. */
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

/* The same by the triangles around each pixel. */
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

void
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
