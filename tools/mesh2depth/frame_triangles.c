#include "frame_triangles.h"

#include "mesh/mesh.h"

static int
add_points(struct triangles *triangles, const char *name, const struct mesh *mesh)
{
	const size_t *colour = mesh->colour;

	for (size_t y = 0; y < mesh->h; y++) {
		const struct vertex *vertex = mesh->row;

		mesh_row(mesh, y);
		for (size_t x = 0; x < mesh->w; x++) {
			const float *p = vertex->point;
			float c[3];

			if (mesh->number[y * mesh->w + x] == MESH_NONE)
				continue;
			vertex++;
			if (triangles_add_point(triangles, name,
			    (const double[3]){ p[0], p[1], p[2] }) < 0)
				return -1;
			if (!mesh_has_colours(mesh))
				continue;
			for (int k = 0; k < 3; k++)
				c[k] = frame_floats(mesh->floats, colour[k], y)[x];
			if (triangles_add_texture(triangles, colour[0] == colour[1] ? c[0] :
			    triangles_luma(c[0], c[1], c[2])) < 0)
				return -1;
		}
	}
	return 0;
}

static int
add_cells(struct triangles *triangles, const char *name, const struct mesh *mesh)
{
	for (size_t y = 0; y + 1 < mesh->h; y++) {
		size_t n = mesh_row_triangles(mesh, y);

		for (size_t i = 0; i < n; i++) {
			const uint32_t *t = mesh->triangle[i];

			if (triangles_add(triangles, name, (const uint64_t[3]){ t[0], t[1],
			    t[2] }) < 0)
				return -1;
		}
	}
	return 0;
}

int
frame_triangles(const char *name, const struct frame *frame, double jump,
    struct triangles *triangles)
{
	struct mesh_options options = { .jump = jump };
	struct mesh mesh;
	int status = mesh_init(&mesh, name, frame, &options);

	*triangles = (struct triangles){ 0 };
	if (status == 0)
		status = add_points(triangles, name, &mesh);
	if (status == 0)
		status = add_cells(triangles, name, &mesh);
	if (status == 0)
		status = triangles_check(triangles, name);
	triangles->axes = mesh.towards ? AXES_CAMERA_TOWARDS : AXES_CAMERA_AWAY;
	mesh_free(&mesh);
	return status;
}
