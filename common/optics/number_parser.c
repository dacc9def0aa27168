#include "optics/number_parser.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define KEY_LIMIT 4096

static size_t
line_number(const struct number_parser *parser)
{
	size_t line = 1;

	for (const char *c = parser->start; c < parser->at; c++)
		line += *c == '\n';
	return line;
}

int
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

/* An array of n elements with room for one more: it grows at powers of two. NULL after fail(). */
static void *
with_room(void *array, size_t n, size_t size)
{
	void *more = n & (n - 1) ? array : reallocarray(array, n ? 2 * n : 1, size);

	if (!more)
		fail_memory();
	return more;
}

int
number_parser_key(struct number_parser *parser, const char *name)
{
	void *more;

	if (parser->muted || strlen(name) >= NUMBER_FILE_NAME_SIZE)
		return 0;
	for (size_t i = 0; i < parser->keys; i++)
		if (!strcmp(parser->key[i], name))
			return fail(parser->path, "line %zu: key %s comes a second time: keep one "
			    "of the two", line_number(parser), name);
	if (parser->keys == KEY_LIMIT)
		return fail(parser->path, "more than %d keys: no calibration", KEY_LIMIT);
	more = with_room(parser->key, parser->keys, sizeof(*parser->key));
	if (!more)
		return -1;
	parser->key = more;
	strcpy(parser->key[parser->keys++], name);
	return 0;
}

int
number_parser_open(struct number_parser *parser, const char *name)
{
	struct number_file *file = parser->file;
	struct number_file_entry *more;

	if (parser->muted || strlen(name) >= NUMBER_FILE_NAME_SIZE)
		return 0;
	for (size_t i = 0; i < file->entries; i++)
		if (!strcmp(file->entry[i].name, name))
			return number_parser_fail(parser, "all values of a key in one place");
	if (file->entries == KEY_LIMIT)
		return fail(parser->path, "more than %d entries: no calibration", KEY_LIMIT);
	more = with_room(file->entry, file->entries, sizeof(*more));
	if (!more)
		return -1;
	file->entry = more;
	more += file->entries++;
	memset(more, 0, sizeof(*more));
	strcpy(more->name, name);
	more->first = file->n;
	return 0;
}

int
number_parser_add(struct number_parser *parser, const char *name, double v)
{
	struct number_file *file = parser->file;

	if (parser->muted || !file->entries ||
	    strcmp(file->entry[file->entries - 1].name, name))
		return 0;
	if (file->n == file->room) {
		size_t room = file->room ? 2 * file->room : 64;
		double *more = reallocarray(file->v, room, sizeof(*more));

		if (!more)
			return fail_memory();
		file->v = more;
		file->room = room;
	}
	file->v[file->n++] = v;
	file->entry[file->entries - 1].n++;
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

void
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

void
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

bool
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

int
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
