/* Tables as text: recognising and reading them. Writing is in text_table_write.c. */
#define _GNU_SOURCE
#include "io/text_table.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/byte_order_mark.h"
#include "base/fail.h"
#include "base/numbers.h"
#include "frame/table_rows.h"

#define LINE_MOST (4u << 20)	/* bytes: 65536 columns of numbers take less than 1 MiB */

struct text {
	const char *path;
	FILE *file;
	enum text_syntax syntax;
	char *line;		/* without its end, and a 0 behind it */
	size_t room, number;	/* its number, from 1 */
	bool warned;		/* about a value that a float rounds */
};

/* ---- lines ---- */

static int
add_byte(struct text *text, size_t at, int byte)
{
	if (at == LINE_MOST)
		return fail(text->path, "line %zu is longer than %u bytes", text->number,
		    LINE_MOST);
	if (at == text->room) {
		size_t room = text->room ? 2 * text->room : 256;
		char *more = realloc(text->line, room);

		if (!more)
			return fail_memory();
		text->line = more;
		text->room = room;
	}
	text->line[at] = (char)byte;
	return 0;
}

/* Behind a \r: takes the \n that follows it, if one does. */
static void
end_line(struct text *text)
{
	int byte = getc_unlocked(text->file);

	if (byte != '\n' && byte != EOF)
		ungetc(byte, text->file);
}

/* The next line, ended by \n, \r \n, \r or the end of the file: 1; 0 where there is none; -1. */
static int
next_line(struct text *text)
{
	size_t n = 0;
	int byte;

	text->number++;
	while ((byte = getc_unlocked(text->file)) != EOF && byte != '\n' && byte != '\r') {
		if (byte == '\0')
			return fail(text->path, "line %zu has a byte 0: it is no text",
			    text->number);
		if (add_byte(text, n++, byte) < 0)
			return -1;
	}
	if (ferror(text->file))
		return fail_errno(text->path, "cannot be read");
	if (byte == EOF && n == 0)
		return 0;
	if (byte == '\r')
		end_line(text);
	return add_byte(text, n, '\0') < 0 ? -1 : 1;
}

static char *
skip_blanks(char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

static void
cut_blanks(char *start, char *end)
{
	while (end > start && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = '\0';
}

/* ---- fields ---- */

struct field {
	char *text;
	bool quoted;
};

/* "text", in which "" is a quote, at *at, which moves behind it. */
static int
take_quoted(const struct text *text, char **at, struct field *field)
{
	char *from = *at + 1, *to = from;

	*field = (struct field){ from, true };
	for (; *from && (*from != '"' || from[1] == '"'); from++) {
		from += *from == '"';
		*to++ = *from;
	}
	if (!*from)
		return fail(text->path, "line %zu: a quote is not closed", text->number);
	*to = '\0';
	*at = skip_blanks(from + 1);
	if (**at && **at != ',')
		return fail(text->path, "line %zu: '%.30s' stands behind a quoted field",
		    text->number, *at);
	return 0;
}

/*
 * The next field at *at, which moves behind it and becomes NULL behind the last one. 1; 0 where
 * there is none; -1 after fail().
 */
static int
next_field(const struct text *text, char **at, struct field *field)
{
	char *end;

	if (!*at)
		return 0;
	*at = skip_blanks(*at);
	*field = (struct field){ *at, false };
	if (text->syntax == TEXT_VNL) {
		end = *at + strcspn(*at, " \t");
		*at = *end ? end + 1 : NULL;
		*end = '\0';
		return *field->text != '\0';
	}
	if (**at == '"') {
		if (take_quoted(text, at, field) < 0)
			return -1;
		*at = **at ? *at + 1 : NULL;
		return 1;
	}
	end = *at + strcspn(*at, ",");
	*at = *end ? end + 1 : NULL;
	cut_blanks(field->text, end);
	return 1;
}

/* Rounded once, so that a printed float is the same float again. */
static int
parse_value(struct text *text, const char *field, float *out)
{
	const char *digits = field + (*field == '-' || *field == '+');
	char *end;

	*out = NAN;
	if ((!*field && text->syntax == TEXT_CSV) || (!strcmp(field, "-") &&
	    text->syntax == TEXT_VNL))
		return 0;
	*out = strtof(field, &end);
	if (end == field || *end)
		return fail(text->path, "line %zu: wanted a number, not '%.60s'", text->number,
		    field);
	if (isinf(*out) && isdigit((unsigned char)*digits))
		return fail(text->path, "line %zu: %.60s is larger than a float can be",
		    text->number, field);
	if (isnan(*out))
		*out = NAN;
	if (!text->warned && fabsf(*out) >= 16777216.0f &&
	    text_table_rounds(field, strtod(field, NULL))) {
		text_table_warn_rounded(text->path, "line", text->number, field, *out);
		text->warned = true;
	}
	return 0;
}

/* ---- names ---- */

/* What was named, as a channel can be called: no blanks, at most 31 bytes, not empty. */
static void
make_name(const char *from, size_t c, char to[CHANNEL_NAME_SIZE])
{
	size_t n = strlen(from);

	if (n >= CHANNEL_NAME_SIZE)	/* not within a letter of several bytes */
		for (n = CHANNEL_NAME_SIZE - 1; n > 1 && ((unsigned char)from[n] & 0xc0) == 0x80;)
			n--;
	memset(to, 0, CHANNEL_NAME_SIZE);
	if (n == 0)
		snprintf(to, CHANNEL_NAME_SIZE, "field%zu", c + 1);
	else
		snprintf(to, CHANNEL_NAME_SIZE, "%.*s", (int)n, from);
	text_table_change_name(to);
}

static int
count_fields(const struct text *text, size_t *n)
{
	char *copy = strdup(text->line), *at = copy;
	struct field field;
	int status;

	if (!copy)
		return fail_memory();
	while ((status = next_field(text, &at, &field)) > 0)
		++*n;
	free(copy);
	return status;
}

/* The names at `at` become the channels. */
static int
take_names(const struct text *text, char *at, struct frame_head *head)
{
	bool names = false;
	struct field field;
	size_t n = 0;
	double v;

	if (count_fields(text, &n) < 0)
		return -1;
	if (n > 65536)
		return fail(text->path, "line %zu names %zu columns, a frame has 65536 channels "
		    "at most", text->number, n);
	if (head_set_count(head, n) < 0)
		return -1;
	for (size_t c = 0; next_field(text, &at, &field) > 0; c++) {
		if (n == 1 && text->syntax == TEXT_CSV && !field.quoted &&
		    strpbrk(field.text, ";\t"))
			return fail(text->path, "line %zu: columns are separated by commas, not %s",
			    text->number, strchr(field.text, ';') ? "';'" : "tabs");
		names |= field.quoted || (*field.text && number_parse(field.text, &v) < 0);
		make_name(field.text, c, head->channel[c]);
	}
	if (names || text->syntax == TEXT_VNL)
		return text_table_check_names(text->path, head);
	return fail(text->path, "line %zu: wanted the names of the columns, found only numbers",
	    text->number);
}

/* key:=value behind the marks of a comment; other comments, and what the names and the rows tell,
 * are passed over. */
static int
take_comment(const char *line, struct frame_head *head)
{
	line += strspn(line, "#");
	line += *line == ' ';
	if (!strncmp(line, "channels:=", 10) || !strncmp(line, "points:=", 8))
		return 0;
	return head_from_text(head, line, strlen(line));
}

/* Reads lines until the names are known. */
static int
read_head(struct text *text, struct frame_head *head)
{
	int got;

	while ((got = next_line(text)) > 0) {
		char *line = text->line;
		bool mark;

		if (text->number == 1)
			line += byte_order_mark(line, strlen(line));
		line = skip_blanks(line);
		mark = *line == '#';
		if (!*line)
			continue;
		if (mark && (text->syntax == TEXT_CSV || line[1] == '#' || line[1] == '!')) {
			if (take_comment(line, head) < 0)
				return -1;
			continue;
		}
		if (text->syntax == TEXT_CSV) {
			memmove(text->line, line, strlen(line) + 1);
			return take_names(text, text->line, head);
		}
		if (!mark)
			return fail(text->path, "line %zu: wanted the names of the columns behind "
			    "#, not '%.60s'", text->number, line);
		memmove(text->line, line + 1, strlen(line));
		if (*skip_blanks(text->line))
			return take_names(text, text->line, head);
	}
	return got < 0 ? -1 : fail(text->path, "ends before the names of the columns");
}

/* ---- rows ---- */

static int
take_row(struct text *text, struct table_rows *rows)
{
	char *at = text->line;
	float *row = table_rows_add(rows);
	struct field field;
	size_t n = 0;
	int got;

	if (!row)
		return -1;
	for (; (got = next_field(text, &at, &field)) > 0; n++)
		if (n < rows->c && parse_value(text, field.text, &row[n]) < 0)
			return -1;
	if (got == 0 && n != rows->c)
		return fail(text->path, "line %zu: %zu value%s where %zu column%s named",
		    text->number, n, n == 1 ? "" : "s", rows->c, rows->c == 1 ? " is" : "s are");
	return got;
}

static int
read_rows(struct text *text, struct table_rows *rows)
{
	int got;

	while ((got = next_line(text)) > 0) {
		if (text->syntax == TEXT_VNL)
			text->line[strcspn(text->line, "#")] = '\0';
		if (strchr("#", *skip_blanks(text->line)))	/* or at its end */
			continue;
		if (take_row(text, rows) < 0)
			return -1;
	}
	return got;
}

int
text_table_load(struct loader *loader, enum text_syntax syntax, struct frame **out)
{
	struct text text = { .path = loader->path, .file = loader->file, .syntax = syntax };
	struct table_rows rows = { 0 };
	struct frame_head head;
	int status;

	*out = NULL;
	if (head_init(&head, 1, 1, 1, SAMPLE_FLOAT) < 0)
		return -1;
	status = read_head(&text, &head);
	rows.c = head.c;
	if (status == 0)
		status = read_rows(&text, &rows);
	if (status == 0)
		status = table_rows_frame(&rows, &head, out);
	table_rows_free(&rows);
	head_free(&head);
	free(text.line);
	return status < 0 ? -1 : 1;
}
