/*
 * The loops of mesh2depth: frames as triangles, points on their way into the view, triangles sorted
 * into bands of rows and drawn.
 */
#include "mesh2depth.h"

#include <string.h>

#include "mesh/mesh.h"

/* ---- points on their way into the view ---- */

static size_t
piece_end(size_t piece, size_t n)
{
	return (piece + 1) * PIECE < n ? (piece + 1) * PIECE : n;
}

static bool
finite_triangle(const struct triangles *triangles, size_t i)
{
	double none = 0;

	/* 0 times infinity or NaN is NaN */
	for (int k = 0; k < 9; k++)
		none += 0 * triangles->point[triangles->corner[i][k / 3]][k % 3];
	return none == 0;
}

/* Several threads may mark one point. */
static void
mesh2depth_mark_piece(void *arg, size_t piece)
{
	const struct points *points = arg;
	const struct triangles *triangles = points->triangles;

	for (size_t i = piece * PIECE; i < piece_end(piece, triangles->n); i++)
		if (finite_triangle(triangles, i))
			for (int k = 0; k < 3; k++)
				__atomic_store_n(&points->used[triangles->corner[i][k]], true,
				    __ATOMIC_RELAXED);
}

static void
mesh2depth_box_piece(void *arg, size_t piece)
{
	const struct points *points = arg;
	const struct triangles *triangles = points->triangles;
	struct box box = empty_box;

	for (size_t i = piece * PIECE; i < piece_end(piece, triangles->points); i++)
		if (points->used[i])
			widen(&box, triangles->point[i], triangles->point[i]);
	points->box[piece] = box;
}

static void
mesh2depth_turn_piece(void *arg, size_t piece)
{
	const struct placing *placing = arg;

	for (size_t i = piece * PIECE; i < piece_end(piece, placing->triangles->points); i++) {
		double *p = placing->triangles->point[i];

		for (int k = 0; k < 3; k++)
			p[k] -= placing->from[k];
		turn(placing->axes, p);
	}
}

static void
mesh2depth_place_piece(void *arg, size_t piece)
{
	const struct placing *placing = arg;

	for (size_t i = piece * PIECE; i < piece_end(piece, placing->triangles->points); i++)
		place_point(placing, placing->triangles->point[i]);
}

/* ---- the picture ---- */

#define ROUNDED 1e-6		/* px: more than drawing moves a corner */

/* The rows of pixel centres that a triangle reaches, or nearly reaches. False: there are none.
 * raster_triangle() finds them exactly, for far fewer triangles. */
static bool
find_rows(const double y[3], size_t h, size_t *from, size_t *to)
{
	double low = y[0] < y[1] ? y[0] : y[1], high = y[0] < y[1] ? y[1] : y[0];

	low = y[2] < low ? y[2] : low;
	high = y[2] > high ? y[2] : high;
	low -= ROUNDED;
	high += ROUNDED;
	/* a triangle with a NaN is not drawn, whatever its rows */
	if (!(low < (double)h) || !(high >= 0))
		return false;
	*from = low > 0 ? (size_t)low : 0;
	*from += (double)*from < low;
	*to = high < (double)h ? (size_t)high : h - 1;
	return *from <= *to;
}

/* The first and the last band that a triangle reaches into; the last is before the first where it
 * covers no row of pixels. */
static void
find_reach(struct scene *scene, size_t i)
{
	const struct triangles *t = scene->triangles;
	const uint32_t *corner = t->corner[i];
	const double y[3] = { t->point[corner[0]][1], t->point[corner[1]][1],
		t->point[corner[2]][1] };
	size_t from, to;
	bool covers = find_rows(y, scene->raster.h, &from, &to);

	scene->reach[i][0] = covers ? (unsigned char)(from / scene->rows) : 1;
	scene->reach[i][1] = covers ? (unsigned char)(to / scene->rows) : 0;
}

static void
mesh2depth_count_piece(void *arg, size_t piece)
{
	struct scene *scene = arg;
	size_t *count = scene->place[piece];

	for (size_t i = piece * PIECE; i < piece_end(piece, scene->triangles->n); i++) {
		find_reach(scene, i);
		for (size_t b = scene->reach[i][0]; b <= scene->reach[i][1]; b++)
			count[b]++;
	}
}

static void
mesh2depth_sort_piece(void *arg, size_t piece)
{
	struct scene *scene = arg;
	size_t *place = scene->place[piece];

	for (size_t i = piece * PIECE; i < piece_end(piece, scene->triangles->n); i++)
		for (size_t b = scene->reach[i][0]; b <= scene->reach[i][1]; b++)
			scene->triangle[place[b]++] = (uint32_t)i;
}

static void
draw_triangle(struct scene *scene, size_t i, size_t y0, size_t y1)
{
	const struct triangles *t = scene->triangles;
	struct raster_vertex v[3];

	for (int k = 0; k < 3; k++) {
		uint32_t at = t->corner[i][k];

		v[k].x = t->point[at][0];
		v[k].y = t->point[at][1];
		v[k].z = t->point[at][2];
		v[k].attribute[0] = t->texture ? t->texture[at] : 0;
	}
	raster_triangle(&scene->raster, y0, y1, &v[0], &v[1], &v[2]);
}

static void
mesh2depth_draw_band(void *arg, size_t band)
{
	struct scene *scene = arg;
	size_t y0 = band * scene->rows, y1 = y0 + scene->rows;

	raster_clear(&scene->raster, y0, y1);
	if (scene->triangle)
		for (size_t i = scene->first[band]; i < scene->first[band + 1]; i++)
			draw_triangle(scene, scene->triangle[i], y0, y1);
	else
		for (size_t i = 0; i < scene->triangles->n; i++)
			draw_triangle(scene, i, y0, y1);
}

static void
mesh2depth_fill_row(void *arg, size_t y)
{
	struct scene *scene = arg;
	const struct raster *raster = &scene->raster;
	bool hits = false;

	for (size_t x = 0; x < raster->w; x++) {
		size_t i = y * raster->w + x;
		bool hit = raster->z[i] < INFINITY;
		float depth = scene->away ? raster->z[i] : 0 - raster->z[i];

		frame_floats(scene->out, 0, y)[x] = hit ? depth : NAN;
		if (raster->attributes)
			frame_floats(scene->out, 1, y)[x] = hit ? raster->attribute[i] : NAN;
		hits |= hit;
	}
	if (hits)
		__atomic_store_n(&scene->hit, true, __ATOMIC_RELAXED);
}

/* ---- frames as triangles ---- */

#define STACKED_PIXELS 128	/* of a row, whose vertices or triangles stay on the stack */

static size_t
end_of_band(size_t band, size_t h)
{
	size_t end = (band + 1) * LISTED_ROWS;

	return end < h ? end : h;
}

static float
texture_at(const struct mesh *mesh, size_t x, size_t y)
{
	const size_t *colour = mesh->colour;
	float c[3];

	for (int k = 0; k < 3; k++)
		c[k] = frame_floats(mesh->floats, colour[k], y)[x];
	return colour[0] == colour[1] ? c[0] : triangles_luma(c[0], c[1], c[2]);
}

/* Lists the points of pixels x to x + pixels - 1 of a row. */
static void
list_points(const struct listing *listing, size_t x, size_t y, size_t pixels)
{
	const struct mesh *mesh = listing->mesh;
	const uint32_t *number = &mesh->number[y * mesh->w + x];
	struct triangles *triangles = listing->triangles;
	struct vertex vertex[STACKED_PIXELS], *from = vertex;

	mesh_vertices(mesh, x, y, pixels, vertex);
	for (size_t i = 0; i < pixels; i++) {
		if (number[i] == MESH_NONE)
			continue;
		for (int k = 0; k < 3; k++)
			triangles->point[number[i]][k] = from->point[k];
		if (triangles->texture)
			triangles->texture[number[i]] = texture_at(mesh, x + i, y);
		from++;
	}
}

static void
mesh2depth_begin_band(void *arg, size_t band)
{
	struct listing *listing = arg;
	const struct mesh *mesh = listing->mesh;
	size_t n = 0;

	for (size_t y = band * LISTED_ROWS; y < end_of_band(band, mesh->h); y++) {
		for (size_t x = 0; x < mesh->w; x += STACKED_PIXELS)
			list_points(listing, x, y,
			    mesh->w - x < STACKED_PIXELS ? mesh->w - x : STACKED_PIXELS);
		n += y + 1 < mesh->h ? mesh_row_count(mesh, y) : 0;
	}
	listing->first[band + 1] = n;
}

/* mesh_cells() may write beyond the last triangle, where another thread's begin: it writes to the
 * stack. */
static void
mesh2depth_list_band(void *arg, size_t band)
{
	struct listing *listing = arg;
	const struct mesh *mesh = listing->mesh;
	uint32_t (*to)[3] = listing->triangles->corner + listing->first[band];
	uint32_t some[2 * STACKED_PIXELS][3];

	for (size_t y = band * LISTED_ROWS; y < end_of_band(band, mesh->h - 1); y++)
		for (size_t x = 0; x + 1 < mesh->w; x += STACKED_PIXELS) {
			size_t cells = mesh->w - 1 - x;
			size_t n = mesh_cells(mesh, x, y,
			    cells < STACKED_PIXELS ? cells : STACKED_PIXELS, some);

			memcpy(to, some, n * sizeof(*some));
			to += n;
		}
}

const struct mesh2depth_rows AT_LEVEL(mesh2depth_rows) = {
	.begin_band = mesh2depth_begin_band,
	.list_band = mesh2depth_list_band,
	.count_piece = mesh2depth_count_piece,
	.sort_piece = mesh2depth_sort_piece,
	.draw_band = mesh2depth_draw_band,
	.fill_row = mesh2depth_fill_row,
	.mark_piece = mesh2depth_mark_piece,
	.box_piece = mesh2depth_box_piece,
	.turn_piece = mesh2depth_turn_piece,
	.place_piece = mesh2depth_place_piece,
};
