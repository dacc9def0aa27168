#include "surface.h"

#include <math.h>
#include <stdlib.h>

#include "base/large_memory.h"
#include "mesh/mesh.h"

#define BANDS_ROWS 32
#define PIECE 32		/* cells of a row: passed over where no band reaches */
#define MESH_ROWS 16		/* a thread's piece of the mesh */
#define VERTICES 8192		/* a thread's piece of the vertices */
#define MARGIN 0.04		/* of the picture, left free on each side of a turned view */

struct scene {
	struct mesh mesh;
	struct raster_vertex *vertex; /* by vertex number; x y z in view coordinates, then pixels */
	float (*own)[3];		/* x y z in the frame's own coordinates, z away */
	uint32_t *first;		/* of each row of pixels: the vertices before it */
	float (*reach)[2]; /* of each piece of a row of pixels: the picture's rows, low and high */
	size_t pieces;			/* of a row */
	double rotation[9];
	double middle[2], scale;	/* of the turned coordinates; pixels of one */
	const struct surface_view *view;
	struct raster *raster;
};

static void
scene_free(struct scene *scene)
{
	free(scene->vertex);
	free(scene->own);
	free(scene->first);
	free(scene->reach);
	mesh_free(&scene->mesh);
}

static int
scene_init(struct scene *scene, const struct frame *frame, double jump)
{
	struct mesh_options options = { .jump = jump };

	if (mesh_init(&scene->mesh, NULL, frame, &options) < 0)
		return -1;
	scene->vertex = large_memory(scene->mesh.vertices + 1, sizeof(*scene->vertex));
	scene->own = large_memory(scene->mesh.vertices + 1, sizeof(*scene->own));
	scene->first = calloc(scene->mesh.h + 1, sizeof(*scene->first));
	scene->pieces = (scene->mesh.w + PIECE - 1) / PIECE;
	scene->reach = calloc(scene->mesh.h, scene->pieces * sizeof(*scene->reach));
	return scene->vertex && scene->own && scene->first && scene->reach ? 0 : fail_memory();
}

static void
fill_vertices(struct scene *scene, const struct frame *frame, size_t value)
{
	const struct mesh *mesh = &scene->mesh;
	bool has_normals = mesh_has_normals(mesh);

	for (size_t y = 0; y < mesh->h; y++) {
		const struct vertex *vertex = mesh->row;

		scene->first[y + 1] = scene->first[y] + (uint32_t)mesh_row(mesh, y);
		for (size_t x = 0; x < mesh->w; x++) {
			uint32_t i = mesh->number[y * mesh->w + x];
			float *own;

			if (i == MESH_NONE)
				continue;
			own = scene->own[i];
			for (int k = 0; k < 3; k++)
				own[k] = vertex->point[k];
			scene->vertex[i].attribute[SURFACE_VALUE] = value == NO_CHANNEL ? own[2] :
			    frame_floats(frame, value, y)[x];
			own[2] = mesh->towards ? -own[2] : own[2];
			for (int k = 0; k < 3; k++)
				scene->vertex[i].attribute[k] = has_normals ? vertex->normal[k] : 0;
			if (has_normals && mesh->towards)
				scene->vertex[i].attribute[SURFACE_NZ] *= -1;
			vertex++;
		}
	}
}

/* To the vertices `from` to `end` - 1. */
static inline void
add_face_normal(struct scene *scene, const uint32_t corner[3], uint32_t from, uint32_t end)
{
	const float *a = scene->own[corner[0]], *b = scene->own[corner[1]],
		    *c = scene->own[corner[2]];
	float u[3], v[3], n[3];

	for (int k = 0; k < 3; k++) {
		u[k] = b[k] - a[k];
		v[k] = c[k] - a[k];
	}
	for (int k = 0; k < 3; k++)
		n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3 && corner[i] >= from && corner[i] < end; k++)
			scene->vertex[corner[i]].attribute[k] += n[k];
}

/* Of each vertex the mean of its triangles' normals, by area, which are summed row by row. The row
 * above a band has triangles of its first vertices. */
static void
normals_band(void *arg, size_t band)
{
	struct scene *scene = arg;
	const struct mesh *mesh = &scene->mesh;
	size_t y0 = band * MESH_ROWS, y1 = y0 + MESH_ROWS < mesh->h ? y0 + MESH_ROWS : mesh->h;
	uint32_t from = scene->first[y0], end = scene->first[y1];
	uint32_t t[2 * PIECE][3];

	for (size_t y = y0 ? y0 - 1 : 0; y < y1 && y + 1 < mesh->h; y++)
		for (size_t x = 0; x + 1 < mesh->w; x += PIECE) {
			size_t cells = mesh->w - 1 - x < PIECE ? mesh->w - 1 - x : PIECE;
			size_t n = mesh_cells(mesh, x, y, cells, t);

			for (size_t i = 0; i < n; i++)
				add_face_normal(scene, t[i], from, end);
		}
}

static void
turn(float v[3], const double r[9])
{
	double in[3] = { v[0], v[1], v[2] };

	for (int k = 0; k < 3; k++)
		v[k] = (float)(r[3 * k] * in[0] + r[3 * k + 1] * in[1] + r[3 * k + 2] * in[2]);
}

/* First about the vertical axis (y), then about the horizontal one (x). */
static void
rotation(double yaw, double pitch, double r[9])
{
	double cy = cos(yaw), sy = sin(yaw), cp = cos(pitch), sp = sin(pitch);
	const double m[9] = { cy, 0, sy, sp * sy, cp, -sp * cy, -cp * sy, sp, cp * cy };

	for (int i = 0; i < 9; i++)
		r[i] = m[i];
}

/* What the picture shall hold of coordinate k: all of it, but for a few points that lie far out, as
 * wrong fringe orders do. */
static int
find_extent(const struct scene *scene, int k, double *low, double *high)
{
	size_t n = scene->mesh.vertices;
	float *v = large_memory(n + 1, sizeof(*v)), at[2], least = INFINITY, most = -INFINITY;
	double span;

	if (!v)
		return fail_memory();
	for (size_t i = 0; i < n; i++) {
		v[i] = scene->own[i][k];
		least = v[i] < least ? v[i] : least;
		most = v[i] > most ? v[i] : most;
	}
	*low = *high = 0;
	if (n) {
		numbers_ranks(v, n, (size_t[2]){ n / 100, n - 1 - n / 100 }, 2, at);
		span = (double)at[1] - at[0];
		*low = fmax(least, at[0] - 0.25 * span);
		*high = fmin(most, at[1] + 0.25 * span);
	}
	free(v);
	return 0;
}

static size_t
piece_end(const struct scene *scene, size_t piece)
{
	size_t end = (piece + 1) * VERTICES;

	return end < scene->mesh.vertices ? end : scene->mesh.vertices;
}

static void
turn_piece(void *arg, size_t piece)
{
	struct scene *scene = arg;

	for (size_t i = piece * VERTICES; i < piece_end(scene, piece); i++) {
		turn(scene->own[i], scene->rotation);
		turn(scene->vertex[i].attribute, scene->rotation);
	}
}

static void
place_piece(void *arg, size_t piece)
{
	struct scene *scene = arg;
	const double centre[2] = { ((double)scene->view->w - 1) / 2,
		((double)scene->view->h - 1) / 2 };

	for (size_t i = piece * VERTICES; i < piece_end(scene, piece); i++) {
		struct raster_vertex *v = &scene->vertex[i];
		const float *own = scene->own[i];

		v->x = (float)(centre[0] + scene->scale * (own[0] - scene->middle[0]));
		v->y = (float)(centre[1] + scene->scale * (own[1] - scene->middle[1]));
		v->z = (float)(scene->scale * own[2]);
	}
}

/* Turns all vertices and scales them into the picture; z grows in the same scale. */
static int
place_turned(struct run *run, struct scene *scene, double *pixels)
{
	const struct surface_view *view = scene->view;
	size_t pieces = (scene->mesh.vertices + VERTICES - 1) / VERTICES;
	double low[2], high[2];

	rotation(view->yaw_rad, view->pitch_rad, scene->rotation);
	run_for(run, pieces, turn_piece, scene);
	for (int k = 0; k < 2; k++) {
		if (find_extent(scene, k, &low[k], &high[k]) < 0)
			return -1;
		scene->middle[k] = (low[k] + high[k]) / 2;
	}
	scene->scale = (1 - 2 * MARGIN) *
	    fmin(((double)view->w - 1) / fmax(high[0] - low[0], 1e-30),
	    ((double)view->h - 1) / fmax(high[1] - low[1], 1e-30));
	*pixels = scene->mesh.scaled ? scene->scale : NAN;
	run_for(run, pieces, place_piece, scene);
	return 0;
}

static void
widen(float reach[2], double y)
{
	reach[0] = (float)y < reach[0] ? (float)y : reach[0];
	reach[1] = (float)y > reach[1] ? (float)y : reach[1];
}

/* Of a row of pixels: a pixel between two pieces is a corner of cells of both. */
static void
find_reach(void *arg, size_t y)
{
	struct scene *scene = arg;
	size_t w = scene->mesh.w;

	for (size_t i = 0; i < scene->pieces; i++)
		scene->reach[y * scene->pieces + i][0] =
		    -(scene->reach[y * scene->pieces + i][1] = -INFINITY);
	for (size_t x = 0; x < w; x++) {
		float (*reach)[2] = &scene->reach[y * scene->pieces + x / PIECE];
		uint32_t i = scene->mesh.number[y * w + x];

		if (i == MESH_NONE)
			continue;
		widen(reach[0], scene->vertex[i].y);
		if (x % PIECE == 0 && x > 0)
			widen(reach[-1], scene->vertex[i].y);
	}
}

/* Does the surface between rows y and y + 1 of pixels reach the band in this piece? */
static bool
touches(const struct scene *scene, size_t y, size_t piece, size_t y0)
{
	const float *above = scene->reach[y * scene->pieces + piece];
	const float *below = scene->reach[(y + 1) * scene->pieces + piece];

	return (above[1] >= (float)y0 || below[1] >= (float)y0) &&
	    (above[0] < (float)(y0 + BANDS_ROWS) || below[0] < (float)(y0 + BANDS_ROWS));
}

static void
draw_cells(const struct scene *scene, size_t x, size_t y, size_t cells, size_t y0)
{
	const struct raster_vertex *v = scene->vertex;
	uint32_t t[2 * PIECE][3];
	size_t n = mesh_cells(&scene->mesh, x, y, cells, t);

	for (size_t k = 0; k < n; k++)
		raster_triangle(scene->raster, y0, y0 + BANDS_ROWS, &v[t[k][0]], &v[t[k][1]],
		    &v[t[k][2]]);
}

static void
draw_band(void *arg, size_t band)
{
	const struct scene *scene = arg;
	size_t y0 = band * BANDS_ROWS, cells = scene->mesh.w - 1;

	raster_clear(scene->raster, y0, y0 + BANDS_ROWS);
	for (size_t y = 0; y + 1 < scene->mesh.h; y++)
		for (size_t piece = 0; piece < scene->pieces; piece++) {
			size_t end = (piece + 1) * PIECE < cells ? (piece + 1) * PIECE : cells;

			if (!touches(scene, y, piece, y0))
				continue;
			draw_cells(scene, piece * PIECE, y, end - piece * PIECE, y0);
		}
}

int
surface_draw(struct run *run, const struct frame *frame, const struct surface_view *view,
    struct raster *raster, double *scale)
{
	struct scene scene = { .view = view, .raster = raster };
	size_t bands;

	*raster = (struct raster){ 0 };
	if (scene_init(&scene, frame, view->jump) < 0 ||
	    raster_new(raster, view->w, view->h, SURFACE_PLANES) < 0) {
		scene_free(&scene);
		return -1;
	}
	fill_vertices(&scene, frame, view->value);
	bands = (scene.mesh.h + MESH_ROWS - 1) / MESH_ROWS;
	if (!mesh_has_normals(&scene.mesh))
		run_for(run, bands, normals_band, &scene);
	if (place_turned(run, &scene, scale) < 0) {
		scene_free(&scene);
		raster_free(raster);
		return -1;
	}
	run_for(run, scene.mesh.h, find_reach, &scene);
	run_for(run, (view->h + BANDS_ROWS - 1) / BANDS_ROWS, draw_band, &scene);
	scene_free(&scene);
	return 0;
}
