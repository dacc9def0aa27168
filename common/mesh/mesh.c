/*
 * Triangle meshes in memory, meshes from depth maps and organised points, and where a surface
 * jumps.
 */
#include "mesh/mesh.h"

#include <float.h>
#include <math.h>

#include "base/numbers.h"
#include "base/process.h"
#include "base/px.h"

#define FIRST_ROOM 1024

void
triangles_free(struct triangles *triangles)
{
	free_all(triangles->point, triangles->texture, triangles->corner);
	*triangles = (struct triangles){ 0 };
}

/* Room for one more element of `size` bytes; twice what there was. */
static void
make_room(void *array, size_t n, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : FIRST_ROOM;
	void **at = array;

	if (n < *room)
		return;
	*at = must_resize(*at, more, size);
	*room = more;
}

int
triangles_add_point(struct triangles *triangles, const char *path, const double point[3])
{
	if (triangles->points == UINT32_MAX)
		return fail(path, "a mesh has at most %u points", UINT32_MAX);
	make_room(&triangles->point, triangles->points, &triangles->point_room,
	    sizeof(*triangles->point));
	memcpy(triangles->point[triangles->points++], point, sizeof(*triangles->point));
	return 0;
}

/* Room for the texture of all points; new ones are NaN. */
static void
extend_texture(struct triangles *triangles)
{
	if (triangles->texture_room >= triangles->points)
		return;
	triangles->texture = must_resize(triangles->texture, triangles->point_room,
	    sizeof(*triangles->texture));
	for (size_t i = triangles->texture_room; i < triangles->point_room; i++)
		triangles->texture[i] = NAN;
	triangles->texture_room = triangles->point_room;
}

void
triangles_add_texture(struct triangles *triangles, float texture)
{
	extend_texture(triangles);
	triangles->texture[triangles->points - 1] = texture;
}

int
triangles_add(struct triangles *triangles, const char *path, const uint64_t corner[3])
{
	uint32_t *out;

	make_room(&triangles->corner, triangles->n, &triangles->room,
	    sizeof(*triangles->corner));
	out = triangles->corner[triangles->n];
	for (int k = 0; k < 3; k++) {
		if (corner[k] >= UINT32_MAX)
			return fail(path,
			    "triangle %zu has point %llu, which is more than a mesh can have",
			    triangles->n, (unsigned long long)corner[k]);
		out[k] = (uint32_t)corner[k];
	}
	triangles->n++;
	return 0;
}

int
triangles_check(struct triangles *triangles, const char *path)
{
	for (size_t i = 0; i < triangles->n; i++)
		for (int k = 0; k < 3; k++)
			if (triangles->corner[i][k] >= triangles->points)
				return fail(path,
				    "triangle %zu has point %u, but there are %zu points", i,
				    triangles->corner[i][k], triangles->points);
	if (triangles->texture)
		extend_texture(triangles);
	return 0;
}

/* Rec. 601, as video and JPEG have it. */
float
triangles_luma(double red, double green, double blue)
{
	return (float)(0.299 * red + 0.587 * green + 0.114 * blue);
}

enum mesh_axes
triangles_axes(const char *comment)
{
	static const char start[] = "x to the right, y down, z ";

	if (strncmp(comment, start, strlen(start)))
		return AXES_MODEL;
	comment += strlen(start);
	if (!strncmp(comment, "towards", strlen("towards")))
		return AXES_CAMERA_TOWARDS;
	return strncmp(comment, "away", strlen("away")) ? AXES_MODEL : AXES_CAMERA_AWAY;
}

void
triangles_take_unit(struct triangles *triangles, const char *comment)
{
	static const char start[] = "length_unit:=";
	size_t n = strncmp(comment, start, strlen(start)) ? 0 : strlen(comment) - strlen(start);

	if (n > 0 && n < sizeof(triangles->unit) && !strpbrk(comment, " \t\r\"\\"))
		memcpy(triangles->unit, comment + strlen(start), n + 1);
}

#define FIRST_SLOTS 4096

void
corner_table_grow(struct corner_table *table, const double (*point)[3], size_t points, size_t most)
{
	size_t slots = table->slots ? table->slots : FIRST_SLOTS;

	while (slots < 2 * most)
		slots *= 2;
	if (slots == table->slots)
		return;
	free(table->slot);
	table->slot = must_resize(NULL, slots, sizeof(*table->slot));
	table->slots = slots;
	memset(table->slot, 0xff, slots * sizeof(*table->slot));	/* MESH_NONE */
	for (size_t i = 0; i < points; i++)
		*corner_table_slot(table, point, point[i]) = (uint32_t)i;
}

#define SLOPE 8.0		/* 83 degrees */
#define NOISE 10.0		/* times the median step */
#define TAIL 5.0		/* times the 95th percentile of steps */
#define CHECK_PIXELS 2048	/* looked at to check a jump that is given */
#define CUT_STEPS_LEAST 100	/* fewer steps say too little */
/* Of the steps that are not 0, and of all. Of surfaces in one piece or several a jump cuts some
 * hundredths, of flat ones whose only steps are their jumps all that are not 0, but few. */
#define CUT_MOST 0.9
#define CUT_MOST_OF_ALL 0.3

void
jump_begin(struct jump_steps *steps, const struct mesh *mesh, size_t most)
{
	size_t pixels = mesh->w * mesh->h, looked_at;

	*steps = (struct jump_steps){ .mesh = mesh, .stride = pixels / most + 1 };
	looked_at = (pixels + steps->stride - 1) / steps->stride;
	steps->room = 2 * ((looked_at + JUMP_PIECES - 1) / JUMP_PIECES);
	steps->dz = must_large(JUMP_PIECES * steps->room, 2 * sizeof(*steps->dz));
	steps->lateral = steps->dz + JUMP_PIECES * steps->room;
}

/* Rows of the mesh's points; x and y are NULL where these are column and row. */
struct rows {
	const float *x, *y, *z;
};

static struct rows
rows_at(const struct mesh *mesh, size_t y)
{
	bool points = mesh->point[0] != NO_CHANNEL;

	return (struct rows){ points ? frame_floats(mesh->floats, mesh->point[0], y) : NULL,
		points ? frame_floats(mesh->floats, mesh->point[1], y) : NULL,
		frame_floats(mesh->floats, mesh->point[2], y) };
}

/* Where steps are put. */
struct list {
	float *dz, *lateral;
	size_t n;
	float least; /* steps of 0 give no scale, unless x and y give one */
};

static inline void
add_step(struct list *list, float dz, float lateral)
{
	list->dz[list->n] = dz;
	list->lateral[list->n] = lateral;
	list->n += (dz >= list->least) & (dz < INFINITY) & (lateral < INFINITY);
}

/* By operations that devices have (tools/shade/shade_count.comp). */
static inline float
distance(float x, float y)
{
	return px_sqrt(x * x + y * y);
}

/* The steps to the right and down from up to `left` pixels of a row, from *x on, which ends at what
 * would be the next one. Returns how many pixels are left. */
static inline size_t
add_row(const struct jump_steps *steps, size_t y, size_t *x, size_t left, bool points,
    struct list *list)
{
	const struct mesh *mesh = steps->mesh;
	bool has_below = y + 1 < mesh->h;
	struct rows here = rows_at(mesh, y), below = rows_at(mesh, y + has_below);
	const float spacing[2] = { (float)mesh->spacing[0], (float)mesh->spacing[1] };

	for (; *x < mesh->w && left > 0; *x += steps->stride, left--) {
		size_t at = *x, next = at + 1;

		if (next < mesh->w)
			add_step(list, fabsf(here.z[next] - here.z[at]), !points ? spacing[0] :
			    distance(here.x[next] - here.x[at], here.y[next] - here.y[at]));
		if (has_below)
			add_step(list, fabsf(below.z[at] - here.z[at]), !points ? spacing[1] :
			    distance(below.x[at] - here.x[at], below.y[at] - here.y[at]));
	}
	return left;
}

void
jump_piece(void *arg, size_t piece)
{
	struct jump_steps *steps = arg;
	const struct mesh *mesh = steps->mesh;
	size_t left = steps->room / 2, first = piece * left * steps->stride, x = first % mesh->w;
	struct list list = { steps->dz + piece * steps->room,
		steps->lateral + piece * steps->room, 0, mesh->scaled ? 0 : FLT_TRUE_MIN };

	for (size_t y = first / mesh->w; y < mesh->h && left > 0; y++, x -= mesh->w)
		left = mesh->point[0] == NO_CHANNEL ? add_row(steps, y, &x, left, false, &list) :
		    add_row(steps, y, &x, left, true, &list);
	steps->n[piece] = list.n;
}

/* The steps of all pieces, one behind the other. */
static size_t
join(struct jump_steps *steps)
{
	size_t n = steps->n[0];

	for (size_t i = 1; i < JUMP_PIECES; i++) {
		size_t from = i * steps->room, bytes = steps->n[i] * sizeof(*steps->dz);

		memmove(steps->dz + n, steps->dz + from, bytes);
		memmove(steps->lateral + n, steps->lateral + from, bytes);
		n += steps->n[i];
	}
	return n;
}

/*
 * A jump is steeper than any surface: a step in z that is SLOPE times the distance of neighbours in
 * the image plane, and far above the noise. Where that distance is unknown, a jump is far above
 * nearly all steps.
 */
double
jump_end(struct jump_steps *steps)
{
	size_t n = join(steps);
	double jump = INFINITY;

	if (n > 0 && steps->mesh->scaled)
		jump = fmax(SLOPE * numbers_median(steps->lateral, n),
		    NOISE * numbers_median(steps->dz, n));
	else if (n > 0)
		jump = TAIL * numbers_rank(steps->dz, n, n - 1 - n / 20);
	free(steps->dz);
	return jump;
}

float
jump_largest(double jump)
{
	float largest = (float)jump;

	return (double)largest > jump ? nextafterf(largest, 0) : largest;
}

int
jump_check(const struct frame *frame, double jump, bool *checked)
{
	struct jump_steps steps;
	struct mesh mesh;
	size_t n, cut = 0, flat = 0;

	if (*checked || !(jump > 0) || isinf(jump) || head_is_table(&frame->head))
		return 0;
	if (mesh_channels(&mesh, NULL, &frame->head) < 0) {
		fail_clear();
		return 0;
	}
	mesh.scaled = true;	/* lists steps of 0, too */
	if (frame_to_float(frame, &mesh.floats) < 0)
		return -1;
	jump_begin(&steps, &mesh, CHECK_PIXELS);
	for (size_t i = 0; i < JUMP_PIECES; i++)
		jump_piece(&steps, i);
	frame_free(mesh.floats);
	n = join(&steps);
	for (size_t i = 0; i < n; i++) {
		cut += (double)steps.dz[i] > jump;
		flat += steps.dz[i] == 0;
	}
	*checked = n >= CUT_STEPS_LEAST;
	if (*checked && (double)cut > CUT_MOST * (double)(n - flat) &&
	    (double)cut > CUT_MOST_OF_ALL * (double)n)
		warn("--jump", "%g cuts %.0f %% of the slopes: where they are not 0, steps from "
		    "pixel to pixel are %.3g by the median", jump,
		    100 * (double)cut / (double)(n - flat),
		    (double)numbers_rank(steps.dz, n, flat + (n - flat) / 2));
	free(steps.dz);
	return 0;
}

/* Readers of PLY keep a line in a buffer of fixed size. */
#define COMMENT_BYTES 1000

#define AT(field) offsetof(struct mesh_options, field)

const struct opt mesh_options[] = {
	FLAG_ROW(0, "ascii", ascii, NULL),
	{ 0, "jump", "Z", OPT_NUMBER, AT(jump), "0", 0, INFINITY },
	FLAG_ROW(0, "points", points, NULL),
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
	const char *z_axis = meta_get(&head->meta, "z_axis");
	const char *scale = meta_get(&head->meta, "sample_scale");
	char seen[300];

	memset(mesh, 0, sizeof(*mesh));
	if (scale)
		return fail(path, "a mesh of samples that are scaled (key sample_scale, %.60s) "
		    "would have them for lengths: framecat --unscale undoes that", scale);
	mesh->w = head->w;
	mesh->h = head->h;
	head_three(head, "n", "xyz", mesh->normal);
	head_three(head, "", "rgb", mesh->colour);
	if (!head_xyz(head, mesh->point)) {
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

bool
mesh_point(const struct mesh *mesh, const struct frame *frame, size_t x, size_t y, double point[3])
{
	bool plain = mesh->point[0] == NO_CHANNEL;

	point[0] = plain ? (double)x * mesh->spacing[0] :
	    (double)frame_floats(frame, mesh->point[0], y)[x];
	point[1] = plain ? (double)y * mesh->spacing[1] :
	    (double)frame_floats(frame, mesh->point[1], y)[x];
	point[2] = (double)frame_floats(frame, mesh->point[2], y)[x];
	return isfinite(point[0]) && isfinite(point[1]) && isfinite(point[2]);
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
	mesh->number = must_large(n, sizeof(*mesh->number));
	mesh->row = must_alloc(mesh->w, sizeof(*mesh->row));
	mesh->triangle_room = must_resize(NULL, mesh->w, 2 * sizeof(*mesh->triangle_room));
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
	if (head_number(head, "max_value", mesh->colour[0], most <= 255 ? 255 :
	    fmaxf(most, 65535), &white) < 0)
		return -1;
	mesh->white = white > 0 ? (float)white : 255;
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
	mesh->given = options->triangle;
	mesh->given_n = options->triangles;
	if (options->points)
		return 0;
	mesh->jump = mesh->given ? INFINITY : options->jump;
	if (!(mesh->jump > 0)) {
		struct jump_steps steps;

		jump_begin(&steps, mesh, JUMP_PIXELS);
		for (size_t i = 0; i < JUMP_PIECES; i++)
			jump_piece(&steps, i);
		mesh->jump = jump_end(&steps);
	}
	return 0;
}

void
mesh_free(struct mesh *mesh)
{
	frame_free(mesh->floats);
	free_all(mesh->number, mesh->row, mesh->triangle_room);
	memset(mesh, 0, sizeof(*mesh));
}

int
mesh_write_comments(const struct mesh *mesh, const char *path, FILE *file, const char *prefix)
{
	const struct frame_head *head = &mesh->floats->head;

	fprintf(file, "%s x to the right, y down, z %s the camera%s%s\n", prefix,
	    mesh->towards ? "towards" : "away from", *head->unit ? ", x and y in " : "",
	    head->unit);
	head_put_comments(file, prefix, head, COMMENT_BYTES, false);
	return ferror(file) ? fail_errno(path, "cannot be written") : 0;
}
