/* Wavefront OBJ: v and f lines; texture coordinates, normals, materials, groups are passed over. */
#include "mesh/read_obj.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/byte_order_mark.h"
#include "base/fail.h"
#include "base/numbers.h"
#include "mesh/words.h"

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
take_vertex(struct obj *obj)
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
	return triangles_add_texture(obj->out, triangles_luma(colour[0], colour[1], colour[2]));
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
take_comment(struct obj *obj)
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
		return take_vertex(obj);
	if (!strcmp(obj->words.word, "f"))
		return take_face(obj);
	if (!strcmp(obj->words.word, "#") && obj->out->points == 0)
		take_comment(obj);
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

int
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
sniff(const unsigned char *start, size_t n)
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

const struct codec read_obj_codec = {
	.name = "OBJ",
	.suffixes = "obj",
	.sniff = sniff
};
