#define _GNU_SOURCE
#include "optics/number_edit.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/byte_order_mark.h"
#include "base/fail.h"
#include "io/safe_file.h"
#include "optics/camera_model.h"
#include "optics/number_file.h"

#define FILE_LIMIT ((size_t)1 << 20)

struct editing {
	const char *path, *text, *end;
	const char *start;		/* behind blanks and comments */
	const struct number_edit *edit;
	size_t edits;
	char *out;			/* where the next byte goes: there is room for all */
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
	memcpy(editing->out, from, (size_t)(to - from));
	editing->out += to - from;
}

static void
put_text(struct editing *editing, const char *text)
{
	put(editing, text, text + strlen(text));
}

/* Bytes of an entry at most: brackets, and 12 digits with sign, point, exponent and separator. */
static size_t
room_of(const struct number_edit *edit)
{
	return 2 * strlen(edit->name) + 16 + 24 * edit->n;
}

static void
put_numbers(struct editing *editing, const struct number_edit *edit, const char *between)
{
	for (size_t i = 0; i < edit->n; i++) {
		char number[32];

		snprintf(number, sizeof(number), "%.12g", edit->v[i]);
		put_text(editing, i ? between : "");
		put_text(editing, number);
	}
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
		put_text(editing, "\n");
	for (size_t i = 0; i < editing->edits; i++) {
		put_text(editing, editing->edit[i].name);
		put_text(editing, ": [ ");
		put_numbers(editing, &editing->edit[i], ", ");
		put_text(editing, " ]\n");
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
		put_text(editing, "<");
		put_text(editing, editing->edit[i].name);
		put_text(editing, ">");
		put_numbers(editing, &editing->edit[i], " ");
		put_text(editing, "</");
		put_text(editing, editing->edit[i].name);
		put_text(editing, ">\n");
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
	const char *at = json_blank(open, end), *behind = open;
	bool first = true;

	put(editing, editing->text, open);
	while (at < end && *at != '}') {
		const char *key = at + (*at == '"' || *at == '\''), *past = json_member(at, end);

		if (past == at) {		/* a comma of no member */
			at = json_blank(at + 1, end);
			continue;
		}
		if (!is_edited(editing, key, strcspn(key, "\"':, \t\r\n"))) {
			put_text(editing, first ? "" : ",");
			put(editing, behind, past);
			first = false;
		}
		at = json_blank(past, end);
		if (at < end && *at == ',')
			at++;
		behind = at;
		at = json_blank(at, end);
	}
	for (size_t i = 0; i < editing->edits; i++, first = false) {
		put_text(editing, first ? "\n  \"" : ",\n  \"");
		put_text(editing, editing->edit[i].name);
		put_text(editing, "\": [");
		put_numbers(editing, &editing->edit[i], ", ");
		put_text(editing, "]");
	}
	put_text(editing, "\n");
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
	size_t room = n + 8;		/* a comma per member takes the place of that before it */

	*out = NULL;
	if (*start && strchr("+-.0123456789", *start) && strncmp(start, "---", 3) != 0)
		return fail(path, "is a list of numbers without names: %s has no place there",
		    edit[0].name);
	for (size_t i = 0; i < edits; i++)
		room += room_of(&edit[i]);
	editing.out = *out = malloc(room);
	if (!*out)
		return fail_memory();
	(*start == '<' ? edit_xml : *start == '{' ? edit_json : edit_yaml)(&editing);
	*editing.out = '\0';
	if (check(&editing, *out, (size_t)(editing.out - *out)) == 0)
		return 0;
	free(*out);
	*out = NULL;
	return -1;
}

/* A file's text, with a 0 behind it; NULL after fail(). */
static char *
read_text(const char *path, size_t *n)
{
	FILE *file = fopen(path, "rb");
	char *text = file ? malloc(FILE_LIMIT + 2) : NULL;

	if (!file || !text) {
		if (!file)
			fail_errno(path, "cannot open");
		else
			fail_memory();
		if (file)
			fclose(file);
		return NULL;
	}
	*n = fread(text, 1, FILE_LIMIT + 1, file);
	text[*n] = '\0';
	if (ferror(file))
		fail_errno(path, "cannot read");
	else if (*n > FILE_LIMIT)
		fail(path, "longer than 1 MB: no calibration");
	if (ferror(file) || *n > FILE_LIMIT) {
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

int
number_edit_file(const char *from, const char *to, const struct number_edit *edit, size_t edits)
{
	struct safe_file *place;
	char *text, *edited = NULL;
	size_t n;
	FILE *out;
	bool written;

	if (camera_model_is_named(from) || camera_model_is_named(to))
		return fail(camera_model_is_named(from) ? from : to, "is a camera model of mrcal, "
		    "which has no place for more: give a file that fringecal -o writes");
	text = read_text(from, &n);
	if (!text || number_edit_text(from, text, n, edit, edits, &edited) < 0) {
		free(text);
		return -1;
	}
	free(text);
	out = safe_file_open(to, &place);
	if (!out) {
		free(edited);
		return -1;
	}
	written = fputs(edited, out) >= 0;
	free(edited);
	if (!written)
		fail_errno(to, "cannot write");
	return safe_file_close(out, to, place, written) < 0 || !written ? -1 : 0;
}
