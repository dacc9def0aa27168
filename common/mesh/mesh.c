#define _GNU_SOURCE
#include "mesh/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/large_memory.h"
#include "base/numbers.h"
#include "mesh/jump.h"

/* Readers of PLY keep a line in a buffer of fixed size. */
#define COMMENT_BYTES 1000

#define AT(field) offsetof(struct mesh_options, field)

const struct opt mesh_options[] = {
	{ 0, "ascii", NULL, OPT_FLAG, AT(ascii), NULL, 0, 0, NULL,
	  "text files, where a format has them", NULL },
	{ 0, "jump", "Z", OPT_NUMBER, AT(jump), "0", 0, INFINITY, NULL,
	  "meshes: no triangle over a larger step in z; 0: found from the surface", NULL },
	{ 0, "points", NULL, OPT_FLAG, AT(points), NULL, 0, 0, NULL, "meshes: no triangles", NULL },
	{ 0 },
};

static bool
all_channels(const size_t channel[3])
{
	return channel[0] != NO_CHANNEL && channel[1] != NO_CHANNEL && channel[2] != NO_CHANNEL;
}

bool
mesh_has_normals(const struct mesh *mesh)
{
	return all_channels(mesh->normal);
}

bool
mesh_has_colours(const struct mesh *mesh)
{
	return all_channels(mesh->colour);
}

/* The first of the blank-separated names that is a channel. */
static size_t
first_channel(const struct frame_head *head, const char *names)
{
	char name[CHANNEL_NAME_SIZE];

	for (size_t i = 0; meta_word(names, i, name, sizeof(name)); i++)
		if (head_channel(head, name) != NO_CHANNEL)
			return head_channel(head, name);
	return NO_CHANNEL;
}

int
mesh_channels(struct mesh *mesh, const char *path, const struct frame_head *head)
{
	static const char names[9][3] = { "x", "y", "z", "nx", "ny", "nz", "r", "g", "b" };
	size_t *const channel[3] = { mesh->point, mesh->normal, mesh->colour };
	const char *z_axis = meta_get(&head->meta, "z_axis");
	const char *scale = meta_get(&head->meta, "sample_scale");
	char seen[300];

	memset(mesh, 0, sizeof(*mesh));
	if (scale)
		return fail(path, "a mesh of samples that are scaled (key sample_scale, %.60s) "
		    "would have them for lengths: framecat --unscale undoes that", scale);
	mesh->w = head->w;
	mesh->h = head->h;
	for (int i = 0; i < 9; i++)
		channel[i / 3][i % 3] = head_channel(head, names[i]);
	if (!all_channels(mesh->point)) {
		mesh->point[0] = mesh->point[1] = NO_CHANNEL;
		mesh->point[2] = head->c == 1 ? 0 : first_channel(head, "z depth height");
	}
	if (mesh->point[2] == NO_CHANNEL)
		return fail(path, "a mesh needs channels x y z, or one of z, depth, height, not %s",
		    head_channels_hint(head, seen));
	mesh->towards = z_axis ? !strcmp(z_axis, "towards") :
	    !strcmp(head->channel[mesh->point[2]], "height");
	if (!mesh_has_colours(mesh)) {
		size_t grey = first_channel(head, "texture image gray");

		if (grey == mesh->point[2])
			grey = NO_CHANNEL;
		mesh->colour[0] = mesh->colour[1] = mesh->colour[2] = grey;
	}
	mesh->scaled = all_channels(mesh->point) || isfinite(head->spacing[0] + head->spacing[1]);
	for (int i = 0; i < 2; i++)
		mesh->spacing[i] = isfinite(head->spacing[i]) ? head->spacing[i] : 1;
	return 0;
}

/* Numbers the vertices of row y, which are the pixels of finite points. */
static void
number_row(struct mesh *mesh, size_t y)
{
	uint32_t *number = &mesh->number[y * mesh->w], next = (uint32_t)mesh->vertices;
	const float *p[3];

	/* where x and y are column and row, z stands for them */
	for (int k = 0; k < 3; k++)
		p[k] = frame_floats(mesh->floats,
		    mesh->point[k] == NO_CHANNEL ? mesh->point[2] : mesh->point[k], y);
	for (size_t x = 0; x < mesh->w; x++) {
		bool valid = isfinite(p[0][x]) & isfinite(p[1][x]) & isfinite(p[2][x]);

		number[x] = valid ? next : MESH_NONE;
		next += valid;
	}
	mesh->vertices = next;
}

static int
number_vertices(struct mesh *mesh, const char *path)
{
	size_t n;

	if (size_multiply(mesh->w, mesh->h, &n) < 0)
		return -1;
	if (n > INT32_MAX)
		return fail(path, "a mesh has at most %d points, not %zu x %zu", INT32_MAX, mesh->w,
		    mesh->h);
	mesh->number = large_memory(n, sizeof(*mesh->number));
	mesh->row = calloc(mesh->w, sizeof(*mesh->row));
	mesh->triangle = reallocarray(NULL, mesh->w, 2 * sizeof(*mesh->triangle));
	if (!mesh->number || !mesh->row || !mesh->triangle)
		return fail_memory();
	for (size_t y = 0; y < mesh->h; y++)
		number_row(mesh, y);
	return 0;
}

static float
largest_colour(const struct mesh *mesh)
{
	float most = 0;

	for (size_t k = 0; k < 3; k++)
		for (size_t y = 0; y < mesh->h; y++) {
			const float *colour = frame_floats(mesh->floats, mesh->colour[k], y);

			for (size_t x = 0; x < mesh->w; x++)
				most = colour[x] > most ? colour[x] : most;
		}
	return most;
}

/* The sample that is the colour 255: max_value, else 255, else 65535, else the largest. */
static int
choose_white(struct mesh *mesh, const struct frame_head *head)
{
	float most = 255;
	double white;

	if (!mesh_has_colours(mesh))
		return 0;
	if (!meta_get(&head->meta, "max_value"))
		most = largest_colour(mesh);
	if (meta_number(&head->meta, "max_value", most <= 255 ? 255 : fmaxf(most, 65535),
	    &white) < 0)
		return -1;
	mesh->white = white > 0 ? (float)white : 255;
	return 0;
}

static int
choose_jump(struct mesh *mesh)
{
	struct jump_steps steps;

	if (jump_begin(&steps, mesh) < 0)
		return -1;
	for (size_t i = 0; i < JUMP_PIECES; i++)
		jump_piece(&steps, i);
	mesh->jump = jump_end(&steps);
	return 0;
}

int
mesh_init(struct mesh *mesh, const char *path, const struct frame *frame,
    const struct mesh_options *options)
{
	if (mesh_channels(mesh, path, &frame->head) < 0 ||
	    frame_to_float(frame, &mesh->floats) < 0 || number_vertices(mesh, path) < 0 ||
	    choose_white(mesh, &frame->head) < 0)
		return -1;
	if (options->points)
		return 0;
	mesh->jump = options->jump;
	if (!(mesh->jump > 0) && choose_jump(mesh) < 0)
		return -1;
	return 0;
}

void
mesh_free(struct mesh *mesh)
{
	frame_free(mesh->floats);
	free(mesh->number);
	free(mesh->row);
	free(mesh->triangle);
	memset(mesh, 0, sizeof(*mesh));
}

int
mesh_write_comments(const struct mesh *mesh, const char *path, FILE *file, const char *prefix)
{
	const struct frame_head *head = &mesh->floats->head;
	char *text = head_to_text(head), *rest = NULL;

	if (!text)
		return -1;
	fprintf(file, "%s x to the right, y down, z %s the camera%s%s\n", prefix,
	    mesh->towards ? "towards" : "away from", *head->unit ? ", x and y in " : "",
	    head->unit);
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (strlen(line) < COMMENT_BYTES)
			fprintf(file, "%s %s\n", prefix, line);
	free(text);
	return ferror(file) ? fail_errno(path, "cannot be written") : 0;
}
