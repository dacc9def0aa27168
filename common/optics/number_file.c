/*
 * Files of named numbers and matrices: readers of JSON, YAML and XML as OpenCV, mrcal and others
 * write them, and an editor that replaces values and keeps the rest of the text.
 */
#include "optics/number_file.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "base/process.h"
#include "base/text.h"
#include "io/safe_file.h"
#include "optics/camera_model.h"

#define NUMBER_DEPTH_LIMIT 32	/* of nested keys, lists or elements */

#define KEY_LIMIT 4096

static size_t
line_number(const struct number_parser *parser)
{
	size_t line = 1;

	for (const char *c = parser->start; c < parser->at; c++)
		line += *c == '\n';
	return line;
}

/* Fails with the line of the cursor, what was expected there and what was found. */
static int
number_parser_fail(const struct number_parser *parser, const char *why)
{
	char seen[17];
	int n = 0;

	while (n < 16 && parser->at + n < parser->end && parser->at[n] != '\n')
		n++;
	memcpy(seen, parser->at, (size_t)n);
	seen[n] = '\0';
	return fail(parser->path, "line %zu: expected %s, found '%s'", line_number(parser), why,
	    seen);
}

/* Makes room for one more of n elements of a list, which grows at powers of two. `list` points at
 * the pointer. */
static void
make_room(void *list, size_t n, size_t size)
{
	void *old, *more;

	if (n & (n - 1))
		return;
	memcpy(&old, list, sizeof(old));
	more = must_resize(old, n ? 2 * n : 1, size);
	memcpy(list, &more, sizeof(more));
}

/* Notes a key, after which the cursor stands. A second one of that name is an error. */
static int
number_parser_key(struct number_parser *parser, const char *name)
{
	if (parser->muted || strlen(name) >= NUMBER_FILE_NAME_SIZE)
		return 0;
	for (size_t i = 0; i < parser->keys; i++)
		if (!strcmp(parser->key[i], name))
			return fail(parser->path, "line %zu: key %s comes a second time: keep one "
			    "of the two", line_number(parser), name);
	if (parser->keys == KEY_LIMIT)
		return fail(parser->path, "more than %d keys: no calibration", KEY_LIMIT);
	make_room(&parser->key, parser->keys, sizeof(*parser->key));
	strcpy(parser->key[parser->keys++], name);
	return 0;
}

int
number_parser_open(struct number_parser *parser, const char *name)
{
	struct number_file *file = parser->file;
	struct number_file_entry *entry;

	if (parser->muted || strlen(name) >= NUMBER_FILE_NAME_SIZE)
		return 0;
	for (size_t i = 0; i < file->entries; i++)
		if (!strcmp(file->entry[i].name, name))
			return number_parser_fail(parser, "all values of a key in one place");
	if (file->entries == KEY_LIMIT)
		return fail(parser->path, "more than %d entries: no calibration", KEY_LIMIT);
	make_room(&file->entry, file->entries, sizeof(*file->entry));
	entry = &file->entry[file->entries++];
	*entry = (struct number_file_entry){ .first = file->n };
	strcpy(entry->name, name);
	return 0;
}

void
number_parser_add(struct number_parser *parser, const char *name, double v)
{
	struct number_file *file = parser->file;

	if (parser->muted || !file->entries ||
	    strcmp(file->entry[file->entries - 1].name, name))
		return;
	make_room(&file->v, file->n, sizeof(*file->v));
	file->v[file->n++] = v;
	file->entry[file->entries - 1].n++;
}

/* An entry of one number. */
static int
number_parser_one(struct number_parser *parser, const char *name, double v)
{
	if (number_parser_open(parser, name) < 0)
		return -1;
	number_parser_add(parser, name, v);
	return 0;
}

int
number_parser_text(struct number_parser *parser, const char *name, const char *text, size_t n)
{
	struct number_file_entry *entry;

	if (number_parser_open(parser, name) < 0)
		return -1;
	if (parser->muted || strlen(name) >= NUMBER_FILE_NAME_SIZE)
		return 0;
	entry = &parser->file->entry[parser->file->entries - 1];
	entry->is_text = true;
	if (n >= NUMBER_FILE_TEXT_SIZE)
		return 0;
	memcpy(entry->text, text, n);
	entry->text[n] = '\0';
	return 0;
}

/* Makes OUTER.KEY; question marks when it is too long. */
static void
number_parser_join(char out[NUMBER_FILE_NAME_SIZE + 1], const char *outer, const char *key,
    size_t n)
{
	size_t m = strlen(outer), dot = m > 0;

	memset(out, 0, NUMBER_FILE_NAME_SIZE + 1);
	if (m + dot + n >= NUMBER_FILE_NAME_SIZE) {	/* no kept name is so long */
		memset(out, '?', NUMBER_FILE_NAME_SIZE);
		return;
	}
	memcpy(out, outer, m);
	memset(out + m, '.', dot);
	memcpy(out + m + dot, key, n);
}

/* Moves the cursor past blanks, comments from # on and, if lines, line ends. */
static void
number_parser_skip_blank(struct number_parser *parser, bool lines)
{
	while (parser->at < parser->end) {
		char c = *parser->at;

		if (c == '#')
			while (parser->at < parser->end && *parser->at != '\n')
				parser->at++;
		else if (c == ' ' || c == '\t' || c == '\r' || (lines && c == '\n'))
			parser->at++;
		else
			return;
	}
}

/* Takes a number at the cursor that a blank or a delimiter ends; false: there is none. */
static bool
number_parser_number(struct number_parser *parser, double *v)
{
	char *end;

	if (!isdigit((unsigned char)*parser->at) && !(*parser->at && strchr("+-.", *parser->at)))
		return false;
	*v = strtod(parser->at, &end);
	if (end == parser->at || end > parser->end || (*end && !strchr(" \t\r\n,]}<#", *end)))
		return false;
	parser->at = end;
	return true;
}

/* Takes a quoted string: *text, *n without the quotes. Escapes stay as they are. */
static int
number_parser_quoted(struct number_parser *parser, const char **text, size_t *n)
{
	char quote = *parser->at;
	const char *c = parser->at + 1;

	for (*text = c; c < parser->end && *c != quote && *c != '\n'; c++)
		c += *c == '\\' && quote == '"' && c + 1 < parser->end;
	if (c >= parser->end || *c != quote)
		return number_parser_fail(parser, "a closing quote in this line");
	*n = (size_t)(c - *text);
	parser->at = c + 1;
	return 0;
}

/* ---- the values of a number file: JSON, and the same within brackets in YAML ---- */

static int number_json_value(struct number_parser *, const char *name, int depth);

static int
number_json_list(struct number_parser *parser, const char *name, int depth)
{
	double v;

	if (depth > NUMBER_DEPTH_LIMIT)
		return number_parser_fail(parser, "fewer nested lists");
	parser->at++;
	for (;;) {
		int status = 0;

		number_parser_skip_blank(parser, true);
		if (*parser->at == ']') {
			parser->at++;
			return 0;
		}
		if (*parser->at == ',')
			parser->at++;
		else if (*parser->at == '[')
			status = number_json_list(parser, name, depth + 1);
		else if (number_parser_number(parser, &v))
			number_parser_add(parser, name, v);
		else if (parser->at < parser->end && !strchr("}:", *parser->at)) {
			bool is_object = *parser->at == '{';

			parser->muted++;
			status = number_json_value(parser, name, depth + 1);
			parser->muted--;
			if (status == 0 && !is_object)
				number_parser_add(parser, name, NAN);
		} else
			return number_parser_fail(parser, "] or a number");
		if (status < 0)
			return -1;
	}
}

static int
object(struct number_parser *parser, const char *name, int depth)
{
	if (depth > NUMBER_DEPTH_LIMIT)
		return number_parser_fail(parser, "fewer nested objects");
	parser->at++;
	for (;;) {
		char inner[NUMBER_FILE_NAME_SIZE + 1];
		const char *key;
		size_t n = 0;

		number_parser_skip_blank(parser, true);
		if (*parser->at == '}') {
			parser->at++;
			return 0;
		}
		if (*parser->at == ',') {
			parser->at++;
			continue;
		}
		if (*parser->at == '"' || *parser->at == '\'') {
			if (number_parser_quoted(parser, &key, &n) < 0)
				return -1;
		} else {
			key = parser->at;
			n = strcspn(key, ":,{}[]\"\n");
			parser->at += n;
		}
		number_parser_skip_blank(parser, true);
		if (!n || *parser->at != ':')
			return number_parser_fail(parser, "a key and a colon");
		parser->at++;
		number_parser_join(inner, name, key, n);
		if (number_parser_key(parser, inner) < 0 ||
		    number_json_value(parser, inner, depth + 1) < 0)
			return -1;
	}
}

static int
number_json_bare(struct number_parser *parser, const char *name, const char *stop)
{
	size_t n = strcspn(parser->at, stop);
	const char *text = parser->at;

	if (!n)
		return number_parser_fail(parser, "a value");
	parser->at += n;
	while (n && isspace((unsigned char)text[n - 1]))
		n--;
	if ((n == 4 && !strncmp(text, "null", 4)) || (n == 1 && *text == '~'))
		return 0;			/* the same as no entry */
	return number_parser_text(parser, name, text, n);
}

/* JSON, which YAML uses within brackets: any value, a list, and a word up to one of the bytes in
 * stop: true, null, a text without quotes. */
static int
number_json_value(struct number_parser *parser, const char *name, int depth)
{
	const char *text;
	double v;
	size_t n = 0;

	number_parser_skip_blank(parser, true);
	if (*parser->at == '[')
		return number_parser_open(parser, name) < 0 ? -1 :
		    number_json_list(parser, name, depth + 1);
	if (*parser->at == '{')
		return object(parser, name, depth + 1);
	if (*parser->at == 'b' && parser->at[1] == '\'')
		parser->at++;		/* Python's bytes, in mrcal's camera models */
	if (*parser->at == '"' || *parser->at == '\'')
		return number_parser_quoted(parser, &text, &n) < 0 ? -1 :
		    number_parser_text(parser, name, text, n);
	if (number_parser_number(parser, &v))
		return number_parser_one(parser, name, v);
	return number_json_bare(parser, name, ",]}{[:\n");
}

/* ---- XML number files: names of elements, numbers between them ---- */

/* The text between two tags. */
static int
xml_text(struct number_parser *parser, const char *name)
{
	const char *text = parser->at, *end = memchr(text, '<', (size_t)(parser->end - text));
	bool numbers = true;
	double v;

	end = end ? end : parser->end;
	while (text < end && isspace((unsigned char)*text))
		text++;
	if (text == end) {
		parser->at = end;
		return 0;
	}
	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	for (parser->at = text; numbers && parser->at < end; number_parser_skip_blank(parser, true))
		numbers = number_parser_number(parser, &v);
	parser->at = text;
	if (!numbers) {
		parser->at = end;
		return number_parser_text(parser, name, text, (size_t)(end - text));
	}
	if (number_parser_open(parser, name) < 0)
		return -1;
	for (; parser->at < end; number_parser_skip_blank(parser, true)) {
		if (!number_parser_number(parser, &v))
			return -1;
		number_parser_add(parser, name, v);
	}
	return 0;
}

/* Passes over <?...?>, <!-- ... --> and <!...>; false where there is none. */
static bool
xml_passed(struct number_parser *parser)
{
	const char *stop = !strncmp(parser->at, "<!--", 4) ? "-->" :
	    !strncmp(parser->at, "<?", 2) ? "?>" : !strncmp(parser->at, "<!", 2) ? ">" : NULL;
	const char *found = stop ? strstr(parser->at, stop) : NULL;

	if (found)
		parser->at = found + strlen(stop);
	return found;
}

static int
number_xml(struct number_parser *parser)
{
	char name[NUMBER_DEPTH_LIMIT + 1][NUMBER_FILE_NAME_SIZE + 1] = { "" };
	bool item[NUMBER_DEPTH_LIMIT + 1] = { false };	/* of a list: OpenCV calls it _ */
	int depth = 0;			/* 1 within the outermost element */

	for (;;) {
		const char *tag, *close;
		size_t n;

		if (depth == 0)
			number_parser_skip_blank(parser, true);
		else if (xml_text(parser, name[depth]) < 0)
			return -1;
		if (parser->at >= parser->end)
			return depth ? number_parser_fail(parser, "a closing tag") : 0;
		if (xml_passed(parser))
			continue;
		close = *parser->at == '<' ? strchr(parser->at, '>') : NULL;
		if (!close)
			return number_parser_fail(parser, "a tag");
		tag = parser->at + 1;
		n = strcspn(tag, " \t\r\n/>");
		parser->at = close + 1;
		if (*tag == '/') {
			if (depth == 0)
				return number_parser_fail(parser, "an opening tag");
			parser->muted -= item[depth--];
		} else if (close[-1] != '/') {
			if (++depth > NUMBER_DEPTH_LIMIT)
				return number_parser_fail(parser, "fewer nested elements");
			item[depth] = n == 1 && *tag == '_';
			parser->muted += item[depth];
			if (depth == 1)
				continue;
			number_parser_join(name[depth], name[depth - 1], tag, n);
			if (number_parser_key(parser, name[depth]) < 0)
				return -1;
		}
	}
}

/* ---- YAML number files: keys by indentation ---- */

struct level {
	size_t indent;
	char name[NUMBER_FILE_NAME_SIZE + 1];
};

/* The rest of a line must be blank. */
static int
end_of_line(struct number_parser *parser)
{
	number_parser_skip_blank(parser, false);
	if (parser->at < parser->end && *parser->at != '\n')
		return number_parser_fail(parser, "the end of the line");
	return 0;
}

/* Passes over the lines below that are further in: a text block (| or >), an object in a list. */
static void
yaml_block(struct number_parser *parser, size_t indent)
{
	while (parser->at < parser->end) {
		const char *line;
		size_t in;

		parser->at += strcspn(parser->at, "\n");
		line = parser->at + (parser->at < parser->end);
		in = strspn(line, " \t");
		if (in <= indent && !strchr("\r\n#", line[in]))
			return;
		if (line >= parser->end)
			return;
		parser->at = line;
	}
}

/* A line that begins with "- ", so far in: numbers go into the list of the open key. */
static int
yaml_item(struct number_parser *parser, size_t indent)
{
	struct number_file *file = parser->file;
	const char *line = parser->at - indent;
	bool is_object;
	double v;

	while (parser->at[0] == '-' && (isspace((unsigned char)parser->at[1]) || !parser->at[1])) {
		indent = (size_t)(parser->at++ - line);
		number_parser_skip_blank(parser, false);
	}
	if (parser->at >= parser->end || *parser->at == '\n') {
		if (parser->at[strspn(parser->at, " \t\r\n")] != '-')
			yaml_block(parser, indent);
		return 0;
	}
	if ((!file->entries || strcmp(file->entry[file->entries - 1].name, parser->open)) &&
	    number_parser_open(parser, parser->open) < 0)
		return -1;
	if (*parser->at == '[')
		return number_json_list(parser, parser->open, 1) < 0 ? -1 : end_of_line(parser);
	if (number_parser_number(parser, &v)) {
		number_parser_add(parser, parser->open, v);
		return end_of_line(parser);
	}
	is_object = *parser->at == '{' || strcspn(parser->at, ":") < strcspn(parser->at, "\n#");
	yaml_block(parser, indent);
	if (!is_object)
		number_parser_add(parser, parser->open, NAN);
	return 0;
}

/* The value after `key:`; *deeper: it follows in the next lines. */
static int
yaml_value(struct number_parser *parser, const char *name, size_t indent, bool *deeper)
{
	const char *text;
	double v;
	size_t n = 0;

	*deeper = false;
	number_parser_skip_blank(parser, false);
	while (*parser->at == '!' || *parser->at == '&') {	/* tag, anchor */
		parser->at += strcspn(parser->at, " \t\r\n");
		number_parser_skip_blank(parser, false);
	}
	text = parser->at;
	/* OpenCV writes [] and {} on a line of their own */
	number_parser_skip_blank(parser, true);
	if (*parser->at != '[' && *parser->at != '{')
		parser->at = text;
	if (parser->at >= parser->end || *parser->at == '\n') {
		*deeper = true;
		return 0;
	}
	if (*parser->at == '|' || *parser->at == '>') {
		yaml_block(parser, indent);
		return 0;
	}
	if (*parser->at == '[' || *parser->at == '{')
		return number_json_value(parser, name, 0) < 0 ? -1 : end_of_line(parser);
	if (*parser->at == '"' || *parser->at == '\'') {
		if (number_parser_quoted(parser, &text, &n) < 0 ||
		    number_parser_text(parser, name, text, n) < 0)
			return -1;
		return end_of_line(parser);
	}
	text = parser->at;
	if (number_parser_number(parser, &v)) {
		number_parser_skip_blank(parser, false);
		if (parser->at >= parser->end || *parser->at == '\n')
			return number_parser_one(parser, name, v);
		parser->at = text;			/* 2026-11-20 12:00 */
	}
	return number_json_bare(parser, name, "\n#");
}

static int
yaml_key(struct number_parser *parser, struct level level[NUMBER_DEPTH_LIMIT], size_t *depth,
    size_t indent)
{
	char name[NUMBER_FILE_NAME_SIZE + 1];
	const char *key = parser->at;
	bool deeper;
	size_t n = 0;

	while (*depth > 0 && level[*depth - 1].indent >= indent)
		(*depth)--;
	if (*key == '"' || *key == '\'') {
		if (number_parser_quoted(parser, &key, &n) < 0)
			return -1;
	} else {
		n = strcspn(key, ":\n");
		parser->at += n;
	}
	if (!n || *parser->at != ':') {
		parser->at = key;
		return number_parser_fail(parser, "key: value");
	}
	parser->at++;
	number_parser_join(name, *depth ? level[*depth - 1].name : "", key, n);
	if (number_parser_key(parser, name) < 0 || yaml_value(parser, name, indent, &deeper) < 0)
		return -1;
	if (!deeper)
		return 0;
	if (*depth == NUMBER_DEPTH_LIMIT)
		return number_parser_fail(parser, "fewer nested keys");
	level[*depth].indent = indent;
	strcpy(level[(*depth)++].name, name);
	snprintf(parser->open, sizeof(parser->open), "%.*s", NUMBER_FILE_NAME_SIZE - 1, name);
	return 0;
}

/* YAML, to the end of the text. */
static int
number_yaml(struct number_parser *parser)
{
	struct level level[NUMBER_DEPTH_LIMIT];
	size_t depth = 0;

	while (parser->at < parser->end) {
		size_t indent = strspn(parser->at, " \t");
		bool item;

		parser->at += indent;
		if (*parser->at == '%' || !strncmp(parser->at, "---", 3) ||
		    !strncmp(parser->at, "...", 3))
			parser->at += strcspn(parser->at, "\n");
		number_parser_skip_blank(parser, false);
		if (parser->at >= parser->end)
			return 0;
		if (*parser->at == '\n') {
			parser->at++;
			continue;
		}
		item = parser->at[0] == '-' && isspace((unsigned char)parser->at[1]);
		if ((item || *parser->at == '[') && !*parser->open)
			return number_parser_fail(parser, "entries with names, as {\"camera_K\": "
			    "[...]}, not a list of them");
		if (item) {
			if (yaml_item(parser, indent) < 0)
				return -1;
		} else if (yaml_key(parser, level, &depth, indent) < 0)
			return -1;
	}
	return 0;
}

/* ---- a file in any of these syntaxes ---- */

#define FILE_LIMIT ((size_t)1 << 20)

int
number_file_load(const char *path, struct number_file *out)
{
	return camera_model_is_named(path) ? camera_model_load(path, out) :
	    number_file_load_syntax(path, FILE_LIMIT, out);
}

/* Nothing but numbers and comments: one list without a name. False: it is something else. */
static int
plain(struct number_parser *parser, bool *is)
{
	double v;

	*is = false;
	number_parser_skip_blank(parser, true);
	if (!number_parser_number(parser, &v))
		return 0;
	*is = true;
	if (number_parser_one(parser, "", v) < 0)
		return -1;
	for (;;) {
		number_parser_skip_blank(parser, true);
		if (*parser->at == ',')
			parser->at++;
		else if (parser->at >= parser->end)
			return 0;
		else if (!number_parser_number(parser, &v))
			return number_parser_fail(parser, "a number");
		else
			number_parser_add(parser, "", v);
	}
}

/* Files of other programs that are no text, and how these write JSON. */
static int
fail_binary(const char *path, const char *text, size_t n)
{
	static const char numpy[] = "json.dump({\"camera_K\": K.tolist(), ...}, file)";
	static const struct {
		const char *start, *what, *cure;
	} known[] = { { "\x93NUMPY", "a NumPy array", numpy },
		{ "PK\3\4", "a NumPy archive", numpy },
		{ "MATLAB", "a MATLAB file", "writelines(jsonencode(rig), \"rig.json\")" } };

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (n > 8 && !strncmp(text, known[i].start, strlen(known[i].start)))
			return fail(path, "is %s, and calibrations are text: %s writes JSON",
			    known[i].what, known[i].cure);
	return fail(path, "no text: it holds a zero byte");
}

int
number_file_parse(const char *path, const char *text, size_t n, struct number_file *out)
{
	struct number_parser parser = { .path = path, .start = text, .at = text, .end = text + n,
		.file = out };
	bool is_plain;
	int status;

	memset(out, 0, sizeof(*out));
	if (memchr(text, '\0', n))
		return fail_binary(path, text, n);
	parser.at += byte_order_mark(text, n);
	status = plain(&parser, &is_plain);
	if (status == 0 && !is_plain && *parser.at == '{') {
		status = number_json_value(&parser, "", 0);
		number_parser_skip_blank(&parser, true);
		if (status == 0 && parser.at < parser.end)
			status = number_parser_fail(&parser, "the end of the file");
	} else if (status == 0 && !is_plain)
		status = *parser.at == '<' ? number_xml(&parser) : number_yaml(&parser);
	free(parser.key);
	if (status < 0)
		number_file_free(out);
	return status;
}

int
number_file_load_syntax(const char *path, size_t limit, struct number_file *out)
{
	char longer[64], *text;
	int status = -1;
	size_t n;

	snprintf(longer, sizeof(longer), "longer than %zu MB: no calibration", limit >> 20);
	text = text_file_read(path, limit, longer, &n);
	memset(out, 0, sizeof(*out));
	if (text)
		status = number_file_parse(path, text, n, out);
	free(text);
	return status;
}

void
number_file_free(struct number_file *file)
{
	free(file->entry);
	free(file->v);
	memset(file, 0, sizeof(*file));
}

const struct number_file_entry *
number_file_find(const struct number_file *file, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < file->entries; i++) {
		const char *found = file->entry[i].name;

		if (!strncmp(found, name, n) && (!found[n] || !strcmp(found + n, ".data")))
			return &file->entry[i];
	}
	return NULL;
}

/* An entry next to NAME.data: NAME.rows, NAME.cols, NAME.dt. */
static const struct number_file_entry *
find_beside(const struct number_file *file, const struct number_file_entry *data, const char *key)
{
	char name[2 * NUMBER_FILE_NAME_SIZE];
	size_t n = strlen(data->name);

	if (n < 5 || strcmp(data->name + n - 5, ".data"))
		return NULL;
	snprintf(name, sizeof(name), "%.*s.%s", (int)n - 5, data->name, key);
	return number_file_find(file, name);
}

int
number_file_check_size(const char *path, const struct number_file *file,
    const struct number_file_entry *entry)
{
	const struct number_file_entry *rows = find_beside(file, entry, "rows");
	const struct number_file_entry *cols = find_beside(file, entry, "cols");
	const struct number_file_entry *type = find_beside(file, entry, "dt");
	double size[2], channels = type ? strtod(type->text, NULL) : 0;
	char times[32] = "";

	if (!rows || !cols || rows->n != 1 || cols->n != 1)
		return 0;
	size[0] = file->v[rows->first];
	size[1] = file->v[cols->first];
	if (channels > 0)
		snprintf(times, sizeof(times), " times %g", channels);
	else
		channels = 1;
	return size[0] * size[1] * channels == (double)entry->n ? 0 : fail(path,
	    "%s: expected %g x %g%s numbers, as rows%s cols%s say, found %zu", entry->name,
	    size[0], size[1], times, times[0] ? "," : " and", times[0] ? " and dt" : "", entry->n);
}

/* ---- the editor ---- */

struct editing {
	const char *path, *text, *end;
	const char *start;		/* after blanks and comments */
	const struct number_edit *edit;
	size_t edits;
	FILE *out;			/* to memory: writing fails where that is short */
};

static bool
is_edited(const struct editing *editing, const char *name, size_t n)
{
	for (size_t i = 0; i < editing->edits; i++)
		if (strlen(editing->edit[i].name) == n && !memcmp(editing->edit[i].name, name, n))
			return true;
	return false;
}

static void
put(struct editing *editing, const char *from, const char *to)
{
	fwrite(from, 1, (size_t)(to - from), editing->out);
}

static void
put_numbers(struct editing *editing, const struct number_edit *edit, const char *between)
{
	for (size_t i = 0; i < edit->n; i++)
		fprintf(editing->out, "%s%.12g", i ? between : "", edit->v[i]);
}

static const char *
skip_line(const char *at, const char *end)
{
	const char *newline = memchr(at, '\n', (size_t)(end - at));

	return newline ? newline + 1 : end;
}

/* ---- YAML ---- */

/* Is this line the key of an entry that is edited? */
static bool
yaml_is_edited(const struct editing *editing, const char *line)
{
	const char *key = line + (*line == '"' || *line == '\'');
	size_t n = strcspn(key, ":\"' \t\r\n");
	const char *behind = key + n + (key[n] == '"' || key[n] == '\'');

	behind += strspn(behind, " \t");
	return *behind == ':' && is_edited(editing, key, n);
}

/* Does the line go on with the value of the key above it? */
static bool
yaml_goes_on(const char *line)
{
	return *line == ' ' || *line == '\t' || *line == ']' ||
	    (*line == '-' && strncmp(line, "---", 3) != 0);
}

static void
edit_yaml(struct editing *editing)
{
	const char *at = editing->text, *stop = editing->end, *last = editing->end;

	for (const char *line = at; line < editing->end; line = skip_line(line, editing->end))
		if (!strncmp(line, "...", 3))
			last = line;
	stop = last;
	while (at < stop) {
		const char *next = skip_line(at, stop);

		if (yaml_is_edited(editing, at)) {
			while (next < stop && yaml_goes_on(next))
				next = skip_line(next, stop);
		} else
			put(editing, at, next);
		at = next;
	}
	if (stop > editing->text && stop[-1] != '\n')
		fputc('\n', editing->out);
	for (size_t i = 0; i < editing->edits; i++) {
		fprintf(editing->out, "%s: [ ", editing->edit[i].name);
		put_numbers(editing, &editing->edit[i], ", ");
		fputs(" ]\n", editing->out);
	}
	put(editing, last, editing->end);
}

/* ---- XML ---- */

/* The entry at a tag, if it is edited: where it ends, else NULL. */
static const char *
xml_edited(const struct editing *editing, const char *tag)
{
	size_t n = strcspn(tag + 1, " \t\r\n/>");
	char close[NUMBER_FILE_NAME_SIZE + 8];
	const char *found;

	if (!is_edited(editing, tag + 1, n) || n >= NUMBER_FILE_NAME_SIZE)
		return NULL;
	snprintf(close, sizeof(close), "</%.*s>", (int)n, tag + 1);
	found = strstr(tag, close);
	return found ? skip_line(found + strlen(close), editing->end) : NULL;
}

static void
edit_xml(struct editing *editing)
{
	const char *at = editing->text, *last = memrchr(at, '<', (size_t)(editing->end - at));

	while (at < last) {
		const char *past = *at == '<' ? xml_edited(editing, at) : NULL;

		if (!past)
			put(editing, at, at + 1);
		at = past ? past : at + 1;
	}
	for (size_t i = 0; i < editing->edits; i++) {
		fprintf(editing->out, "<%s>", editing->edit[i].name);
		put_numbers(editing, &editing->edit[i], " ");
		fprintf(editing->out, "</%s>\n", editing->edit[i].name);
	}
	put(editing, last, editing->end);
}

/* ---- JSON ---- */

static const char *
json_blank(const char *at, const char *end)
{
	while (at < end && (strchr(" \t\r\n", *at) || *at == '#'))
		at = *at == '#' ? skip_line(at, end) : at + 1;
	return at;
}

static const char *
json_quoted(const char *at, const char *end)
{
	char quote = *at++;

	while (at < end && *at != quote)
		at += *at == '\\' && at + 1 < end ? 2 : 1;
	return at < end ? at + 1 : end;
}

/* From the key of a member to the end of its value. */
static const char *
json_member(const char *at, const char *end)
{
	const char *past = at;
	int depth = 0;

	while (at < end) {
		if (*at == '"' || *at == '\'') {
			past = at = json_quoted(at, end);
			continue;
		}
		if (*at == '#') {
			at = skip_line(at, end);
			continue;
		}
		if (depth == 0 && (*at == ',' || *at == '}' || *at == ']'))
			return past;
		depth += (*at == '[' || *at == '{') - (*at == ']' || *at == '}');
		at++;
		if (!strchr(" \t\r\n", at[-1]))
			past = at;
	}
	return past;
}

static void
edit_json(struct editing *editing)
{
	const char *end = editing->end, *open = editing->start + 1;
	const char *at = json_blank(open, end), *from = open;
	bool first = true;

	put(editing, editing->text, open);
	while (at < end && *at != '}') {
		const char *key = at + (*at == '"' || *at == '\''), *past = json_member(at, end);

		if (past == at) {		/* a comma of no member */
			at = json_blank(at + 1, end);
			continue;
		}
		if (!is_edited(editing, key, strcspn(key, "\"':, \t\r\n"))) {
			fputs(first ? "" : ",", editing->out);
			put(editing, from, past);
			first = false;
		}
		at = json_blank(past, end);
		if (at < end && *at == ',')
			at++;
		from = at;
		at = json_blank(at, end);
	}
	for (size_t i = 0; i < editing->edits; i++, first = false) {
		fprintf(editing->out, "%s\n  \"%s\": [", first ? "" : ",", editing->edit[i].name);
		put_numbers(editing, &editing->edit[i], ", ");
		fputc(']', editing->out);
	}
	fputc('\n', editing->out);
	put(editing, at, end);
}

/* ---- the result read again ---- */

static bool
same_entry(const struct number_file *a, const struct number_file_entry *x,
    const struct number_file *b, const struct number_file_entry *y)
{
	if (!y || x->n != y->n || strcmp(x->text, y->text))
		return false;
	for (size_t i = 0; i < x->n; i++) {
		double p = a->v[x->first + i], q = b->v[y->first + i];

		if (p != q && !(isnan(p) && isnan(q)))
			return false;
	}
	return true;
}

/* Has `after` what the edits say, and all else that `before` had? */
static bool
is_as_meant(const struct editing *editing, const struct number_file *before,
    const struct number_file *after)
{
	for (size_t i = 0; i < editing->edits; i++) {
		const struct number_edit *edit = &editing->edit[i];
		const struct number_file_entry *found = number_file_find(after, edit->name);

		if (!found || found->n != edit->n)
			return false;
		for (size_t k = 0; k < edit->n; k++)
			if (!(fabs(after->v[found->first + k] - edit->v[k]) <=
			    1e-11 * fabs(edit->v[k])))
				return false;
	}
	for (size_t i = 0; i < before->entries; i++) {
		const struct number_file_entry *entry = &before->entry[i];

		if (!is_edited(editing, entry->name, strcspn(entry->name, ".")) &&
		    !same_entry(before, entry, after, number_file_find(after, entry->name)))
			return false;
	}
	return true;
}

static int
check(const struct editing *editing, const char *text, size_t n)
{
	struct number_file before, after;
	int status = -1;

	if (number_file_parse(editing->path, editing->text,
	    (size_t)(editing->end - editing->text), &before) < 0)
		return -1;
	if (number_file_parse(editing->path, text, n, &after) == 0) {
		status = is_as_meant(editing, &before, &after) ? 0 : -1;
		number_file_free(&after);
	}
	number_file_free(&before);
	if (status == 0 || fail_is_memory())
		return status;
	fail_clear();
	return fail(editing->path, "cannot put %s into this text: write it as JSON, or as YAML "
	    "with its keys at the beginning of lines", editing->edit[0].name);
}

int
number_edit_text(const char *path, const char *text, size_t n, const struct number_edit *edit,
    size_t edits, char **out)
{
	const char *start = json_blank(text + byte_order_mark(text, n), text + n);
	struct editing editing = { path, text, text + n, start, edit, edits, NULL };
	struct text written;

	*out = NULL;
	if (*start && strchr("+-.0123456789", *start) && strncmp(start, "---", 3) != 0)
		return fail(path, "is a list of numbers without names: %s has no place there",
		    edit[0].name);
	editing.out = text_open(&written);
	(*start == '<' ? edit_xml : *start == '{' ? edit_json : edit_yaml)(&editing);
	*out = text_close(&written, &n);
	if (check(&editing, *out, n) == 0)
		return 0;
	free(*out);
	*out = NULL;
	return -1;
}

int
number_edit_file(const char *from, const char *to, const struct number_edit *edit, size_t edits)
{
	struct safe_file *place;
	char *text, *edited = NULL;
	bool written;
	size_t n;
	FILE *out;

	if (camera_model_is_named(from) || camera_model_is_named(to))
		return fail(camera_model_is_named(from) ? from : to, "is a camera model of mrcal, "
		    "which has no place for more: give a file that fringecal -o writes");
	text = text_file_read(from, FILE_LIMIT, "longer than 1 MB: no calibration", &n);
	if (!text || number_edit_text(from, text, n, edit, edits, &edited) < 0) {
		free(text);
		return -1;
	}
	free(text);
	out = safe_file_open(to, &place);
	written = out && fputs(edited, out) >= 0;
	free(edited);
	if (!out)
		return -1;
	if (!written)
		fail_errno(to, "cannot write");
	return safe_file_close(out, to, place, written) < 0 || !written ? -1 : 0;
}
