/* The loops of mesh2depth: frames as triangles. */
#include "mesh2depth.h"

#include "mesh/mesh.h"

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
};
