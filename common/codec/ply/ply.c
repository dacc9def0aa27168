/*
 * PLY: images are written as meshes, binary little endian or ascii (what a vertex is, see mesh.h);
 * tables are written and read as clouds of points (cloud.h).
 */
#include "io/codec.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/ply/cloud.h"
#include "mesh/mesh.h"
#include "frame/samples.h"

static int
write_header(struct saver *saver, const struct mesh *mesh, bool ascii)
{
	FILE *file = saver->file;

	fprintf(file, "ply\nformat %s 1.0\n", ascii ? "ascii" : "binary_little_endian");
	if (mesh_write_comments(mesh, saver->path, file, "comment") < 0)
		return -1;
	fprintf(file, "element vertex %zu\n", mesh->vertices);
	fprintf(file, "property float x\nproperty float y\nproperty float z\n");
	if (mesh_has_normals(mesh))
		fprintf(file, "property float nx\nproperty float ny\nproperty float nz\n");
	if (mesh_has_colours(mesh))
		fprintf(file, "property uchar red\nproperty uchar green\nproperty uchar blue\n");
	if (mesh->jump > 0)
		fprintf(file, "element face %zu\nproperty list uchar int vertex_indices\n",
		    mesh_triangles(mesh));
	fprintf(file, "end_header\n");
	return ferror(file) ? fail_errno(saver->path, "cannot be written") : 0;
}

static void
write_ascii(FILE *file, const struct mesh *mesh, const struct vertex *v)
{
	fprintf(file, "%.9g %.9g %.9g", v->point[0], v->point[1], v->point[2]);
	if (mesh_has_normals(mesh))
		fprintf(file, " %.9g %.9g %.9g", v->normal[0], v->normal[1], v->normal[2]);
	if (mesh_has_colours(mesh))
		fprintf(file, " %d %d %d", v->colour[0], v->colour[1], v->colour[2]);
	fputc('\n', file);
}

static void
write_vertices(FILE *file, const struct mesh *mesh, bool ascii)
{
	for (size_t y = 0; y < mesh->h; y++)
		for (size_t x = 0; x < mesh->w; x++) {
			struct vertex v;

			if (mesh->number[y * mesh->w + x] == MESH_NONE)
				continue;
			mesh_vertex(mesh, x, y, &v);
			if (ascii) {
				write_ascii(file, mesh, &v);
				continue;
			}
			fwrite(v.point, sizeof(v.point), 1, file);
			if (mesh_has_normals(mesh))
				fwrite(v.normal, sizeof(v.normal), 1, file);
			if (mesh_has_colours(mesh))
				fwrite(v.colour, sizeof(v.colour), 1, file);
		}
}

static void
write_faces(FILE *file, const struct mesh *mesh, bool ascii)
{
	uint32_t t[2][3];

	for (size_t y = 0; y + 1 < mesh->h; y++)
		for (size_t x = 0; x + 1 < mesh->w; x++) {
			size_t n = mesh_cell(mesh, x, y, t);

			for (size_t i = 0; i < n; i++) {
				if (ascii) {
					fprintf(file, "3 %u %u %u\n", t[i][0], t[i][1], t[i][2]);
					continue;
				}
				fputc(3, file);
				fwrite(t[i], sizeof(t[i]), 1, file);
			}
		}
}

static int
ply_save(struct saver *saver, const struct frame *frame)
{
	const struct mesh_options *options = saver->options;
	bool ascii = options->ascii;
	struct mesh mesh;
	int status;

	if (head_is_table(&frame->head))
		return cloud_save(saver, frame, ascii);
	status = mesh_init(&mesh, saver->path, frame, options);
	if (status == 0)
		status = write_header(saver, &mesh, ascii);
	if (status == 0) {
		write_vertices(saver->file, &mesh, ascii);
		if (mesh.jump > 0)
			write_faces(saver->file, &mesh, ascii);
		if (ferror(saver->file))
			status = fail_errno(saver->path, "cannot be written");
	}
	mesh_free(&mesh);
	return status;
}

static bool
ply_sniff(const unsigned char *start, size_t n)
{
	return n >= 4 && !memcmp(start, "ply", 3) && (start[3] == '\n' || start[3] == '\r');
}

const struct codec codec_ply = {
	.name = "PLY",
	.suffixes = "ply",
	.tables = true,
	.sniff = ply_sniff,
	.load = cloud_load,
	.options = mesh_options,
	.option_size = sizeof(struct mesh_options),
	.save = ply_save
};
