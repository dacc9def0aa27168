/* The vertices and triangles of a mesh, by rows. */
#include "mesh/mesh.h"

#include <math.h>

/* Cells taken at once: what they need stays on the stack. */
#define CELLS 128

/* Rows y and y + 1 of z from pixel x on, NaN where there is no vertex. */
struct strip {
	float z[2][CELLS + 1];
	const uint32_t *number[2];
	float jump;		/* the largest float that is no jump */
};

static void
strip_load(const struct mesh *mesh, size_t x, size_t y, size_t cells, struct strip *strip)
{
	for (size_t i = 0; i < 2; i++) {
		const float *z = frame_floats(mesh->floats, mesh->point[2], y + i);
		const uint32_t *number = &mesh->number[(y + i) * mesh->w + x];

		for (size_t k = 0; k <= cells; k++)
			strip->z[i][k] = number[k] == MESH_NONE ? NAN : z[x + k];
		strip->number[i] = number;
	}
	strip->jump = (float)mesh->jump;
	if ((double)strip->jump > mesh->jump)
		strip->jump = nextafterf(strip->jump, 0);
}

/*
 * Which triangles a cell has. Its corners are 0 1 above, 2 3 below; a step from or to a missing one
 * is NaN and passes no comparison.
 */
struct cell {
	bool falling;		/* split from 0 to 3, else from 1 to 2 */
	bool left, right;	/* the triangle at the left and at the right side */
};

static inline struct cell
cell_at(const struct strip *strip, size_t x)
{
	const float *a = &strip->z[0][x], *b = &strip->z[1][x], jump = strip->jump;
	float falls = fabsf(a[0] - b[1]), rises = fabsf(a[1] - b[0]);
	bool falling = (falls < rises) | (rises != rises);
	bool above = fabsf(a[0] - a[1]) <= jump, below = fabsf(b[0] - b[1]) <= jump;
	bool split = (falling ? falls : rises) <= jump;

	return (struct cell){ falling,
		split & (fabsf(a[0] - b[0]) <= jump) & (falling ? below : above),
		split & (fabsf(a[1] - b[1]) <= jump) & (falling ? above : below) };
}

/* Corners are counter-clockwise on the screen, or clockwise: `first` is 0 or 2. */
static inline size_t
strip_triangles(const struct strip *strip, size_t cells, size_t first, uint32_t (*triangle)[3])
{
	size_t n = 0, last = 2 - first;

	for (size_t x = 0; x < cells; x++) {
		const uint32_t *a = &strip->number[0][x], *b = &strip->number[1][x];
		struct cell cell = cell_at(strip, x);

		triangle[n][first] = a[0];
		triangle[n][1] = b[0];
		triangle[n][last] = cell.falling ? b[1] : a[1];
		n += cell.left;
		triangle[n][first] = cell.falling ? a[0] : a[1];
		triangle[n][1] = cell.falling ? b[1] : b[0];
		triangle[n][last] = cell.falling ? a[1] : b[1];
		n += cell.right;
	}
	return n;
}

size_t
mesh_cells(const struct mesh *mesh, size_t x, size_t y, size_t cells, uint32_t (*triangle)[3])
{
	struct strip strip;
	size_t n = 0;

	for (size_t take; cells; x += take, cells -= take) {
		take = cells < CELLS ? cells : CELLS;
		strip_load(mesh, x, y, take, &strip);
		n += mesh->towards ? strip_triangles(&strip, take, 2, triangle + n) :
		    strip_triangles(&strip, take, 0, triangle + n);
	}
	return n;
}

size_t
mesh_row_triangles(const struct mesh *mesh, size_t y)
{
	return mesh_cells(mesh, 0, y, mesh->w - 1, mesh->triangle);
}

size_t
mesh_row_count(const struct mesh *mesh, size_t y)
{
	struct strip strip;
	size_t n = 0;

	for (size_t x = 0, take; x + 1 < mesh->w; x += take) {
		unsigned count = 0;

		take = mesh->w - 1 - x < CELLS ? mesh->w - 1 - x : CELLS;
		strip_load(mesh, x, y, take, &strip);
		for (size_t i = 0; i < take; i++) {
			struct cell cell = cell_at(&strip, i);

			count += (unsigned)cell.left + (unsigned)cell.right;
		}
		n += count;
	}
	return n;
}

size_t
mesh_triangles(const struct mesh *mesh)
{
	size_t n = 0;

	for (size_t y = 0; y + 1 < mesh->h; y++)
		n += mesh_row_count(mesh, y);
	return n;
}

/* The level of a sample, 0 to 255. */
static inline unsigned char
colour_level(float sample, float white)
{
	float v = sample * 255 / white;

	return (unsigned char)(v >= 255 ? 255 : v > 0 ? v + 0.5f : 0);
}

/* The row's samples of three channels; NULL for those that are none. */
static void
find_rows(const struct mesh *mesh, const size_t channel[3], size_t y, const float *row[3])
{
	for (int k = 0; k < 3; k++)
		row[k] = channel[k] == NO_CHANNEL ? NULL :
		    frame_floats(mesh->floats, channel[k], y);
}

size_t
mesh_vertices(const struct mesh *mesh, size_t from, size_t y, size_t pixels, struct vertex *vertex)
{
	const uint32_t *number = &mesh->number[y * mesh->w];
	const float *point[3], *normal[3], *colour[3];
	bool normals = mesh_has_normals(mesh), colours = mesh_has_colours(mesh);
	struct vertex *to = vertex;

	find_rows(mesh, mesh->point, y, point);
	find_rows(mesh, mesh->normal, y, normal);
	find_rows(mesh, mesh->colour, y, colour);
	for (size_t x = from; x < from + pixels; x++) {
		if (number[x] == MESH_NONE)
			continue;
		to->point[0] = point[0] ? point[0][x] : (float)((double)x * mesh->spacing[0]);
		to->point[1] = point[1] ? point[1][x] : (float)((double)y * mesh->spacing[1]);
		to->point[2] = point[2][x];
		for (int k = 0; normals && k < 3; k++)
			to->normal[k] = normal[k][x];
		for (int k = 0; colours && k < 3; k++)
			to->colour[k] = k && colour[k] == colour[0] ? to->colour[0] :
			    colour_level(colour[k][x], mesh->white);
		to++;
	}
	return (size_t)(to - vertex);
}

size_t
mesh_row(const struct mesh *mesh, size_t y)
{
	return mesh_vertices(mesh, 0, y, mesh->w, mesh->row);
}
