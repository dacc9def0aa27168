/*
 * PLY files of points: reads clouds and organised points as frames, writes frames with channels x y
 * z.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/process.h"
#include "frame/samples.h"
#include "io/codec.h"
#include "io/text_table.h"
#include "mesh/mesh.h"
#include "mesh/ply_file.h"

struct cloud {
	struct frame_head head;
	struct table_rows rows;
	bool warned;		/* about a value that a float rounds */
};

static struct cloud *
cloud_of(const struct ply *ply)
{
	return ply->arg;
}

/* key:=value; other comments, and what the properties tell, are passed over. */
static int
take_comment(struct ply *ply, char *text)
{
	return head_line_is_of_table(text) ? 0 :
	    head_from_text(&cloud_of(ply)->head, text, strlen(text));
}

static const struct ply_user user = { .comment = take_comment };

static void
name_channel(const char *property, char to[CHANNEL_NAME_SIZE])
{
	static const char *const colours[][2] = { { "red", "r" }, { "green", "g" },
		{ "blue", "b" }, { "alpha", "a" } };

	for (size_t i = 0; i < 4; i++)
		if (!strcmp(property, colours[i][0]))
			property = colours[i][1];
	memset(to, 0, CHANNEL_NAME_SIZE);
	memcpy(to, property, strnlen(property, CHANNEL_NAME_SIZE - 1));
}

/* The channels are the vertices' properties, but for lists. */
static int
name_channels(const struct ply *ply, const struct ply_element *vertex)
{
	struct cloud *cloud = cloud_of(ply);
	size_t n = 0;

	for (size_t i = 0; i < vertex->n; i++)
		n += !ply->property[vertex->first + i].list;
	if (n == 0)
		return fail(ply->path, "element vertex has no property that is a number");
	if (head_set_count(&cloud->head, n) < 0)
		return -1;
	cloud->rows.c = n;
	for (size_t i = vertex->n, c = n; i-- > 0;)
		if (!ply->property[vertex->first + i].list)
			name_channel(ply->property[vertex->first + i].name,
			    cloud->head.channel[--c]);
	return text_table_check_names(ply->path, &cloud->head);
}

/* The element vertex; -1 where there is none, or faces. */
static int
find_vertices(const struct ply *ply, size_t *vertex)
{
	*vertex = ply->elements;
	for (size_t i = 0; i < ply->elements; i++) {
		if (ply->element[i].kind == PLY_VERTEX)
			*vertex = i;
		else if (ply->element[i].kind != PLY_OTHER && ply->element[i].count)
			return fail(ply->path, "is a mesh, and only points are read of PLY files: "
			    "mesh2depth reads meshes");
	}
	if (*vertex == ply->elements)
		return fail(ply->path, "header has no element vertex");
	return name_channels(ply, &ply->element[*vertex]);
}

/* The value just read, as float. -1 after fail() where it is too large. */
static int
keep_value(const struct ply *ply, double v, float *to)
{
	struct cloud *cloud = cloud_of(ply);
	bool ascii = ply->form == PLY_FORM_ASCII;
	const char *word = ply->words.word, *what = ascii ? "line" : "point";
	size_t number = ascii ? ply->words.line : cloud->rows.n - 1;
	char text[64];

	if (ascii)
		v = strtod(word, NULL);		/* before it was rounded */
	*to = isnan(v) ? NAN : (float)v;
	if (!(fabs(v) >= 16777216.0))
		return 0;
	if (!ascii) {
		snprintf(text, sizeof(text), "%.15g", v);
		word = text;
	}
	if (isinf(*to) && (!isinf(v) || (ascii && strpbrk(word, "0123456789"))))
		return fail(ply->path, "%s %zu: %s is larger than a float can be", what, number,
		    word);
	if (!cloud->warned && text_table_rounds(ascii ? word : NULL, v)) {
		text_table_warn_rounded(ply->path, what, number, word, *to);
		cloud->warned = true;
	}
	return 0;
}

/* An item of an element; its numbers go to `row`, if there is one. */
static int
read_item(struct ply *ply, const struct ply_element *element, float *row)
{
	unsigned long long n;
	double v;

	for (size_t i = 0; i < element->n; i++) {
		const struct ply_property *property = &ply->property[element->first + i];

		if (property->list) {
			if (ply_next_count(ply, property, &n) < 0)
				return -1;
			for (; n; n--)
				if (ply_next_value(ply, property->type, &v) < 0)
					return -1;
			continue;
		}
		if (ply_next_value(ply, property->type, &v) < 0)
			return -1;
		if (row && keep_value(ply, v, row++) < 0)
			return -1;
	}
	return 0;
}

/* What stands behind the vertices belongs to an element, else their number is wrong. */
static int
check_end(struct ply *ply, size_t vertex)
{
	for (size_t e = vertex + 1; e < ply->elements; e++)
		if (ply->element[e].count && ply->element[e].n)
			return 0;
	return ply_check_end(ply);
}

/* The elements up to the vertices; what stands behind them is left alone. */
static int
read_points(struct ply *ply, size_t vertex)
{
	for (size_t e = 0; e <= vertex; e++) {
		const struct ply_element *element = &ply->element[e];

		ply_begin_element(ply, e);
		while (ply_begin_item(ply)) {
			float *row = NULL;

			if (e == vertex && !(row = table_rows_add(&cloud_of(ply)->rows)))
				return -1;
			if (read_item(ply, element, row) < 0)
				return -1;
		}
	}
	ply_check_last(ply);
	return check_end(ply, vertex);
}

/* As load of struct codec; a file with faces is an error. */
static int
cloud_load(struct loader *loader, struct frame **out)
{
	struct cloud cloud = { 0 };
	struct ply *ply = must_alloc(1, sizeof(*ply));
	size_t vertex = 0;
	int status;

	*out = NULL;
	ply->path = loader->path;
	ply->file = loader->file;
	ply->user = &user;
	ply->arg = &cloud;
	head_init(&cloud.head, 1, 1, 1, SAMPLE_FLOAT);
	status = ply_read_header(ply);
	if (status == 0)
		status = find_vertices(ply, &vertex);
	if (status == 0)
		status = read_points(ply, vertex);
	if (status == 0)
		status = table_rows_frame(&cloud.rows, &cloud.head, out);
	table_rows_free(&cloud.rows);
	head_free(&cloud.head);
	free(ply);
	return status < 0 ? -1 : 1;
}

/* Readers of PLY keep a line in a buffer of fixed size. */
#define COMMENT_BYTES 1000

struct cloud_columns {
	struct frame *floats;
	size_t points;
	size_t colour[3];	/* channels r g b as uchar; NO_CHANNEL: there are none of these */
};

static bool
is_colour(const struct cloud_columns *cloud, size_t c)
{
	return c == cloud->colour[0] || c == cloud->colour[1] || c == cloud->colour[2];
}

/* Are these bytes? rounded: levels of a known white, of which no colour is black, as in meshes. */
static bool
fits_uchar(const float *v, size_t n, bool rounded)
{
	for (size_t i = 0; i < n; i++)
		if (rounded ? v[i] <= -0.5f || v[i] >= 255.5f :
		    !(v[i] >= 0.0f && v[i] <= 255.0f && v[i] == floorf(v[i])) ||
		    (v[i] == 0.0f && signbit(v[i])))
			return false;
	return true;
}

static void
find_colours(struct cloud_columns *cloud)
{
	static const char *const names[] = { "r", "g", "b" };
	const struct frame *frame = cloud->floats;
	const char *white = meta_get(&frame->head.meta, "max_value");
	const bool rounded = white && !strcmp(white, "255");

	for (size_t i = 0; i < 3; i++)
		cloud->colour[i] = head_channel(&frame->head, names[i]);
	for (size_t i = 0; i < 3; i++)
		if (cloud->colour[i] == NO_CHANNEL ||
		    !fits_uchar(frame_floats(frame, cloud->colour[i], 0), cloud->points, rounded))
			cloud->colour[0] = cloud->colour[1] = cloud->colour[2] = NO_CHANNEL;
}

static const char *
property_name(const char *channel)
{
	return !*channel ? "_" : !strcmp(channel, "r") ? "red" : !strcmp(channel, "g") ? "green" :
	    !strcmp(channel, "b") ? "blue" : !strcmp(channel, "a") ? "alpha" : channel;
}

static void
write_point(FILE *file, const struct cloud_columns *cloud, size_t i, bool ascii)
{
	for (size_t c = 0; c < cloud->floats->head.c; c++) {
		float v = frame_floats(cloud->floats, c, 0)[i];

		if (is_colour(cloud, c))
			v = isnan(v) || v < 0.5f ? 0 : floorf(v + 0.5f);
		if (ascii && isnan(v))
			fputs(c ? " nan" : "nan", file);
		else if (ascii)
			fprintf(file, "%s%.9g", c ? " " : "", v);
		else if (is_colour(cloud, c))
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
	struct cloud_columns cloud;
	FILE *file = saver->file;
	char seen[300];
	int status;

	if (head_channel(&frame->head, "x") == NO_CHANNEL ||
	    head_channel(&frame->head, "y") == NO_CHANNEL ||
	    head_channel(&frame->head, "z") == NO_CHANNEL)
		return fail(saver->path, "a cloud of points needs channels x y z, not %s",
		    head_channels_hint(&frame->head, seen));
	if (frame->head.c > PLY_PROPERTIES)
		return fail(saver->path, "PLY holds %d channels at most, not %zu", PLY_PROPERTIES,
		    frame->head.c);
	if (head_points(&frame->head, &cloud.points) < 0 ||
	    frame_to_float(frame, &cloud.floats) < 0)
		return -1;
	find_colours(&cloud);
	fprintf(file, "ply\nformat %s 1.0\n", ascii ? "ascii" : "binary_little_endian");
	status = head_put_comments(file, "comment", &cloud.floats->head, COMMENT_BYTES, true);
	fprintf(file, "element vertex %zu\n", cloud.points);
	for (size_t c = 0; c < cloud.floats->head.c; c++)
		fprintf(file, "property %s %s\n", is_colour(&cloud, c) ? "uchar" : "float",
		    property_name(cloud.floats->head.channel[c]));
	fprintf(file, "end_header\n");
	for (size_t i = 0; i < cloud.points && status == 0; i++)
		write_point(saver->file, &cloud, i, ascii);
	if (status == 0 && ferror(saver->file))
		status = fail_errno(saver->path, "cannot be written");
	frame_free(cloud.floats);
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
		size_t n = mesh_row(mesh, y);

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
