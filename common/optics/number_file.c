#define _GNU_SOURCE
#include "optics/number_file.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define FILE_LIMIT ((size_t)1 << 20)
#define ENTRY_LIMIT 4096
#define DEPTH_LIMIT 32

struct read_ahead {
	const char *path, *start, *at, *end;	/* *end is 0 */
	struct number_file *named;
	int muted;				/* inside a list of objects: nothing is kept */
	char open[NUMBER_FILE_NAME_SIZE]; /* YAML: the key that lines beginning with - belong to */
};

/* Why reading cannot go on, and in which line. */
static int
stuck(const struct read_ahead *reader, const char *why)
{
	size_t line = 1;
	char seen[17];
	int n = 0;

	for (const char *c = reader->start; c < reader->at; c++)
		line += *c == '\n';
	while (n < 16 && reader->at + n < reader->end && reader->at[n] != '\n')
		n++;
	memcpy(seen, reader->at, (size_t)n);
	seen[n] = '\0';
	return fail(reader->path, "line %zu: expected %s, found '%s'", line, why, seen);
}

/* ---- what is kept ---- */

/* An entry without numbers yet. A name that is too long is known to nobody: it is passed over. */
static int
entry_open(struct read_ahead *reader, const char *name)
{
	struct number_file *named = reader->named;
	struct number_file_entry *more;

	if (reader->muted || strlen(name) >= NUMBER_FILE_NAME_SIZE)
		return 0;
	if (named->entries == ENTRY_LIMIT)
		return fail(reader->path, "more than %d entries: no calibration", ENTRY_LIMIT);
	if (!(named->entries & (named->entries - 1))) {
		more = reallocarray(named->entry, named->entries ? 2 * named->entries : 1,
		    sizeof(*more));
		if (!more)
			return fail_memory();
		named->entry = more;
	}
	more = &named->entry[named->entries++];
	memset(more, 0, sizeof(*more));
	strcpy(more->name, name);
	more->first = named->n;
	return 0;
}

/* A number behind the others of the last entry, if it is `name`. */
static int
entry_add(struct read_ahead *reader, const char *name, double v)
{
	struct number_file *named = reader->named;

	if (reader->muted || !named->entries ||
	    strcmp(named->entry[named->entries - 1].name, name))
		return 0;
	if (named->n == named->room) {
		size_t room = named->room ? 2 * named->room : 64;
		double *more = reallocarray(named->v, room, sizeof(*more));

		if (!more)
			return fail_memory();
		named->v = more;
		named->room = room;
	}
	named->v[named->n++] = v;
	named->entry[named->entries - 1].n++;
	return 0;
}

static int
entry_text(struct read_ahead *reader, const char *name, const char *text, size_t n)
{
	struct number_file_entry *entry;

	if (entry_open(reader, name) < 0)
		return -1;
	if (reader->muted || strlen(name) >= NUMBER_FILE_NAME_SIZE || n >= NUMBER_FILE_TEXT_SIZE)
		return 0;
	entry = &reader->named->entry[reader->named->entries - 1];
	memcpy(entry->text, text, n);
	entry->text[n] = '\0';
	return 0;
}

static void
join(char out[NUMBER_FILE_NAME_SIZE + 1], const char *outer, const char *key, size_t n)
{
	size_t m = strlen(outer), dot = m > 0;

	memset(out, 0, NUMBER_FILE_NAME_SIZE + 1);
	if (m + dot + n >= NUMBER_FILE_NAME_SIZE) {	/* known to nobody, and longer than any kept name */
		memset(out, '?', NUMBER_FILE_NAME_SIZE);
		return;
	}
	memcpy(out, outer, m);
	memset(out + m, '.', dot);
	memcpy(out + m + dot, key, n);
}

/* ---- values: JSON, and the same within brackets in YAML ---- */

static int value(struct read_ahead *, const char *name, int depth);

static void
skip_blank(struct read_ahead *reader, bool lines)
{
	while (reader->at < reader->end) {
		char c = *reader->at;

		if (c == '#')
			while (reader->at < reader->end && *reader->at != '\n')
				reader->at++;
		else if (c == ' ' || c == '\t' || c == '\r' || (lines && c == '\n'))
			reader->at++;
		else
			return;
	}
}

/* A number at the cursor, and nothing glued to it. */
static bool
number(struct read_ahead *reader, double *v)
{
	char *end;

	if (!isdigit((unsigned char)*reader->at) && !(*reader->at && strchr("+-.", *reader->at)))
		return false;
	*v = strtod(reader->at, &end);
	if (end == reader->at || end > reader->end || (*end && !strchr(" \t\r\n,]}<#", *end)))
		return false;
	reader->at = end;
	return true;
}

/* A quoted string: *text, *n without the quotes. Escapes stay as they are. */
static int
quoted(struct read_ahead *reader, const char **text, size_t *n)
{
	char quote = *reader->at;
	const char *c = reader->at + 1;

	for (*text = c; c < reader->end && *c != quote && *c != '\n'; c++)
		c += *c == '\\' && quote == '"' && c + 1 < reader->end;
	if (c >= reader->end || *c != quote)
		return stuck(reader, "a closing quote in this line");
	*n = (size_t)(c - *text);
	reader->at = c + 1;
	return 0;
}

static int
list(struct read_ahead *reader, const char *name, int depth)
{
	double v;

	if (depth > DEPTH_LIMIT)
		return stuck(reader, "fewer nested lists");
	reader->at++;
	for (;;) {
		int status = 0;

		skip_blank(reader, true);
		if (*reader->at == ']') {
			reader->at++;
			return 0;
		}
		if (*reader->at == ',')
			reader->at++;
		else if (*reader->at == '[')
			status = list(reader, name, depth + 1);
		else if (number(reader, &v))
			status = entry_add(reader, name, v);
		else if (reader->at < reader->end && !strchr("}:", *reader->at)) {
			reader->muted++;
			status = value(reader, name, depth + 1);
			reader->muted--;
		} else
			return stuck(reader, "] or a number");
		if (status < 0)
			return -1;
	}
}

static int
object(struct read_ahead *reader, const char *name, int depth)
{
	if (depth > DEPTH_LIMIT)
		return stuck(reader, "fewer nested objects");
	reader->at++;
	for (;;) {
		char inner[NUMBER_FILE_NAME_SIZE + 1];
		const char *key;
		size_t n = 0;

		skip_blank(reader, true);
		if (*reader->at == '}') {
			reader->at++;
			return 0;
		}
		if (*reader->at == ',') {
			reader->at++;
			continue;
		}
		if (*reader->at == '"' || *reader->at == '\'') {
			if (quoted(reader, &key, &n) < 0)
				return -1;
		} else {
			key = reader->at;
			n = strcspn(key, ":,{}[]\"\n");
			reader->at += n;
		}
		skip_blank(reader, true);
		if (!n || *reader->at != ':')
			return stuck(reader, "a key and a colon");
		reader->at++;
		join(inner, name, key, n);
		if (value(reader, inner, depth + 1) < 0)
			return -1;
	}
}

/* A word that is neither number, list nor object: true, null, a text without quotes. */
static int
bare(struct read_ahead *reader, const char *name, const char *stop)
{
	size_t n = strcspn(reader->at, stop);
	const char *text = reader->at;

	if (!n)
		return stuck(reader, "a value");
	reader->at += n;
	while (n && isspace((unsigned char)text[n - 1]))
		n--;
	if ((n == 4 && !strncmp(text, "null", 4)) || (n == 1 && *text == '~'))
		return 0;			/* as good as not there */
	return entry_text(reader, name, text, n);
}

static int
value(struct read_ahead *reader, const char *name, int depth)
{
	const char *text;
	double v;
	size_t n = 0;

	skip_blank(reader, true);
	if (*reader->at == '[')
		return entry_open(reader, name) < 0 ? -1 : list(reader, name, depth + 1);
	if (*reader->at == '{')
		return object(reader, name, depth + 1);
	if (*reader->at == '"' || *reader->at == '\'')
		return quoted(reader, &text, &n) < 0 ? -1 : entry_text(reader, name, text, n);
	if (number(reader, &v))
		return entry_open(reader, name) < 0 ? -1 : entry_add(reader, name, v);
	return bare(reader, name, ",]}{[:\n");
}

/* ---- YAML: keys by indentation ---- */

struct level {
	size_t indent;
	char name[NUMBER_FILE_NAME_SIZE + 1];
};

/* The rest of a line must be blank. */
static int
end_of_line(struct read_ahead *reader)
{
	skip_blank(reader, false);
	if (reader->at < reader->end && *reader->at != '\n')
		return stuck(reader, "the end of the line");
	return 0;
}

/* A line that begins with "- ": what follows goes into the list of the open key. */
static int
yaml_item(struct read_ahead *reader)
{
	struct number_file *named = reader->named;
	double v;

	while (reader->at[0] == '-' && (isspace((unsigned char)reader->at[1]) || !reader->at[1])) {
		reader->at++;
		skip_blank(reader, false);
	}
	if (reader->at >= reader->end || *reader->at == '\n')
		return 0;
	if ((!named->entries || strcmp(named->entry[named->entries - 1].name, reader->open)) &&
	    entry_open(reader, reader->open) < 0)
		return -1;
	if (*reader->at == '[')
		return list(reader, reader->open, 1) < 0 ? -1 : end_of_line(reader);
	if (number(reader, &v))
		return entry_add(reader, reader->open, v) < 0 ? -1 : end_of_line(reader);
	reader->at += strcspn(reader->at, "\n");	/* texts and objects are passed over */
	return 0;
}

/* A text block (| or >): the lines below that are further in. */
static void
yaml_block(struct read_ahead *reader, size_t indent)
{
	while (reader->at < reader->end) {
		const char *line = reader->at + 1;
		size_t in;

		reader->at += strcspn(reader->at, "\n");
		line = reader->at + (reader->at < reader->end);
		in = strspn(line, " \t");
		if (in <= indent && line[in] != '\n')
			return;
		if (line >= reader->end)
			return;
		reader->at = line;
	}
}

/* What stands behind `key:`; *deeper says that it follows in the next lines. */
static int
yaml_value(struct read_ahead *reader, const char *name, size_t indent, bool *deeper)
{
	const char *text;
	double v;
	size_t n = 0;

	*deeper = false;
	skip_blank(reader, false);
	while (*reader->at == '!' || *reader->at == '&') {	/* tag, anchor */
		reader->at += strcspn(reader->at, " \t\r\n");
		skip_blank(reader, false);
	}
	if (reader->at >= reader->end || *reader->at == '\n') {
		*deeper = true;
		return 0;
	}
	if (*reader->at == '|' || *reader->at == '>') {
		yaml_block(reader, indent);
		return 0;
	}
	if (*reader->at == '[' || *reader->at == '{')
		return value(reader, name, 0) < 0 ? -1 : end_of_line(reader);
	if (*reader->at == '"' || *reader->at == '\'') {
		if (quoted(reader, &text, &n) < 0 || entry_text(reader, name, text, n) < 0)
			return -1;
		return end_of_line(reader);
	}
	text = reader->at;
	if (number(reader, &v)) {
		skip_blank(reader, false);
		if (reader->at >= reader->end || *reader->at == '\n')
			return entry_open(reader, name) < 0 ? -1 : entry_add(reader, name, v);
		reader->at = text;			/* 2026-11-20 12:00 */
	}
	return bare(reader, name, "\n#");
}

static int
yaml_key(struct read_ahead *reader, struct level level[DEPTH_LIMIT], size_t *depth, size_t indent)
{
	char name[NUMBER_FILE_NAME_SIZE + 1];
	const char *key = reader->at;
	bool deeper;
	size_t n = 0;

	while (*depth > 0 && level[*depth - 1].indent >= indent)
		(*depth)--;
	if (*key == '"' || *key == '\'') {
		if (quoted(reader, &key, &n) < 0)
			return -1;
	} else {
		n = strcspn(key, ":\n");
		reader->at += n;
	}
	if (!n || *reader->at != ':') {
		reader->at = key;
		return stuck(reader, "key: value");
	}
	reader->at++;
	join(name, *depth ? level[*depth - 1].name : "", key, n);
	if (yaml_value(reader, name, indent, &deeper) < 0)
		return -1;
	if (!deeper)
		return 0;
	if (*depth == DEPTH_LIMIT)
		return stuck(reader, "fewer nested keys");
	level[*depth].indent = indent;
	strcpy(level[(*depth)++].name, name);
	snprintf(reader->open, sizeof(reader->open), "%.*s", NUMBER_FILE_NAME_SIZE - 1, name);
	return 0;
}

static int
yaml(struct read_ahead *reader)
{
	struct level level[DEPTH_LIMIT];
	size_t depth = 0;

	while (reader->at < reader->end) {
		size_t indent = strspn(reader->at, " \t");

		reader->at += indent;
		if (*reader->at == '%' || !strncmp(reader->at, "---", 3) ||
		    !strncmp(reader->at, "...", 3))
			reader->at += strcspn(reader->at, "\n");
		skip_blank(reader, false);
		if (reader->at >= reader->end)
			return 0;
		if (*reader->at == '\n') {
			reader->at++;
			continue;
		}
		if (reader->at[0] == '-' && (isspace((unsigned char)reader->at[1]))) {
			if (yaml_item(reader) < 0)
				return -1;
		} else if (yaml_key(reader, level, &depth, indent) < 0)
			return -1;
	}
	return 0;
}

/* ---- XML: names of elements, numbers between them ---- */

/* What stands between two tags. */
static int
xml_text(struct read_ahead *reader, const char *name)
{
	const char *text = reader->at, *end = memchr(text, '<', (size_t)(reader->end - text));
	bool numbers = true;
	double v;

	end = end ? end : reader->end;
	while (text < end && isspace((unsigned char)*text))
		text++;
	if (text == end) {
		reader->at = end;
		return 0;
	}
	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	for (reader->at = text; numbers && reader->at < end; skip_blank(reader, true))
		numbers = number(reader, &v);
	reader->at = text;
	if (!numbers) {
		reader->at = end;
		return entry_text(reader, name, text, (size_t)(end - text));
	}
	if (entry_open(reader, name) < 0)
		return -1;
	for (; reader->at < end; skip_blank(reader, true))
		if (!number(reader, &v) || entry_add(reader, name, v) < 0)
			return -1;
	return 0;
}

/* Passes over <?...?>, <!-- ... --> and <!...>; false where there is none. */
static bool
xml_passed(struct read_ahead *reader)
{
	const char *stop = !strncmp(reader->at, "<!--", 4) ? "-->" :
	    !strncmp(reader->at, "<?", 2) ? "?>" : !strncmp(reader->at, "<!", 2) ? ">" : NULL;
	const char *found = stop ? strstr(reader->at, stop) : NULL;

	if (found)
		reader->at = found + strlen(stop);
	return found;
}

static int
xml(struct read_ahead *reader)
{
	char name[DEPTH_LIMIT + 1][NUMBER_FILE_NAME_SIZE + 1] = { "" };
	int depth = 0;			/* 1 within the outermost element */

	for (;;) {
		const char *tag, *close;
		size_t n;

		if (depth == 0)
			skip_blank(reader, true);
		else if (xml_text(reader, name[depth]) < 0)
			return -1;
		if (reader->at >= reader->end)
			return depth ? stuck(reader, "a closing tag") : 0;
		if (xml_passed(reader))
			continue;
		close = *reader->at == '<' ? strchr(reader->at, '>') : NULL;
		if (!close)
			return stuck(reader, "a tag");
		tag = reader->at + 1;
		n = strcspn(tag, " \t\r\n/>");
		reader->at = close + 1;
		if (*tag == '/') {
			if (--depth < 0)
				return stuck(reader, "an opening tag");
		} else if (close[-1] != '/') {
			if (++depth > DEPTH_LIMIT)
				return stuck(reader, "fewer nested elements");
			if (depth > 1)
				join(name[depth], name[depth - 1], tag, n);
		}
	}
}

/* ---- the whole file ---- */

/* Nothing but numbers and comments: one list without a name. False: it is something else. */
static int
plain(struct read_ahead *reader, bool *is)
{
	double v;

	*is = false;
	skip_blank(reader, true);
	if (!number(reader, &v))
		return 0;
	*is = true;
	if (entry_open(reader, "") < 0 || entry_add(reader, "", v) < 0)
		return -1;
	for (;;) {
		skip_blank(reader, true);
		if (*reader->at == ',')
			reader->at++;
		else if (reader->at >= reader->end)
			return 0;
		else if (!number(reader, &v))
			return stuck(reader, "a number");
		else if (entry_add(reader, "", v) < 0)
			return -1;
	}
}

int
number_file_parse(const char *path, const char *text, size_t n, struct number_file *named)
{
	struct read_ahead reader = { path, text, text, text + n, named, 0, "" };
	bool is_plain;
	int status;

	memset(named, 0, sizeof(*named));
	if (memchr(text, '\0', n))
		return fail(path, "no text: it holds a zero byte");
	if (n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		reader.at += 3;
	status = plain(&reader, &is_plain);
	if (status == 0 && !is_plain && *reader.at == '{') {
		status = value(&reader, "", 0);
		skip_blank(&reader, true);
		if (status == 0 && reader.at < reader.end)
			status = stuck(&reader, "the end of the file");
	} else if (status == 0 && !is_plain)
		status = *reader.at == '<' ? xml(&reader) : yaml(&reader);
	if (status < 0)
		number_file_free(named);
	return status;
}

int
number_file_load(const char *path, struct number_file *named)
{
	FILE *file = fopen(path, "rb");
	char *text = NULL;
	int status = -1;
	size_t n = 0;

	memset(named, 0, sizeof(*named));
	if (!file)
		return fail_errno(path, "cannot open");
	text = malloc(FILE_LIMIT + 2);
	if (!text)
		fail_memory();
	else {
		n = fread(text, 1, FILE_LIMIT + 1, file);
		text[n] = '\0';
		if (ferror(file))
			fail_errno(path, "cannot read");
		else if (n > FILE_LIMIT)
			fail(path, "longer than 1 MB: no calibration");
		else
			status = number_file_parse(path, text, n, named);
	}
	free(text);
	fclose(file);
	return status;
}

void
number_file_free(struct number_file *named)
{
	free(named->entry);
	free(named->v);
	memset(named, 0, sizeof(*named));
}

const struct number_file_entry *
number_file_find(const struct number_file *named, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < named->entries; i++) {
		const char *found = named->entry[i].name;

		if (!strncmp(found, name, n) && (!found[n] || !strcmp(found + n, ".data")))
			return &named->entry[i];
	}
	return NULL;
}
