#include "optics/number_parser.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define ENTRY_LIMIT 4096

int
number_parser_fail(const struct number_parser *parser, const char *why)
{
	size_t line = 1;
	char seen[17];
	int n = 0;

	for (const char *c = parser->start; c < parser->at; c++)
		line += *c == '\n';
	while (n < 16 && parser->at + n < parser->end && parser->at[n] != '\n')
		n++;
	memcpy(seen, parser->at, (size_t)n);
	seen[n] = '\0';
	return fail(parser->path, "line %zu: expected %s, found '%s'", line, why, seen);
}

int
number_parser_open(struct number_parser *parser, const char *name)
{
	struct number_file *file = parser->file;
	struct number_file_entry *more;

	if (parser->muted || strlen(name) >= NUMBER_FILE_NAME_SIZE)
		return 0;
	if (file->entries == ENTRY_LIMIT)
		return fail(parser->path, "more than %d entries: no calibration", ENTRY_LIMIT);
	if (!(file->entries & (file->entries - 1))) {
		more = reallocarray(file->entry, file->entries ? 2 * file->entries : 1,
		    sizeof(*more));
		if (!more)
			return fail_memory();
		file->entry = more;
	}
	more = &file->entry[file->entries++];
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
