/* Reads and writes meshes as OBJ, PLY and STL, binary or text. */
#include "mesh/mesh_file.h"

#include <math.h>

#include "base/numbers.h"
#include "base/process.h"
#include "base/text.h"
#include "frame/samples.h"
#include "io/safe_file.h"
#include "mesh/ply_file.h"

static int
get_byte(struct words *words)
{
	int c = words->next;

	if (c != EOF) {
		words->next = EOF;
		return c;
	}
	if (words->left) {
		words->left--;
		return *words->start++;
	}
	return getc_unlocked(words->file);
}

static bool
is_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* The first byte of a word, or a newline, or EOF. */
static int
skip_blanks(struct words *words)
{
	int c = get_byte(words), after;

	for (;;) {
		while (is_blank(c))
			c = get_byte(words);
		if (c != '\\')
			return c;
		after = get_byte(words);
		if (after == '\r')
			after = get_byte(words);
		if (after != '\n') {
			words->next = after;
			return c;
		}
		words->line++;
		c = get_byte(words);
	}
}

/* The next word of this line; false at its end. Backslash and newline continue a line. */
static bool
words_next(struct words *words)
{
	size_t n = 0;
	int c = skip_blanks(words);

	words->word[0] = '\0';
	if (c == '\n' || c == EOF) {
		words->next = c;
		return false;
	}
	for (; c != EOF && c != '\n' && !is_blank(c); c = get_byte(words))
		if (n < WORD_SIZE - 1)
			words->word[n++] = (char)c;
	words->word[n] = '\0';
	words->next = c;
	return true;
}

/* Passes over the rest of the line; false at the end of the text. */
static bool
words_next_line(struct words *words)
{
	int c = get_byte(words);

	while (c != '\n' && c != EOF)
		c = get_byte(words);
	words->cut = c == EOF;
	if (c == '\n') {
		words->line++;
		c = get_byte(words);
	}
	words->next = c;
	return c != EOF;
}

bool
words_anywhere(struct words *words)
{
	while (!words_next(words))
		if (!words_next_line(words))
			return false;
	return true;
}

void
words_warn_end(const struct words *words)
{
	warn(words->path, "line %zu, the last one, has no newline: its last number may be cut off",
	    words->line);
}

int
words_number(const struct words *words, double *out)
{
	if (number_parse(words->word, out) < 0)
		return fail(
		    words->path, "line %zu: wanted a number, not '%s'", words->line, words->word);
	return 0;
}

/* Does a file that starts with these bytes look like text? */
static bool
words_are_text(const unsigned char *start, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (start[i] == 0x7f || (start[i] < ' ' && !(start[i] >= '\t' && start[i] <= '\r')))
			return false;
	return true;
}

/* Wavefront OBJ: v and f lines; texture coordinates, normals, materials, groups are passed over. */

#define AXES_COMMENT 64

struct obj {
	struct words words;
	struct triangles *out;
	bool colours;
	double most;		/* the largest colour: up to 1, or up to 255 */
	unsigned long long vertices, faces;	/* that comments name; 0: none do */
	bool empty;		/* the current line, or it is a comment */
	bool passed;		/* a line whose first word is none of OBJ's */
	bool opacity;		/* ends seven numbers of a vertex; if not, the fourth is a weight */
};

/* v x y z, v x y z w, v x y z r g b, v x y z w r g b; others end seven numbers with an opacity. */
static int
take_obj_vertex(struct obj *obj)
{
	double v[7];
	size_t n = 0;
	const double *colour;

	while (n < 7 && words_next(&obj->words))
		if (words_number(&obj->words, &v[n++]) < 0)
			return -1;
	if (n < 3)
		return fail(
		    obj->words.path, "line %zu: a vertex has %zu coordinates", obj->words.line, n);
	if (n == 5)
		return fail(obj->words.path, "line %zu: a vertex has 5 numbers, which is no "
		    "position with a colour", obj->words.line);
	if (triangles_add_point(obj->out, obj->words.path, v) < 0)
		return -1;
	if (n < 6)
		return 0;
	if (n == 7 && v[3] != 1 && !obj->opacity) {
		obj->opacity = true;
		warn(obj->words.path, "line %zu: a vertex of seven numbers is read as x y z r g b "
		    "and an opacity, as the fourth is not 1", obj->words.line);
	}
	colour = n == 7 && !obj->opacity ? v + 4 : v + 3;
	for (int k = 0; k < 3; k++)
		obj->most = fmax(obj->most, colour[k]);
	triangles_add_texture(obj->out, triangles_luma(colour[0], colour[1], colour[2]));
	return 0;
}

/* The point of "7", "7/2", "7//3", "-1/..": counted from 1, or back from the last one. */
static int
take_corner(const struct obj *obj, uint64_t *corner)
{
	const struct words *words = &obj->words;
	char *end;
	long long i = strtoll(words->word, &end, 10);

	if (end == words->word || (*end && *end != '/'))
		return fail(words->path, "line %zu: wanted a vertex's number, not '%s'",
		    words->line, words->word);
	if (i == 0 || (i < 0 && (unsigned long long)-(i + 1) >= obj->out->points))
		return fail(words->path, "line %zu: there is no vertex %lld", words->line, i);
	*corner = i > 0 ? (uint64_t)i - 1 : obj->out->points - (uint64_t)-i;
	return 0;
}

static int
take_face(struct obj *obj)
{
	uint64_t corner[3];
	size_t n = 0;

	for (; words_next(&obj->words); n++) {
		if (n == POLYGON_MOST)
			return fail(obj->words.path, "line %zu: a face has more than %d corners",
			    obj->words.line, POLYGON_MOST);
		if (take_corner(obj, &corner[n < 2 ? n : 2]) < 0)
			return -1;
		if (n < 2)
			continue;
		if (triangles_add(obj->out, obj->words.path, corner) < 0)
			return -1;
		corner[1] = corner[2];
	}
	if (n < 3)
		return fail(
		    obj->words.path, "line %zu: a face has %zu corners", obj->words.line, n);
	return 0;
}

/* A comment NAME: N, as MeshLab and obj.c write it. */
static void
take_count(const char *text, const char *name, unsigned long long *count)
{
	size_t length = strlen(name);
	double n;

	if (!strncmp(text, name, length) && number_parse(text + length, &n) == 0 && n >= 0 &&
	    n <= UINT32_MAX)
		*count = (unsigned long long)n;
}

/* Comments before the first vertex may say where the axes point, the unit, and how much there is.
 */
static void
take_obj_comment(struct obj *obj)
{
	char text[AXES_COMMENT] = "";
	size_t n = 0;

	while (n < sizeof(text) && words_next(&obj->words))
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? " " : "",
		    obj->words.word);
	if (triangles_axes(text) != AXES_MODEL)
		obj->out->axes = triangles_axes(text);
	triangles_take_unit(obj->out, text);
	take_count(text, "Vertices: ", &obj->vertices);
	take_count(text, "Faces: ", &obj->faces);
}

/* Statements that make no triangles are passed over in silence, lines that are none are not: they
 * may be vertices or faces whose first letter is lost. */
static void
check_word(struct obj *obj)
{
	static const char known[] = " vn vt vp g s o p l mtllib usemtl usemap maplib mg cstype deg "
	    "bmat step curv curv2 surf parm trim hole scrv sp end con bevel c_interp d_interp lod "
	    "shadow_obj trace_obj ctech stech call csh bsp bzp cdc cdp res ";
	char word[WORD_SIZE + 2];

	if (obj->passed || obj->empty)
		return;
	snprintf(word, sizeof(word), " %s ", obj->words.word);
	if (strstr(known, word))
		return;
	obj->passed = true;
	warn(obj->words.path, "line %zu: '%s' begins no statement of OBJ; such lines are passed "
	    "over", obj->words.line, obj->words.word);
}

static int
take_line(struct obj *obj)
{
	bool has_word = words_next(&obj->words);
	char *word = obj->words.word;
	size_t n = strlen(word), mark = obj->words.line == 1 ? byte_order_mark(word, n) : 0;

	memmove(word, word + mark, n - mark + 1);
	obj->empty = !has_word || *obj->words.word == '#';
	if (!strcmp(obj->words.word, "v"))
		return take_obj_vertex(obj);
	if (!strcmp(obj->words.word, "f"))
		return take_face(obj);
	if (!strcmp(obj->words.word, "#") && obj->out->points == 0)
		take_obj_comment(obj);
	check_word(obj);
	return 0;
}

/* The last line has ended, and there is no less than the comments name. A polygon may count as one
 * face or as its triangles, which are never fewer. */
static int
check_whole(const struct obj *obj)
{
	const struct triangles *out = obj->out;

	if (out->points < obj->vertices)
		return fail(obj->words.path, "ends too early, with %zu of the %llu vertices that "
		    "its comments name", out->points, obj->vertices);
	if (out->n < obj->faces)
		return fail(obj->words.path, "ends too early, with %zu triangles for the %llu "
		    "faces that its comments name", out->n, obj->faces);
	if (obj->words.cut && !obj->empty)
		words_warn_end(&obj->words);
	return 0;
}

/* Reads from the file's start; the corners are not checked. 0 or -1 after fail(path, ...). */
static int
read_obj(const char *path, FILE *file, struct triangles *out)
{
	struct obj obj = { .words = { .file = file, .path = path, .line = 1, .next = EOF },
		.out = out };

	do
		if (take_line(&obj) < 0)
			return -1;
	while (words_next_line(&obj.words));
	if (ferror(file))
		return fail_errno(path, "cannot be read");
	if (check_whole(&obj) < 0)
		return -1;
	for (size_t i = 0; obj.most <= 1 && out->texture && i < out->texture_room; i++)
		out->texture[i] *= 255;
	return 0;
}

/* The newline that ends what begins at i: none behind a backslash; n if there is none. */
static size_t
line_end(const unsigned char *start, size_t n, size_t i)
{
	unsigned char last = 0;

	for (; i < n && (start[i] != '\n' || last == '\\'); i++)
		if (start[i] != '\r')
			last = start[i] == '\n' ? 0 : start[i];
	return i;
}

/* Lines that are empty, comments, or begin with a word of OBJ; one at least of the last kind. */
static bool
sniff_obj(const unsigned char *start, size_t n)
{
	static const char known[] = " v vn vt vp f o g s l p mtllib usemtl ";
	size_t i = byte_order_mark(start, n), seen = 0;

	if (!words_are_text(start, n))
		return false;
	while (i < n) {
		char word[16];
		size_t length = 0;

		while (i < n && start[i] <= ' ')
			i++;
		while (i + length < n && start[i + length] > ' ')
			length++;
		if (i + length >= n)
			break;
		snprintf(word, sizeof(word), " %.*s ", (int)(length < 12 ? length : 12), start + i);
		if (start[i] != '#' && !strstr(known, word))
			return false;
		seen += start[i] != '#';
		i = line_end(start, n, i);
	}
	return seen > 0;
}

static const struct codec read_obj_codec = {
	.name = "OBJ",
	.suffixes = "obj",
	.sniff = sniff_obj
};

/*
 * PLY: ascii, binary little and big endian. Elements vertex, face (vertex_indices or vertex_index)
 * and tristrips are read, everything else in the file is passed over, in any order.
 */

/* The meaning of a property. */
enum role {
	ROLE_X, ROLE_Y, ROLE_Z, ROLE_RED, ROLE_GREEN, ROLE_BLUE, ROLE_SCALAR, ROLE_POINTS, ROLES,
	ROLE_NONE = ROLES
};

struct mesh_ply {
	struct triangles *out;
	int scalar_rank;		/* of the best scalar so far; see scalar_names */
};

/* ---- header ---- */

/* The first precedes red green blue, the others come after them. */
static const char *const scalar_names[] = { "texture", "intensity", "quality", "scalar", "gray",
	"grey", "value", NULL };

static struct mesh_ply *
mesh_of(const struct ply *ply)
{
	return ply->arg;
}

static enum role
role_in_vertex(struct mesh_ply *mesh, const char *name)
{
	static const char *const names[] = { "x", "y", "z", "red", "green", "blue", NULL };
	static const char *const others[] = { "diffuse_red", "diffuse_green", "diffuse_blue",
		NULL };

	for (int i = 0; names[i]; i++)
		if (!strcmp(names[i], name) || (i >= 3 && !strcmp(others[i - 3], name)))
			return (enum role)i;
	for (int i = 0; scalar_names[i]; i++)
		if (!strcmp(scalar_names[i], name) &&
		    (mesh->scalar_rank < 0 || i < mesh->scalar_rank)) {
			mesh->scalar_rank = i;
			return ROLE_SCALAR;
		}
	return ROLE_NONE;
}

/* No second property of the element has that role; a better scalar takes it from another. */
static int
set_role(struct ply *ply, const struct ply_element *element, struct ply_property *property)
{
	const char *name = property->name;
	enum role role = ROLE_NONE;

	if (element->kind == PLY_VERTEX && !property->list)
		role = role_in_vertex(mesh_of(ply), name);
	else if (element->kind != PLY_OTHER && element->kind != PLY_VERTEX && property->list &&
	    (!strcmp(name, "vertex_indices") || !strcmp(name, "vertex_index")))
		role = ROLE_POINTS;
	for (size_t i = element->first; i < element->first + element->n && role != ROLE_NONE; i++) {
		if (ply->property[i].role != (int)role)
			continue;
		if (role != ROLE_SCALAR)
			return ply_fail_line(ply, "wanted each property once", name);
		ply->property[i].role = ROLE_NONE;
	}
	if (role == ROLE_POINTS && ply_is_real(property->type))
		return ply_fail_line(ply, "wanted whole numbers as vertex indices", "float");
	property->role = role;
	return 0;
}

/* A comment may tell where the axes point, and the unit. */
static int
take_ply_comment(struct ply *ply, char *text)
{
	enum mesh_axes axes = triangles_axes(text);

	if (axes != AXES_MODEL)
		mesh_of(ply)->out->axes = axes;
	triangles_take_unit(mesh_of(ply)->out, text);
	return 0;
}

static bool
has_role(const struct ply *ply, const struct ply_element *element, enum role role)
{
	for (size_t i = element->first; i < element->first + element->n; i++)
		if (ply->property[i].role == (int)role)
			return true;
	return false;
}

static int
check_header(const struct ply *ply)
{
	bool points = false;

	for (size_t i = 0; i < ply->elements; i++) {
		const struct ply_element *element = &ply->element[i];

		if (element->kind == PLY_VERTEX)
			for (enum role role = ROLE_X; role <= ROLE_Z; role++)
				if (!has_role(ply, element, role))
					return fail(ply->path, "element vertex has no property %c",
					    'x' + (int)role);
		points |= element->kind == PLY_VERTEX;
		if ((element->kind == PLY_FACE || element->kind == PLY_STRIP) && element->count &&
		    !has_role(ply, element, ROLE_POINTS))
			return fail(ply->path, "element %s has no list vertex_indices",
			    element->kind == PLY_FACE ? "face" : "tristrips");
	}
	return points ? 0 : fail(ply->path, "header has no element vertex");
}

/* ---- values ---- */

static const struct ply_user user = { .property = set_role, .comment = take_ply_comment };

static int
next_point(struct ply *ply, enum element type, bool strip, double *out)
{
	if (ply_next_value(ply, type, out) < 0)
		return -1;
	if ((*out >= 0 && *out < UINT32_MAX) || (strip && *out == -1))
		return 0;
	return fail(ply->path, "triangle %zu has point %.0f", mesh_of(ply)->out->n, *out);
}

/* A polygon as a fan about its first corner. */
static int
take_polygon(struct ply *ply, const struct ply_property *property, unsigned long long n)
{
	uint64_t corner[3] = { 0 };
	double v;

	if (n > POLYGON_MOST)
		return fail(ply->path, "triangle %zu begins a face of %llu corners, more than %d",
		    mesh_of(ply)->out->n, n, POLYGON_MOST);
	for (unsigned long long i = 0; i < n; i++) {
		if (next_point(ply, property->type, false, &v) < 0)
			return -1;
		corner[i < 2 ? i : 2] = (uint64_t)v;
		if (i < 2)
			continue;
		if (triangles_add(mesh_of(ply)->out, ply->path, corner) < 0)
			return -1;
		corner[1] = corner[2];
	}
	return 0;
}

/* Each point makes a triangle with the two before it, every second one turned round so that all of
 * them face to one side; -1 begins a new strip. */
static int
take_strips(struct ply *ply, const struct ply_property *property, unsigned long long n)
{
	uint64_t corner[3] = { 0 };
	size_t length = 0;
	double v;

	for (unsigned long long i = 0; i < n; i++) {
		bool turned = length % 2;

		if (next_point(ply, property->type, true, &v) < 0)
			return -1;
		if (v < 0) {
			length = 0;
			continue;
		}
		corner[0] = corner[1];
		corner[1] = corner[2];
		corner[2] = (uint64_t)v;
		if (++length >= 3 && triangles_add(mesh_of(ply)->out, ply->path,
		    turned ? (uint64_t[3]){ corner[1], corner[0], corner[2] } : corner) < 0)
			return -1;
	}
	return 0;
}

static int
take_list(struct ply *ply, const struct ply_element *element, const struct ply_property *property)
{
	unsigned long long n = 0;
	double v;

	if (ply_next_count(ply, property, &n) < 0)
		return -1;
	if (property->role == ROLE_POINTS)
		return element->kind == PLY_STRIP ? take_strips(ply, property, n) :
		    take_polygon(ply, property, n);
	for (unsigned long long i = 0; i < n; i++)
		if (ply_next_value(ply, property->type, &v) < 0)
			return -1;
	return 0;
}

/* ---- elements ---- */

/* Colours as 0 .. 255. */
static double
level(enum element type, double v)
{
	if (ply_is_real(type))
		return v * 255;
	return type == ELEMENT_U16 ? v / 257 : v;
}

static int
read_item(struct ply *ply, const struct ply_element *element, bool coloured)
{
	double value[ROLES + 1];	/* the last one for properties without a role */

	for (size_t i = element->first; i < element->first + element->n; i++) {
		const struct ply_property *property = &ply->property[i];
		double v;

		if (property->list) {
			if (take_list(ply, element, property) < 0)
				return -1;
			continue;
		}
		if (ply_next_value(ply, property->type, &v) < 0)
			return -1;
		value[property->role] = property->role >= ROLE_RED && property->role <= ROLE_BLUE ?
		    level(property->type, v) : v;
	}
	if (element->kind != PLY_VERTEX)
		return 0;
	if (triangles_add_point(mesh_of(ply)->out, ply->path, value) < 0)
		return -1;
	if (coloured && mesh_of(ply)->scalar_rank != 0)
		triangles_add_texture(mesh_of(ply)->out, triangles_luma(value[ROLE_RED],
		    value[ROLE_GREEN], value[ROLE_BLUE]));
	else if (mesh_of(ply)->scalar_rank >= 0)
		triangles_add_texture(mesh_of(ply)->out, (float)value[ROLE_SCALAR]);
	return 0;
}

static int
read_element(struct ply *ply, size_t at)
{
	const struct ply_element *element = &ply->element[at];
	bool coloured = has_role(ply, element, ROLE_RED) && has_role(ply, element, ROLE_GREEN) &&
	    has_role(ply, element, ROLE_BLUE);

	ply_begin_element(ply, at);
	while (ply_begin_item(ply))
		if (read_item(ply, element, coloured) < 0)
			return -1;
	return 0;
}

/* Reads from the file's start; the corners are not checked. 0 or -1 after fail(path, ...). */
static int
read_ply(const char *path, FILE *file, struct triangles *out)
{
	struct mesh_ply mesh = { .out = out, .scalar_rank = -1 };
	struct ply *ply = must_alloc(1, sizeof(*ply));
	int status;

	ply->path = path;
	ply->file = file;
	ply->user = &user;
	ply->arg = &mesh;
	status = ply_read_header(ply);
	if (status == 0)
		status = check_header(ply);
	for (size_t i = 0; i < ply->elements && status == 0; i++)
		status = read_element(ply, i);
	if (status == 0) {
		ply_check_last(ply);
		status = ply_check_end(ply);
	}
	free(ply);
	return status;
}

static bool
sniff_ply(const unsigned char *start, size_t n)
{
	return n >= 4 && !memcmp(start, "ply", 3) && (start[3] == '\n' || start[3] == '\r');
}

static const struct codec read_ply_codec = {
	.name = "PLY",
	.suffixes = "ply",
	.sniff = sniff_ply
};

/*
 * STL, binary and ascii. Its triangles carry their own corners: equal ones become one point, so
 * that a mesh takes the memory that it takes in the other formats.
 */

#define HEADER_BYTES 80
#define FACET_BYTES 50

struct welder {
	struct triangles *out;
	const char *path;
	struct corner_table table;
};

/* The number of a point, which is new or was there before. */
static int
weld(struct welder *welder, const float coordinate[3], uint64_t *number)
{
	const double point[3] = { coordinate[0] + 0.0f, coordinate[1] + 0.0f,
		coordinate[2] + 0.0f };
	struct triangles *out = welder->out;
	const double (*points)[3] = (const double (*)[3])out->point;
	uint32_t *slot;

	if (2 * out->points >= welder->table.slots)
		corner_table_grow(&welder->table, points, out->points, out->points + 1);
	slot = corner_table_slot(&welder->table, points, point);
	*number = *slot;
	if (*slot != MESH_NONE)
		return 0;
	*number = *slot = (uint32_t)out->points;
	return triangles_add_point(out, welder->path, point);
}

static int
add_facet(struct welder *welder, const float corner[9])
{
	uint64_t number[3];

	for (size_t k = 0; k < 3; k++)
		if (weld(welder, corner + 3 * k, &number[k]) < 0)
			return -1;
	return triangles_add(welder->out, welder->path, number);
}

static int
load_binary(struct welder *welder, FILE *file, uint32_t facets)
{
	unsigned char facet[FACET_BYTES];
	float corner[9];
	size_t left = samples_bytes_left(file);

	if (left != SIZE_MAX && facets > left / FACET_BYTES)
		return fail(welder->path,
		    "ends too early: %u triangles cannot lie in the %zu bytes left", facets, left);
	for (uint32_t i = 0; i < facets; i++) {
		if (samples_read(welder->path, file, facet, sizeof(facet)) < 0)
			return -1;
		memcpy(corner, facet + 12, sizeof(corner));
		if (add_facet(welder, corner) < 0)
			return -1;
	}
	samples_warn_rest(welder->path, samples_bytes_left(file));
	return 0;
}

/* The three numbers after the word vertex. */
static int
take_stl_vertex(struct words *words, float point[3])
{
	for (int k = 0; k < 3; k++) {
		double v;

		if (!words_anywhere(words))
			return fail(words->path, "ends too early, within a vertex in line %zu",
			    words->line);
		if (words_number(words, &v) < 0)
			return -1;
		point[k] = (float)v;
	}
	return 0;
}

/* From one loop to the next: 1 and its corners, 0 at the end of the text. */
static int
take_loop(struct words *words, float corner[9], bool *ended)
{
	size_t n = 0;

	while (words_anywhere(words)) {
		if (!strcmp(words->word, "solid") || !strcmp(words->word, "endsolid")) {
			*ended = words->word[0] == 'e';
			while (words_next(words))
				continue;
		} else if (*ended) {
			return fail(words->path, "line %zu: '%s' stands behind endsolid",
			    words->line, words->word);
		} else if (!strcmp(words->word, "vertex")) {
			if (n == 3)
				return fail(words->path,
				    "line %zu: a facet has more than 3 corners", words->line);
			if (take_stl_vertex(words, corner + 3 * n++) < 0)
				return -1;
		} else if (!strcmp(words->word, "endloop")) {
			if (n != 3)
				return fail(words->path, "line %zu: a facet has %zu corners",
				    words->line, n);
			return 1;
		}
	}
	return n ? fail(words->path, "ends too early, within a facet") : 0;
}

static int
load_ascii(struct welder *welder, FILE *file, const unsigned char *start, size_t n)
{
	struct words words = { .file = file, .path = welder->path, .line = 1, .next = EOF,
		.start = start, .left = n };
	float corner[9];
	bool ended = false;
	int got;

	while ((got = take_loop(&words, corner, &ended)) > 0)
		if (add_facet(welder, corner) < 0)
			return -1;
	if (got == 0 && ferror(file))
		return fail_errno(welder->path, "cannot be read");
	return got == 0 && !ended ? fail(welder->path, "ends too early, before endsolid") : got;
}

static bool
starts_ascii(const unsigned char *start, size_t n)
{
	return n >= 6 && !memcmp(start, "solid", 5) &&
	    start[5] <= ' ' && words_are_text(start, n);
}

/* Reads from the file's start; the corners are not checked. 0 or -1 after fail(path, ...). */
static int
read_stl(const char *path, FILE *file, struct triangles *out)
{
	struct welder welder = { .out = out, .path = path };
	unsigned char start[HEADER_BYTES + 4];
	char comment[HEADER_BYTES + 1] = "";
	size_t n = fread(start, 1, sizeof(start), file);
	uint32_t facets;
	int status;

	if (starts_ascii(start, n)) {
		memcpy(comment, start, n < HEADER_BYTES ? n : HEADER_BYTES);
		out->axes = triangles_axes(comment + strlen("solid "));
		status = load_ascii(&welder, file, start, n);
	} else if (n < sizeof(start)) {
		status = fail(path, "ends too early: %zu bytes, an STL file has 84 at least", n);
	} else {
		memcpy(comment, start, HEADER_BYTES);
		out->axes = triangles_axes(comment);
		memcpy(&facets, start + HEADER_BYTES, sizeof(facets));
		status = load_binary(&welder, file, facets);
	}
	free(welder.table.slot);
	return status;
}

/* Binary: 80 bytes of anything, the number of triangles, the first one, of plausible numbers. */
static bool
starts_binary(const unsigned char *start, size_t n)
{
	uint32_t facets;
	float v[12];
	double square = 0, size = 0;

	if (n < HEADER_BYTES + 4 + FACET_BYTES)
		return false;
	memcpy(&facets, start + HEADER_BYTES, sizeof(facets));
	memcpy(v, start + HEADER_BYTES + 4, sizeof(v));
	for (int k = 0; k < 12; k++) {
		if (!(fabsf(v[k]) < 1e30f))
			return false;
		if (k < 3)
			square += (double)v[k] * v[k];
		else
			size = fmax(size, fabs(v[k]));
	}
	return facets > 0 && size > 1e-30 && (square == 0 || fabs(square - 1) < 1e-2);
}

static bool
sniff_stl(const unsigned char *start, size_t n)
{
	return starts_ascii(start, n) || starts_binary(start, n);
}

static const struct codec read_stl_codec = {
	.name = "STL",
	.suffixes = "stl",
	.sniff = sniff_stl
};

/* ---- the vertices and triangles of a mesh, by rows ---- */

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
	strip->jump = jump_largest(mesh->jump);
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
mesh_triangle_rows(const struct mesh *mesh)
{
	return mesh->given ? (mesh->given_n + mesh->w - 1) / mesh->w : mesh->h - 1;
}

size_t
mesh_row_triangles(struct mesh *mesh, size_t y)
{
	size_t done = y * mesh->w;

	mesh->triangle = mesh->given ? mesh->given + done :
	    (const uint32_t (*)[3])mesh->triangle_room;
	if (mesh->given)
		return mesh->given_n - done < mesh->w ? mesh->given_n - done : mesh->w;
	return mesh_cells(mesh, 0, y, mesh->w - 1, mesh->triangle_room);
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
	size_t n = mesh->given_n;

	for (size_t y = 0; !mesh->given && y + 1 < mesh->h; y++)
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

bool
mesh_saves(const char *path)
{
	const struct codec *codec = codec_by_suffix(path);

	return codec && codec->save && codec->options == mesh_options;
}

int
mesh_save(const char *path, const struct frame *vertices, const uint32_t (*triangle)[3],
    size_t triangles, bool ascii)
{
	const struct mesh_options options = { .ascii = ascii, .triangle = triangle,
		.triangles = triangles };
	struct saver saver = { .path = path, .options = &options };
	struct safe_file *place;
	int status;

	saver.file = safe_file_open(path, &place);
	if (!saver.file)
		return -1;
	status = codec_by_suffix(path)->save(&saver, vertices);
	return safe_file_close(saver.file, path, place, status == 0) < 0 ? -1 : status;
}

const struct codec *const mesh_file_codecs[] = { &read_ply_codec, &read_obj_codec,
	&read_stl_codec, NULL };

/* Is there a triangle of finite points at all? */
static int
check_finite(const struct triangles *triangles, const char *path)
{
	for (size_t i = 0; i < triangles->n; i++) {
		bool finite = true;

		for (int k = 0; k < 9; k++)
			finite &=
			    isfinite(triangles->point[triangles->corner[i][k / 3]][k % 3]) != 0;
		if (finite)
			return 0;
	}
	return fail(path, "has no triangle whose points are finite, of %zu", triangles->n);
}

int
mesh_file_load(const struct codec *codec, const char *path, FILE *file, struct triangles *triangles)
{
	int status;

	*triangles = (struct triangles){ 0 };
	if (codec == &read_ply_codec)
		status = read_ply(path, file, triangles);
	else if (codec == &read_obj_codec)
		status = read_obj(path, file, triangles);
	else
		status = read_stl(path, file, triangles);
	if (status == 0 && triangles->n == 0) {
		fail(path, "holds no triangles, only %zu points", triangles->points);
		return codec == &read_ply_codec ? 1 : -1;
	}
	if (status < 0 || triangles_check(triangles, path) < 0)
		return -1;
	return check_finite(triangles, path);
}
