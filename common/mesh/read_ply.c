/*
 * PLY: ascii, binary little and big endian. Elements vertex, face (vertex_indices or vertex_index)
 * and tristrips are read, everything else in the file is passed over, in any order.
 */
#include "mesh/read_ply.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "frame/samples.h"
#include "mesh/words.h"

#define LINE_BYTES 4096
#define ELEMENTS 64
#define PROPERTIES 256		/* of all elements together */

enum form { FORM_NONE, FORM_ASCII, FORM_LITTLE, FORM_BIG };

/* The meaning of a property. */
enum role {
	ROLE_X, ROLE_Y, ROLE_Z, ROLE_RED, ROLE_GREEN, ROLE_BLUE, ROLE_SCALAR, ROLE_POINTS, ROLES,
	ROLE_NONE = ROLES
};

/* How polygons and strips lie in a list. */
enum kind { KIND_OTHER, KIND_VERTEX, KIND_FACE, KIND_STRIP };

struct property {
	enum element type, count_type;
	bool list;
	enum role role;
};

struct ply_element {
	enum kind kind;
	unsigned long long count;
	size_t first, n;		/* its properties */
};

struct ply {
	const char *path;
	FILE *file;
	struct triangles *out;
	enum form form;
	struct words words;
	size_t line;
	struct ply_element element[ELEMENTS];
	size_t elements;
	struct property property[PROPERTIES];
	size_t properties;
	int scalar_rank;		/* of the best scalar so far; see scalar_names */
};

/* ---- header ---- */

/* The first precedes red green blue, the others come after them. */
static const char *const scalar_names[] = { "texture", "intensity", "quality", "scalar", "gray",
	"grey", "value", NULL };

static int
fail_line(const struct ply *ply, const char *what, const char *seen)
{
	return fail(ply->path, "header line %zu: %s, not '%.60s'", ply->line, what, seen);
}

/* A line of the header without its end: ended by \n, or \r \n. */
static int
read_line(struct ply *ply, char line[LINE_BYTES])
{
	size_t n = 0;
	int c;

	ply->line++;
	while ((c = getc_unlocked(ply->file)) != '\n' && c != EOF) {
		if (n == LINE_BYTES - 1)
			return fail(ply->path, "header line %zu is longer than %d bytes", ply->line,
			    LINE_BYTES - 1);
		line[n++] = c ? (char)c : '?';
	}
	if (c == EOF)
		return ferror(ply->file) ? fail_errno(ply->path, "cannot be read") :
		    fail(ply->path, "ends too early, within the header");
	if (n && line[n - 1] == '\r')
		n--;
	line[n] = '\0';
	return 0;
}

static int
take_type(const struct ply *ply, const char *word, enum element *type)
{
	static const struct {
		const char *name;
		enum element type;
	} types[] = {
		{ "char", ELEMENT_I8 }, { "int8", ELEMENT_I8 }, { "uchar", ELEMENT_U8 },
		{ "uint8", ELEMENT_U8 }, { "short", ELEMENT_I16 }, { "int16", ELEMENT_I16 },
		{ "ushort", ELEMENT_U16 }, { "uint16", ELEMENT_U16 }, { "int", ELEMENT_I32 },
		{ "int32", ELEMENT_I32 }, { "uint", ELEMENT_U32 }, { "uint32", ELEMENT_U32 },
		{ "float", ELEMENT_F32 }, { "float32", ELEMENT_F32 }, { "double", ELEMENT_F64 },
		{ "float64", ELEMENT_F64 },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (!strcmp(types[i].name, word)) {
			*type = types[i].type;
			return 0;
		}
	return fail_line(ply, "wanted a type of PLY", word);
}

static bool
is_real(enum element type)
{
	return type == ELEMENT_F32 || type == ELEMENT_F64;
}

static enum role
role_in_vertex(struct ply *ply, const char *name)
{
	static const char *const names[] = { "x", "y", "z", "red", "green", "blue", NULL };
	static const char *const others[] = { "diffuse_red", "diffuse_green", "diffuse_blue",
		NULL };

	for (int i = 0; names[i]; i++)
		if (!strcmp(names[i], name) || (i >= 3 && !strcmp(others[i - 3], name)))
			return (enum role)i;
	for (int i = 0; scalar_names[i]; i++)
		if (!strcmp(scalar_names[i], name) &&
		    (ply->scalar_rank < 0 || i < ply->scalar_rank)) {
			ply->scalar_rank = i;
			return ROLE_SCALAR;
		}
	return ROLE_NONE;
}

/* No second property of the element has that role; a better scalar takes it from another. */
static int
set_role(struct ply *ply, const struct ply_element *element, struct property *property,
    const char *name)
{
	enum role role = ROLE_NONE;

	if (element->kind == KIND_VERTEX && !property->list)
		role = role_in_vertex(ply, name);
	else if (element->kind != KIND_OTHER && element->kind != KIND_VERTEX && property->list &&
	    (!strcmp(name, "vertex_indices") || !strcmp(name, "vertex_index")))
		role = ROLE_POINTS;
	for (size_t i = element->first; i < element->first + element->n && role != ROLE_NONE; i++) {
		if (ply->property[i].role != role)
			continue;
		if (role != ROLE_SCALAR)
			return fail_line(ply, "wanted each property once", name);
		ply->property[i].role = ROLE_NONE;
	}
	if (role == ROLE_POINTS && is_real(property->type))
		return fail_line(ply, "wanted whole numbers as vertex indices", "float");
	property->role = role;
	return 0;
}

static int
take_property(struct ply *ply, char *rest)
{
	char *state = NULL, *word = strtok_r(rest, " \t", &state);
	struct ply_element *element;
	struct property *property;

	if (ply->elements == 0 || !word)
		return fail_line(ply, "wanted a property of an element", word ? word : "nothing");
	if (ply->properties == PROPERTIES)
		return fail(ply->path, "has more than %d properties", PROPERTIES);
	element = &ply->element[ply->elements - 1];
	property = &ply->property[ply->properties];
	*property = (struct property){ .list = !strcmp(word, "list") };
	if (property->list) {
		word = strtok_r(NULL, " \t", &state);
		if (take_type(ply, word ? word : "", &property->count_type) < 0)
			return -1;
		if (is_real(property->count_type))
			return fail_line(ply, "wanted a whole number's type", word);
		word = strtok_r(NULL, " \t", &state);
	}
	if (take_type(ply, word ? word : "", &property->type) < 0)
		return -1;
	word = strtok_r(NULL, " \t", &state);
	if (!word)
		return fail_line(ply, "wanted a property's name", "nothing");
	if (set_role(ply, element, property, word) < 0)
		return -1;
	ply->properties++;
	element->n++;
	return 0;
}

static int
take_element(struct ply *ply, char *rest)
{
	char *state = NULL, *name = strtok_r(rest, " \t", &state);
	char *count = strtok_r(NULL, " \t", &state);
	struct ply_element *element = &ply->element[ply->elements];
	long n;

	if (!name || !count || integer_parse(count, &n) < 0 || n < 0)
		return fail_line(
		    ply, "wanted an element's name and number", count ? count : "nothing");
	if (ply->elements == ELEMENTS)
		return fail(ply->path, "has more than %d elements", ELEMENTS);
	*element = (struct ply_element){ .count = (unsigned long long)n, .first = ply->properties };
	if (!strcmp(name, "vertex"))
		element->kind = KIND_VERTEX;
	else if (!strcmp(name, "face"))
		element->kind = KIND_FACE;
	else if (!strcmp(name, "tristrips"))
		element->kind = KIND_STRIP;
	for (size_t i = 0; i < ply->elements; i++)
		if (element->kind == KIND_VERTEX && ply->element[i].kind == KIND_VERTEX)
			return fail_line(ply, "wanted one element vertex", "two");
	ply->elements++;
	return 0;
}

static int
take_format(struct ply *ply, const char *rest)
{
	static const struct {
		const char *name;
		enum form form;
	} forms[] = {
		{ "ascii 1.0", FORM_ASCII }, { "binary_little_endian 1.0", FORM_LITTLE },
		{ "binary_big_endian 1.0", FORM_BIG },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		if (!strncmp(rest, forms[i].name, strlen(forms[i].name))) {
			ply->form = forms[i].form;
			return 0;
		}
	return fail_line(ply, "wanted ascii, binary_little_endian or binary_big_endian 1.0", rest);
}

static int
take_header_line(struct ply *ply, char *line, bool *ended)
{
	size_t length = strcspn(line, " \t");
	char *rest = line + length + strspn(line + length, " \t");

	line[length] = '\0';
	if (!strcmp(line, "format"))
		return take_format(ply, rest);
	if (!strcmp(line, "element"))
		return take_element(ply, rest);
	if (!strcmp(line, "property"))
		return take_property(ply, rest);
	if (!strcmp(line, "comment") && triangles_axes(rest) != AXES_MODEL)
		ply->out->axes = triangles_axes(rest);
	*ended = !strcmp(line, "end_header");
	if (*ended || !*line || !strcmp(line, "comment") || !strcmp(line, "obj_info"))
		return 0;
	return fail_line(ply, "wanted format, element, property, comment or end_header", line);
}

static bool
has_role(const struct ply *ply, const struct ply_element *element, enum role role)
{
	for (size_t i = element->first; i < element->first + element->n; i++)
		if (ply->property[i].role == role)
			return true;
	return false;
}

static int
check_header(const struct ply *ply)
{
	bool points = false;

	if (ply->form == FORM_NONE)
		return fail(ply->path, "header has no line format");
	for (size_t i = 0; i < ply->elements; i++) {
		const struct ply_element *element = &ply->element[i];

		if (element->kind == KIND_VERTEX)
			for (enum role role = ROLE_X; role <= ROLE_Z; role++)
				if (!has_role(ply, element, role))
					return fail(ply->path, "element vertex has no property %c",
					    'x' + (int)role);
		points |= element->kind == KIND_VERTEX;
		if ((element->kind == KIND_FACE || element->kind == KIND_STRIP) && element->count &&
		    !has_role(ply, element, ROLE_POINTS))
			return fail(ply->path, "element %s has no list vertex_indices",
			    element->kind == KIND_FACE ? "face" : "tristrips");
	}
	return points ? 0 : fail(ply->path, "header has no element vertex");
}

static int
read_header(struct ply *ply)
{
	char line[LINE_BYTES];
	bool ended = false;

	if (read_line(ply, line) < 0)
		return -1;
	if (strcmp(line, "ply"))
		return fail_line(ply, "wanted ply", line);
	while (!ended)
		if (read_line(ply, line) < 0 || take_header_line(ply, line, &ended) < 0)
			return -1;
	return check_header(ply);
}

/* ---- values ---- */

static int
fail_early(const struct ply *ply)
{
	if (ferror(ply->file))
		return fail_errno(ply->path, "cannot be read");
	return fail(ply->path, "ends too early, after %zu points and %zu triangles",
	    ply->out->points, ply->out->n);
}

static double
as_number(enum element type, const unsigned char byte[8])
{
	union {
		int8_t i8;
		int16_t i16;
		uint16_t u16;
		int32_t i32;
		uint32_t u32;
		float f32;
		double f64;
	} v;

	memcpy(&v, byte, sizeof(v));
	switch (type) {
	case ELEMENT_I8:
		return v.i8;
	case ELEMENT_U8:
		return byte[0];
	case ELEMENT_I16:
		return v.i16;
	case ELEMENT_U16:
		return v.u16;
	case ELEMENT_I32:
		return v.i32;
	case ELEMENT_U32:
		return v.u32;
	case ELEMENT_F32:
		return v.f32;
	default:
		return v.f64;
	}
}

static int
next_binary(struct ply *ply, enum element type, double *out)
{
	unsigned char byte[8] = { 0 };
	size_t n = samples_element_size(type);

	for (size_t i = 0; i < n; i++) {
		int c = getc_unlocked(ply->file);

		if (c == EOF)
			return fail_early(ply);
		byte[ply->form == FORM_BIG ? n - 1 - i : i] = (unsigned char)c;
	}
	*out = as_number(type, byte);
	return 0;
}

static int
next_ascii(struct ply *ply, enum element type, double *out)
{
	if (!words_anywhere(&ply->words))
		return fail_early(ply);
	if (words_number(&ply->words, out) < 0)
		return -1;
	if (!is_real(type) && *out != floor(*out))
		return fail(ply->path, "line %zu: wanted a whole number, not '%s'", ply->words.line,
		    ply->words.word);
	if (type == ELEMENT_F32)
		*out = (float)*out;
	return 0;
}

static int
next_value(struct ply *ply, enum element type, double *out)
{
	return ply->form == FORM_ASCII ? next_ascii(ply, type, out) : next_binary(ply, type, out);
}

static int
next_count(struct ply *ply, const struct property *property, unsigned long long *out)
{
	double n;

	if (next_value(ply, property->count_type, &n) < 0)
		return -1;
	if (!(n >= 0 && n <= UINT32_MAX))
		return fail(ply->path, "a list has %g entries", n);
	*out = (unsigned long long)n;
	return 0;
}

static int
next_point(struct ply *ply, enum element type, bool strip, double *out)
{
	if (next_value(ply, type, out) < 0)
		return -1;
	if ((*out >= 0 && *out < UINT32_MAX) || (strip && *out == -1))
		return 0;
	return fail(ply->path, "triangle %zu has point %.0f", ply->out->n, *out);
}

/* A polygon as a fan about its first corner. */
static int
take_polygon(struct ply *ply, const struct property *property, unsigned long long n)
{
	uint64_t corner[3] = { 0 };
	double v;

	for (unsigned long long i = 0; i < n; i++) {
		if (next_point(ply, property->type, false, &v) < 0)
			return -1;
		corner[i < 2 ? i : 2] = (uint64_t)v;
		if (i < 2)
			continue;
		if (triangles_add(ply->out, ply->path, corner) < 0)
			return -1;
		corner[1] = corner[2];
	}
	return 0;
}

/* Each point makes a triangle with the two before it; -1 begins a new strip. */
static int
take_strips(struct ply *ply, const struct property *property, unsigned long long n)
{
	uint64_t corner[3] = { 0 };
	size_t length = 0;
	double v;

	for (unsigned long long i = 0; i < n; i++) {
		if (next_point(ply, property->type, true, &v) < 0)
			return -1;
		if (v < 0) {
			length = 0;
			continue;
		}
		corner[0] = corner[1];
		corner[1] = corner[2];
		corner[2] = (uint64_t)v;
		if (++length >= 3 && triangles_add(ply->out, ply->path, corner) < 0)
			return -1;
	}
	return 0;
}

static int
take_list(struct ply *ply, const struct ply_element *element, const struct property *property)
{
	unsigned long long n = 0;
	double v;

	if (next_count(ply, property, &n) < 0)
		return -1;
	if (property->role == ROLE_POINTS)
		return element->kind == KIND_STRIP ? take_strips(ply, property, n) :
		    take_polygon(ply, property, n);
	for (unsigned long long i = 0; i < n; i++)
		if (next_value(ply, property->type, &v) < 0)
			return -1;
	return 0;
}

/* ---- elements ---- */

/* Colours as 0 .. 255. */
static double
level(enum element type, double v)
{
	if (is_real(type))
		return v * 255;
	return type == ELEMENT_U16 ? v / 257 : v;
}

static int
add_point(struct ply *ply, const double value[ROLES + 1], bool coloured)
{
	if (triangles_add_point(ply->out, ply->path, value) < 0)
		return -1;
	if (coloured && ply->scalar_rank != 0)
		return triangles_add_texture(ply->out, triangles_luma(value[ROLE_RED],
		    value[ROLE_GREEN], value[ROLE_BLUE]));
	if (ply->scalar_rank < 0)
		return 0;
	return triangles_add_texture(ply->out, (float)value[ROLE_SCALAR]);
}

static int
read_item(struct ply *ply, const struct ply_element *element, bool coloured)
{
	double value[ROLES + 1];	/* the last one for properties without a role */

	for (size_t i = element->first; i < element->first + element->n; i++) {
		const struct property *property = &ply->property[i];
		double v;

		if (property->list) {
			if (take_list(ply, element, property) < 0)
				return -1;
			continue;
		}
		if (next_value(ply, property->type, &v) < 0)
			return -1;
		value[property->role] = property->role >= ROLE_RED && property->role <= ROLE_BLUE ?
		    level(property->type, v) : v;
	}
	return element->kind == KIND_VERTEX ? add_point(ply, value, coloured) : 0;
}

static int
read_element(struct ply *ply, const struct ply_element *element)
{
	bool coloured = has_role(ply, element, ROLE_RED) && has_role(ply, element, ROLE_GREEN) &&
	    has_role(ply, element, ROLE_BLUE);

	/* an element without properties takes no bytes, whatever its count */
	for (unsigned long long i = 0; i < element->count && element->n; i++)
		if (read_item(ply, element, coloured) < 0)
			return -1;
	return 0;
}

int
read_ply(const char *path, FILE *file, struct triangles *out)
{
	struct ply *ply = calloc(1, sizeof(*ply));
	int status;

	if (!ply)
		return fail_memory();
	ply->path = path;
	ply->file = file;
	ply->out = out;
	ply->scalar_rank = -1;
	status = read_header(ply);
	ply->words =
	    (struct words){ .file = file, .path = path, .line = ply->line + 1, .next = EOF };
	for (size_t i = 0; i < ply->elements && status == 0; i++)
		status = read_element(ply, &ply->element[i]);
	free(ply);
	return status;
}

static bool
sniff(const unsigned char *start, size_t n)
{
	return n >= 4 && !memcmp(start, "ply", 3) && (start[3] == '\n' || start[3] == '\r');
}

const struct codec read_ply_codec = {
	.name = "PLY",
	.suffixes = "ply",
	.sniff = sniff
};
