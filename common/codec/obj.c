/*
 * Wavefront OBJ, written only; colours follow the vertex, as MeshLab and Blender read them.
 * Comments name how much there is, as MeshLab's do, so that a reader sees that a file was cut off.
 */
#include "io/codec.h"

#include "base/fail.h"
#include "mesh/mesh.h"

static void
write_vertices(FILE *file, const struct mesh *mesh)
{
	for (size_t y = 0; y < mesh->h; y++) {
		size_t n = mesh_vertices(mesh, 0, y, mesh->w, mesh->row);

		for (const struct vertex *v = mesh->row; v < mesh->row + n; v++) {
			fprintf(file, "v %.9g %.9g %.9g", v->point[0], v->point[1], v->point[2]);
			if (mesh_has_colours(mesh))
				fprintf(file, " %.4g %.4g %.4g", v->colour[0] / 255.0,
				    v->colour[1] / 255.0, v->colour[2] / 255.0);
			fputc('\n', file);
			if (mesh_has_normals(mesh))
				fprintf(file, "vn %.9g %.9g %.9g\n", v->normal[0], v->normal[1],
				    v->normal[2]);
		}
	}
}

/* Vertices count from 1; a vertex and its normal have the same number. */
static void
write_faces(FILE *file, struct mesh *mesh)
{
	for (size_t y = 0; y < mesh_triangle_rows(mesh); y++) {
		size_t n = mesh_row_triangles(mesh, y);

		for (size_t i = 0; i < n; i++) {
			const uint32_t *t = mesh->triangle[i];
			uint32_t a = t[0] + 1, b = t[1] + 1, c = t[2] + 1;

			if (mesh_has_normals(mesh))
				fprintf(file, "f %u//%u %u//%u %u//%u\n", a, a, b, b, c, c);
			else
				fprintf(file, "f %u %u %u\n", a, b, c);
		}
	}
}

static int
obj_save(struct saver *saver, const struct frame *frame)
{
	struct mesh mesh;
	int status = mesh_init(&mesh, saver->path, frame, saver->options);

	if (status == 0)
		status = mesh_write_comments(&mesh, saver->path, saver->file, "#");
	if (status == 0) {
		fprintf(saver->file, "# Vertices: %zu\n", mesh.vertices);
		if (mesh.jump > 0)
			fprintf(saver->file, "# Faces: %zu\n", mesh_triangles(&mesh));
		write_vertices(saver->file, &mesh);
		if (mesh.jump > 0)
			write_faces(saver->file, &mesh);
		if (ferror(saver->file))
			status = fail_errno(saver->path, "cannot be written");
	}
	mesh_free(&mesh);
	return status;
}

/* An OBJ file has no magic number, and is not read. */
const struct codec codec_obj = {
	.name = "OBJ",
	.suffixes = "obj",
	.options = mesh_options,
	.option_size = sizeof(struct mesh_options),
	.save = obj_save
};
