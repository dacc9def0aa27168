/*
 * PLY files of points: reads clouds and organised points as frames, writes frames with channels x y
 * z.
 */
#include <math.h>

#include "base/process.h"
#include "frame/samples.h"
#include "io/codec.h"
#include "io/text_table.h"
#include "mesh/mesh.h"
#include "mesh/ply_file.h"

/* key:=value; other comments, and what the properties tell, are passed over. */
static int
take_comment(struct ply *ply, char *text)
{
	return head_line_is_of_table(text) ? 0 : head_from_text(ply->arg, text, strlen(text));
}

static const struct ply_user user = { .comment = take_comment };

/* As load of struct codec; a file with faces is an error. */
static int
cloud_load(struct loader *loader, struct frame **out)
{
	struct frame_head head;
	struct ply *ply = must_alloc(1, sizeof(*ply));
	int status;

	*out = NULL;
	ply->path = loader->path;
	ply->file = loader->file;
	ply->user = &user;
	ply->arg = &head;
	head_init(&head, 1, 1, 1, SAMPLE_FLOAT);
	status = ply_read_header(ply);
	if (status == 0)
		status = ply_read_cloud(ply, &head, out);
	head_free(&head);
	free(ply);
	return status < 0 ? -1 : 1;
}

/* Readers of PLY keep a line in a buffer of fixed size. */
#define COMMENT_BYTES 1000

static void
write_point(FILE *file, const struct frame *floats, const size_t colour[3], size_t i, bool ascii)
{
	for (size_t c = 0; c < floats->head.c; c++) {
		float v = frame_floats(floats, c, 0)[i];
		bool byte = c == colour[0] || c == colour[1] || c == colour[2];

		if (byte)
			v = isnan(v) || v < 0.5f ? 0 : floorf(v + 0.5f);
		if (ascii && isnan(v))
			fputs(c ? " nan" : "nan", file);
		else if (ascii)
			fprintf(file, "%s%.9g", c ? " " : "", v);
		else if (byte)
			putc((unsigned char)v, file);
		else
			fwrite(&v, sizeof(v), 1, file);
	}
	if (ascii)
		putc('\n', file);
}

/* A frame that is a table. -1 after fail(). */
static int
cloud_save(struct saver *saver, const struct frame *frame, bool ascii)
{
	struct frame *floats;
	FILE *file = saver->file;
	size_t points, colour[3];
	int status = 0;

	if (table_has_points(saver->path, &frame->head) < 0)
		return -1;
	if (frame->head.c > PLY_PROPERTIES)
		return fail(saver->path, "PLY holds %d channels at most, not %zu", PLY_PROPERTIES,
		    frame->head.c);
	if (head_points(&frame->head, &points) < 0 || frame_to_float(frame, &floats) < 0)
		return -1;
	table_byte_colours(floats, colour);
	fprintf(file, "ply\nformat %s 1.0\n", ascii ? "ascii" : "binary_little_endian");
	head_put_comments(file, "comment", &floats->head, COMMENT_BYTES, true);
	fprintf(file, "element vertex %zu\n", points);
	for (size_t c = 0; c < floats->head.c; c++)
		fprintf(file, "property %s %s\n",
		    c == colour[0] || c == colour[1] || c == colour[2] ? "uchar" : "float",
		    table_foreign_name(floats->head.channel[c], TABLE_COLOURS));
	fprintf(file, "end_header\n");
	for (size_t i = 0; i < points; i++)
		write_point(file, floats, colour, i, ascii);
	if (ferror(saver->file))
		status = fail_errno(saver->path, "cannot be written");
	frame_free(floats);
	return status;
}

/*
 * PLY: images are written as meshes, binary little endian or ascii (what a vertex is, see mesh.h);
 * tables are written and read as clouds of points.
 */

static int
write_ply_header(struct saver *saver, const struct mesh *mesh, bool ascii)
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
write_vertices_ascii(FILE *file, const struct mesh *mesh, size_t n)
{
	for (const struct vertex *v = mesh->row; v < mesh->row + n; v++) {
		fprintf(file, "%.9g %.9g %.9g", v->point[0], v->point[1], v->point[2]);
		if (mesh_has_normals(mesh))
			fprintf(file, " %.9g %.9g %.9g", v->normal[0], v->normal[1], v->normal[2]);
		if (mesh_has_colours(mesh))
			fprintf(file, " %d %d %d", v->colour[0], v->colour[1], v->colour[2]);
		fputc('\n', file);
	}
}

/* Bytes of one vertex at most, and of one triangle: the number of its corners, then these. */
#define VERTEX_BYTES (6 * sizeof(float) + 3)
#define FACE_BYTES (1 + 3 * sizeof(uint32_t))

/* The builtin, of a constant length, takes two moves; the checked memcpy is a call. */
static inline unsigned char *
append(unsigned char *to, const void *from, size_t n)
{
	__builtin_memcpy(to, from, n);
	return to + n;
}

static void
write_vertices_binary(FILE *file, const struct mesh *mesh, size_t n, unsigned char *bytes)
{
	bool normals = mesh_has_normals(mesh), colours = mesh_has_colours(mesh);
	unsigned char *to = bytes;

	for (const struct vertex *v = mesh->row; v < mesh->row + n; v++) {
		to = append(to, v->point, sizeof(v->point));
		if (normals)
			to = append(to, v->normal, sizeof(v->normal));
		if (colours)
			to = append(to, v->colour, sizeof(v->colour));
	}
	fwrite(bytes, 1, (size_t)(to - bytes), file);
}

static void
write_faces_binary(FILE *file, const struct mesh *mesh, size_t n, unsigned char *bytes)
{
	static const unsigned char corners = 3;
	unsigned char *to = bytes;

	for (size_t i = 0; i < n; i++)
		to = append(append(to, &corners, 1), mesh->triangle[i], FACE_BYTES - 1);
	fwrite(bytes, FACE_BYTES, n, file);
}

static void
write_rows(FILE *file, struct mesh *mesh, bool ascii)
{
	unsigned char *bytes = must_alloc(mesh->w, VERTEX_BYTES);

	for (size_t y = 0; y < mesh->h; y++) {
		size_t n = mesh_vertices(mesh, 0, y, mesh->w, mesh->row);

		if (ascii)
			write_vertices_ascii(file, mesh, n);
		else
			write_vertices_binary(file, mesh, n, bytes);
	}
	for (size_t y = 0; mesh->jump > 0 && y < mesh_triangle_rows(mesh); y++) {
		size_t n = mesh_row_triangles(mesh, y);

		if (ascii)
			for (size_t i = 0; i < n; i++)
				fprintf(file, "3 %u %u %u\n", mesh->triangle[i][0],
				    mesh->triangle[i][1], mesh->triangle[i][2]);
		else
			write_faces_binary(file, mesh, n, bytes);
	}
	free(bytes);
}

static int
ply_save(struct saver *saver, const struct frame *frame)
{
	const struct mesh_options *options = saver->options;
	bool ascii = options->ascii;
	struct mesh mesh;
	int status;

	if (head_is_table(&frame->head) && !options->triangle)
		return cloud_save(saver, frame, ascii);
	status = mesh_init(&mesh, saver->path, frame, options);
	if (status == 0)
		status = write_ply_header(saver, &mesh, ascii);
	if (status == 0)
		write_rows(saver->file, &mesh, ascii);
	if (status == 0 && ferror(saver->file))
		status = fail_errno(saver->path, "cannot be written");
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
