/*
 * The header of a PLY file and its values, whatever they mean: ascii, binary little and big endian.
 * Its user takes the meaning of properties and comments in struct ply_user.
 */
#include "mesh/ply_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "io/text_table.h"

/* ---- header ---- */

int
ply_fail_line(const struct ply *ply, const char *what, const char *seen)
{
	return fail(ply->path, "header line %zu: %s, not '%.60s'", ply->line, what, seen);
}

int
ply_read_line(struct ply *ply, char line[PLY_LINE_BYTES])
{
	size_t n = 0;
	int c;

	ply->line++;
	while ((c = getc_unlocked(ply->file)) != '\n' && c != EOF) {
		if (n == PLY_LINE_BYTES - 1)
			return fail(ply->path, "header line %zu is longer than %d bytes", ply->line,
			    PLY_LINE_BYTES - 1);
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
	return ply_fail_line(ply, "wanted a type of PLY", word);
}

bool
ply_is_real(enum element type)
{
	return type == ELEMENT_F32 || type == ELEMENT_F64;
}

static int
take_property(struct ply *ply, char *rest)
{
	char *state = NULL, *word = strtok_r(rest, " \t", &state);
	struct ply_element *element;
	struct ply_property *property;

	if (ply->elements == 0 || !word)
		return ply_fail_line(ply, "wanted a property of an element",
		    word ? word : "nothing");
	if (ply->properties == PLY_PROPERTIES)
		return fail(ply->path, "has more than %d properties", PLY_PROPERTIES);
	element = &ply->element[ply->elements - 1];
	property = &ply->property[ply->properties];
	*property = (struct ply_property){ .list = !strcmp(word, "list") };
	if (property->list) {
		word = strtok_r(NULL, " \t", &state);
		if (take_type(ply, word ? word : "", &property->count_type) < 0)
			return -1;
		if (ply_is_real(property->count_type))
			return ply_fail_line(ply, "wanted a whole number's type", word);
		word = strtok_r(NULL, " \t", &state);
	}
	if (take_type(ply, word ? word : "", &property->type) < 0)
		return -1;
	word = strtok_r(NULL, " \t", &state);
	if (!word)
		return ply_fail_line(ply, "wanted a property's name", "nothing");
	snprintf(property->name, sizeof(property->name), "%s", word);
	if (ply->user->property && ply->user->property(ply, element, property) < 0)
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
		return ply_fail_line(
		    ply, "wanted an element's name and number", count ? count : "nothing");
	if (ply->elements == PLY_ELEMENTS)
		return fail(ply->path, "has more than %d elements", PLY_ELEMENTS);
	*element = (struct ply_element){ .count = (unsigned long long)n, .first = ply->properties };
	snprintf(element->name, sizeof(element->name), "%s", name);
	if (!strcmp(name, "vertex"))
		element->kind = PLY_VERTEX;
	else if (!strcmp(name, "face"))
		element->kind = PLY_FACE;
	else if (!strcmp(name, "tristrips"))
		element->kind = PLY_STRIP;
	for (size_t i = 0; i < ply->elements; i++)
		if (element->kind == PLY_VERTEX && ply->element[i].kind == PLY_VERTEX)
			return ply_fail_line(ply, "wanted one element vertex", "two");
	ply->elements++;
	return 0;
}

static int
take_format(struct ply *ply, const char *rest)
{
	static const struct {
		const char *name;
		enum ply_form form;
	} forms[] = {
		{ "ascii 1.0", PLY_FORM_ASCII }, { "binary_little_endian 1.0", PLY_FORM_LITTLE },
		{ "binary_big_endian 1.0", PLY_FORM_BIG },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		if (!strncmp(rest, forms[i].name, strlen(forms[i].name))) {
			ply->form = forms[i].form;
			return 0;
		}
	return ply_fail_line(ply, "wanted ascii, binary_little_endian or binary_big_endian 1.0",
	    rest);
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
	if (!strcmp(line, "comment") && ply->user->comment && ply->user->comment(ply, rest) < 0)
		return -1;
	*ended = !strcmp(line, "end_header");
	if (*ended || !*line || !strcmp(line, "comment") || !strcmp(line, "obj_info"))
		return 0;
	return ply_fail_line(ply, "wanted format, element, property, comment or end_header", line);
}

int
ply_read_header(struct ply *ply)
{
	char line[PLY_LINE_BYTES];
	bool ended = false;

	if (ply_read_line(ply, line) < 0)
		return -1;
	if (strcmp(line, "ply"))
		return ply_fail_line(ply, "wanted ply", line);
	while (!ended)
		if (ply_read_line(ply, line) < 0 || take_header_line(ply, line, &ended) < 0)
			return -1;
	if (ply->form == PLY_FORM_NONE)
		return fail(ply->path, "header has no line format");
	ply_begin_values(ply);
	return 0;
}

/* ---- values ---- */

void
ply_begin_values(struct ply *ply)
{
	ply->words = (struct words){ .file = ply->file, .path = ply->path, .line = ply->line + 1,
		.next = EOF };
}

void
ply_begin_element(struct ply *ply, size_t element)
{
	ply->at = element;
	ply->done = 0;
	ply->started = false;
}

bool
ply_begin_item(struct ply *ply)
{
	const struct ply_element *element = &ply->element[ply->at];

	ply->done += ply->started;
	ply->started = element->n && ply->done < element->count;
	return ply->started;
}

static int
ends_early(const struct ply *ply)
{
	const struct ply_element *element = &ply->element[ply->at];

	if (ferror(ply->file))
		return fail_errno(ply->path, "cannot be read");
	return fail(ply->path, "ends too early, after %llu of %llu entries of element %s",
	    ply->done, element->count, element->name);
}

void
ply_check_last(const struct ply *ply)
{
	if (ply->form == PLY_FORM_ASCII && ply->words.word[0] && ply->words.next == EOF)
		words_warn_end(&ply->words);
}

int
ply_check_end(struct ply *ply)
{
	const struct ply_element *element = &ply->element[ply->at];

	if (ply->form != PLY_FORM_ASCII) {
		samples_warn_rest(ply->path, samples_bytes_left(ply->file));
		return 0;
	}
	if (!words_anywhere(&ply->words))
		return ferror(ply->file) ? fail_errno(ply->path, "cannot be read") : 0;
	return fail(ply->path, "line %zu: '%.60s' stands behind the %llu entries of element %s",
	    ply->words.line, ply->words.word, element->n ? element->count : 0, element->name);
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
		int64_t i64;
		uint64_t u64;
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
	case ELEMENT_I64:
		return (double)v.i64;
	case ELEMENT_U64:
		return (double)v.u64;
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
			return ends_early(ply);
		byte[ply->form == PLY_FORM_BIG ? n - 1 - i : i] = (unsigned char)c;
	}
	*out = as_number(type, byte);
	return 0;
}

/* Does a whole number fit into an integer? */
static bool
fits(enum element type, double v)
{
	static const struct {
		double low, high;
	} range[] = {
		[ELEMENT_I8] = { INT8_MIN, INT8_MAX }, [ELEMENT_U8] = { 0, UINT8_MAX },
		[ELEMENT_I16] = { INT16_MIN, INT16_MAX }, [ELEMENT_U16] = { 0, UINT16_MAX },
		[ELEMENT_I32] = { INT32_MIN, INT32_MAX }, [ELEMENT_U32] = { 0, UINT32_MAX },
		[ELEMENT_I64] = { INT64_MIN, 0x1p63 }, [ELEMENT_U64] = { 0, 0x1p64 },
	};

	return ply_is_real(type) || (v >= range[type].low && v <= range[type].high);
}

static int
next_ascii(struct ply *ply, enum element type, double *out)
{
	if (!words_anywhere(&ply->words))
		return ends_early(ply);
	if (words_number(&ply->words, out) < 0)
		return -1;
	if (!ply_is_real(type) && *out != floor(*out))
		return fail(ply->path, "line %zu: wanted a whole number, not '%s'", ply->words.line,
		    ply->words.word);
	if (!fits(type, *out))
		return fail(ply->path, "line %zu: %s does not fit its type", ply->words.line,
		    ply->words.word);
	if (type == ELEMENT_F32)
		*out = (float)*out;
	return 0;
}

int
ply_next_value(struct ply *ply, enum element type, double *out)
{
	return ply->form == PLY_FORM_ASCII ? next_ascii(ply, type, out) :
	    next_binary(ply, type, out);
}

int
ply_next_count(struct ply *ply, const struct ply_property *property, unsigned long long *out)
{
	double n;

	if (ply_next_value(ply, property->count_type, &n) < 0)
		return -1;
	if (!(n >= 0 && n <= UINT32_MAX))
		return fail(ply->path, "a list has %g entries", n);
	*out = (unsigned long long)n;
	return 0;
}

/* ---- clouds: the vertices' properties as the channels of a frame ---- */

struct cloud {
	struct ply *ply;
	struct frame_head *head;
	struct table_rows rows;
	bool warned;		/* about a value that a float rounds */
};

/* Channels of a property: red, green and blue of packed ones. */
static size_t
channels_of(const struct ply_property *property)
{
	return property->list || property->role == PLY_SKIPPED ? 0 :
	    property->role == PLY_PACKED ? 3 : 1;
}

static int
name_channels(struct cloud *cloud, const struct ply_element *vertex)
{
	const struct ply_property *property = cloud->ply->property + vertex->first;
	size_t n = 0;

	for (size_t i = 0; i < vertex->n; i++)
		n += channels_of(&property[i]);
	if (n == 0)
		return fail(cloud->ply->path, "element %s has no property that is a number",
		    vertex->name);
	if (head_set_count(cloud->head, n) < 0)
		return -1;
	cloud->rows.c = n;
	for (size_t i = 0, c = 0; i < vertex->n; i++)
		for (size_t k = 0; k < channels_of(&property[i]); k++)
			table_channel_name(property[i].role == PLY_PACKED ?
			    (char[2]){ "rgb"[k] } : property[i].name, false,
			    cloud->head->channel[c++]);
	return text_table_check_names(cloud->ply->path, cloud->head);
}

/* The element vertex; -1 where there is none, or faces. */
static int
find_vertices(struct cloud *cloud, size_t *vertex)
{
	const struct ply *ply = cloud->ply;

	*vertex = ply->elements;
	for (size_t i = 0; i < ply->elements; i++) {
		if (ply->element[i].kind == PLY_VERTEX)
			*vertex = i;
		else if (ply->element[i].kind != PLY_OTHER && ply->element[i].count)
			return fail(ply->path, "is a mesh, and only points are read of PLY files: "
			    "mesh2depth reads meshes, framecat --points writes points");
	}
	if (*vertex == ply->elements)
		return fail(ply->path, "header has no element vertex");
	return name_channels(cloud, &ply->element[*vertex]);
}

/* The value just read. -1 after fail() where it is too large. */
static int
keep_value(struct cloud *cloud, const struct ply_property *property, double v, float *to)
{
	const struct ply *ply = cloud->ply;
	const bool ascii = ply->form == PLY_FORM_ASCII;
	const struct table_place place = { ply->path, ascii ? "line" : "point",
		ascii ? ply->words.line : cloud->rows.n - 1 };
	float single = (float)v;
	uint32_t packed;

	if (property->role != PLY_PACKED)
		return table_value(&place, ascii ? ply->words.word : NULL,
		    ascii ? strtod(ply->words.word, NULL) : v, to, &cloud->warned);
	if (ply_is_real(property->type))
		memcpy(&packed, &single, sizeof(packed));
	else
		packed = (uint32_t)(int64_t)v;
	for (int k = 0; k < 3; k++)
		to[k] = (float)(packed >> 8 * (2 - k) & 255);
	return 0;
}

/* An item of an element; its numbers go to `row`, if there is one. */
static int
read_item(struct cloud *cloud, const struct ply_element *element, float *row)
{
	struct ply *ply = cloud->ply;
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
		if (ply_next_value(ply, property->type, &v) < 0 || (row && channels_of(property) &&
		    keep_value(cloud, property, v, row) < 0))
			return -1;
		row += row ? channels_of(property) : 0;
	}
	return 0;
}

/* The elements up to the vertices. What stands behind them belongs to an element, else their number
 * is wrong. */
static int
read_points(struct cloud *cloud, size_t vertex)
{
	struct ply *ply = cloud->ply;

	for (size_t e = 0; e <= vertex; e++) {
		ply_begin_element(ply, e);
		while (ply_begin_item(ply)) {
			float *row = NULL;

			if (e == vertex && !(row = table_rows_add(&cloud->rows)))
				return -1;
			if (read_item(cloud, &ply->element[e], row) < 0)
				return -1;
		}
	}
	ply_check_last(ply);
	for (size_t e = vertex + 1; e < ply->elements; e++)
		if (ply->element[e].count && ply->element[e].n)
			return 0;
	return ply_check_end(ply);
}

int
ply_read_cloud(struct ply *ply, struct frame_head *head, struct frame **out)
{
	struct cloud cloud = { .ply = ply, .head = head };
	size_t vertex;
	int status = find_vertices(&cloud, &vertex);

	if (status == 0)
		status = read_points(&cloud, vertex);
	if (status == 0)
		status = table_rows_frame(&cloud.rows, head, out);
	table_rows_free(&cloud.rows);
	return status;
}
