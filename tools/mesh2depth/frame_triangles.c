#include "frame_triangles.h"

#include <stdlib.h>
#include <string.h>

#include "base/large_memory.h"
#include "mesh/mesh.h"

#define ROWS 16			/* a thread's piece */
#define PIECE 128		/* pixels of a row whose vertices or triangles stay on the stack */

struct listing {
	const struct mesh *mesh;
	struct triangles *triangles;
	size_t bands, *first;		/* of each band of ROWS rows its first triangle */
};

static size_t
end_of_band(size_t band, size_t h)
{
	size_t end = (band + 1) * ROWS;

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

/* The points of pixels x to x + pixels - 1 of a row. */
static void
list_points(const struct listing *listing, size_t x, size_t y, size_t pixels)
{
	const struct mesh *mesh = listing->mesh;
	const uint32_t *number = &mesh->number[y * mesh->w + x];
	struct triangles *triangles = listing->triangles;
	struct vertex vertex[PIECE], *from = vertex;

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

/* Points of a band, and how many triangles it has. */
static void
begin_band(void *arg, size_t band)
{
	struct listing *listing = arg;
	const struct mesh *mesh = listing->mesh;
	size_t n = 0;

	for (size_t y = band * ROWS; y < end_of_band(band, mesh->h); y++) {
		for (size_t x = 0; x < mesh->w; x += PIECE)
			list_points(listing, x, y, mesh->w - x < PIECE ? mesh->w - x : PIECE);
		n += y + 1 < mesh->h ? mesh_row_count(mesh, y) : 0;
	}
	listing->first[band + 1] = n;
}

/* mesh_cells() may write behind the last triangle, where another thread's begin. */
static void
list_band(void *arg, size_t band)
{
	struct listing *listing = arg;
	const struct mesh *mesh = listing->mesh;
	uint32_t (*to)[3] = listing->triangles->corner + listing->first[band];
	uint32_t some[2 * PIECE][3];

	for (size_t y = band * ROWS; y < end_of_band(band, mesh->h - 1); y++)
		for (size_t x = 0; x + 1 < mesh->w; x += PIECE) {
			size_t cells = mesh->w - 1 - x;
			size_t n = mesh_cells(mesh, x, y, cells < PIECE ? cells : PIECE, some);

			memcpy(to, some, n * sizeof(*some));
			to += n;
		}
}

static int
list_all(struct run *run, struct listing *listing)
{
	const struct mesh *mesh = listing->mesh;
	struct triangles *triangles = listing->triangles;

	triangles->points = mesh->vertices;
	triangles->point = large_memory(mesh->vertices + 1, sizeof(*triangles->point));
	if (mesh_has_colours(mesh))
		triangles->texture = large_memory(mesh->vertices + 1, sizeof(*triangles->texture));
	if (!triangles->point || (mesh_has_colours(mesh) && !triangles->texture))
		return fail_memory();
	run_for(run, listing->bands, begin_band, listing);
	for (size_t band = 0; band < listing->bands; band++)
		listing->first[band + 1] += listing->first[band];
	triangles->n = listing->first[listing->bands];
	triangles->corner = large_memory(triangles->n + 1, sizeof(*triangles->corner));
	if (!triangles->corner)
		return fail_memory();
	run_for(run, listing->bands, list_band, listing);
	return 0;
}

int
frame_triangles(struct run *run, const char *name, const struct frame *frame, double jump,
    struct triangles *triangles)
{
	struct mesh_options options = { .jump = jump };
	struct listing listing = { .triangles = triangles };
	struct mesh mesh;
	int status = mesh_init(&mesh, name, frame, &options);

	*triangles = (struct triangles){ 0 };
	listing.mesh = &mesh;
	listing.bands = (mesh.h + ROWS - 1) / ROWS;
	if (status == 0) {
		listing.first = calloc(listing.bands + 1, sizeof(*listing.first));
		status = listing.first ? list_all(run, &listing) : fail_memory();
	}
	triangles->axes = mesh.towards ? AXES_CAMERA_TOWARDS : AXES_CAMERA_AWAY;
	free(listing.first);
	mesh_free(&mesh);
	return status;
}
