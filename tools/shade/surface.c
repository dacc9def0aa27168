#include "surface.h"

#include <math.h>
#include <stdlib.h>

#include "base/large_memory.h"
#include "mesh/mesh.h"

#define PIECE 32		/* cells of a row: passed over where no strip reaches */
#define MESH_ROWS 16		/* a thread's piece of the mesh */
#define VERTICES 8192		/* a thread's piece of the vertices */
#define MARGIN 0.04		/* of the picture, left free on each side of a turned view */

struct surface {
	struct mesh mesh;
	struct raster_vertex *vertex; /* by vertex number; x y z in view coordinates, then pixels */
	float (*own)[3];		/* x y z in the frame's own coordinates, z away */
	uint32_t *first;		/* of each row of pixels: the vertices before it */
	float (*reach)[2]; /* of each piece of a row of pixels: the picture's rows, low and high */
	size_t pieces;			/* of a row */
	double rotation[9];
	double middle[2], scale;	/* of the turned coordinates; pixels of one */
	size_t w, h;			/* of the picture */
};

void
surface_free(struct surface *surface)
{
	if (!surface)
		return;
	free(surface->vertex);
	free(surface->own);
	free(surface->first);
	free(surface->reach);
	mesh_free(&surface->mesh);
	free(surface);
}

static int
surface_init(struct surface *surface, const struct frame *frame, double jump)
{
	struct mesh_options options = { .jump = jump };

	if (mesh_init(&surface->mesh, NULL, frame, &options) < 0)
		return -1;
	surface->vertex = large_memory(surface->mesh.vertices + 1, sizeof(*surface->vertex));
	surface->own = large_memory(surface->mesh.vertices + 1, sizeof(*surface->own));
	surface->first = calloc(surface->mesh.h + 1, sizeof(*surface->first));
	surface->pieces = (surface->mesh.w + PIECE - 1) / PIECE;
	surface->reach = calloc(surface->mesh.h, surface->pieces * sizeof(*surface->reach));
	return surface->vertex && surface->own && surface->first && surface->reach ? 0 :
	    fail_memory();
}

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

/* To the vertices `from` to `end` - 1. */
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

/* Of each vertex the mean of its triangles' normals, by area, which are summed row by row. The row
 * above a band has triangles of its first vertices. */
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
find_extent(const struct surface *surface, int k, double *low, double *high)
{
	size_t n = surface->mesh.vertices;
	float *v = large_memory(n + 1, sizeof(*v)), at[2], least = INFINITY, most = -INFINITY;
	double span;

	if (!v)
		return fail_memory();
	for (size_t i = 0; i < n; i++) {
		v[i] = surface->own[i][k];
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

/* Turns all vertices and scales them into the picture; z grows in the same scale. */
static int
place_turned(struct run *run, struct surface *surface, const struct surface_view *view,
    double *pixels)
{
	size_t pieces = (surface->mesh.vertices + VERTICES - 1) / VERTICES;
	double low[2], high[2];

	rotation(view->yaw_rad, view->pitch_rad, surface->rotation);
	run_for(run, pieces, turn_piece, surface);
	for (int k = 0; k < 2; k++) {
		if (find_extent(surface, k, &low[k], &high[k]) < 0)
			return -1;
		surface->middle[k] = (low[k] + high[k]) / 2;
	}
	surface->scale = (1 - 2 * MARGIN) *
	    fmin(((double)view->w - 1) / fmax(high[0] - low[0], 1e-30),
	    ((double)view->h - 1) / fmax(high[1] - low[1], 1e-30));
	*pixels = surface->mesh.scaled ? surface->scale : NAN;
	run_for(run, pieces, place_piece, surface);
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

/* Does the surface between rows y and y + 1 of pixels reach the rows y0 to y1 - 1 of the picture in
 * this piece, or half a row beside them, as vertices are rounded before they are drawn? */
static bool
touches(const struct surface *surface, size_t y, size_t piece, float y0, float y1)
{
	const float *above = surface->reach[y * surface->pieces + piece];
	const float *below = surface->reach[(y + 1) * surface->pieces + piece];

	y0 -= 0.5f;
	y1 += 0.5f;
	return (above[1] >= y0 || below[1] >= y0) && (above[0] < y1 || below[0] < y1);
}

static void
draw_cells(const struct surface *surface, size_t x, size_t y, size_t cells, struct raster *raster,
    size_t y0, size_t y1)
{
	const struct raster_vertex *v = surface->vertex;
	uint32_t t[2 * PIECE][3];
	size_t n = mesh_cells(&surface->mesh, x, y, cells, t);

	for (size_t k = 0; k < n; k++)
		raster_triangle(raster, y0, y1, &v[t[k][0]], &v[t[k][1]], &v[t[k][2]]);
}

void
surface_draw(const struct surface *surface, struct raster *raster, size_t y0, size_t y1)
{
	size_t cells = surface->mesh.w - 1;

	raster_clear(raster, y0, y1);
	for (size_t y = 0; y + 1 < surface->mesh.h; y++)
		for (size_t piece = 0; piece < surface->pieces; piece++) {
			size_t end = (piece + 1) * PIECE < cells ? (piece + 1) * PIECE : cells;

			if (!touches(surface, y, piece, (float)y0, (float)y1))
				continue;
			draw_cells(surface, piece * PIECE, y, end - piece * PIECE, raster, y0, y1);
		}
}

int
surface_new(struct run *run, const struct frame *frame, const struct surface_view *view,
    struct surface **out, double *scale)
{
	struct surface *surface = calloc(1, sizeof(*surface));
	size_t bands;
	int status;

	*out = surface;
	if (!surface)
		return fail_memory();
	surface->w = view->w;
	surface->h = view->h;
	if (surface_init(surface, frame, view->jump) < 0)
		return -1;
	fill_vertices(surface, frame, view->value);
	bands = (surface->mesh.h + MESH_ROWS - 1) / MESH_ROWS;
	if (!mesh_has_normals(&surface->mesh))
		run_for(run, bands, normals_band, surface);
	status = place_turned(run, surface, view, scale);
	if (status == 0)
		run_for(run, surface->mesh.h, find_reach, surface);
	return status;
}
