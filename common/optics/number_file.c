#define _GNU_SOURCE
#include "optics/number_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/byte_order_mark.h"
#include "base/fail.h"
#include "optics/number_parser.h"

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
	if (number_parser_open(parser, "") < 0 || number_parser_add(parser, "", v) < 0)
		return -1;
	for (;;) {
		number_parser_skip_blank(parser, true);
		if (*parser->at == ',')
			parser->at++;
		else if (parser->at >= parser->end)
			return 0;
		else if (!number_parser_number(parser, &v))
			return number_parser_fail(parser, "a number");
		else if (number_parser_add(parser, "", v) < 0)
			return -1;
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

/* The bytes of a file, up to some beyond `limit`, and a 0; the caller's. NULL after fail(). */
static char *
read_text(FILE *file, size_t limit, size_t *n)
{
	size_t room = 1 << 14;
	char *text = NULL, *more;

	for (*n = 0;; room *= 2) {
		more = realloc(text, room + 1);
		if (!more) {
			free(text);
			fail_memory();
			return NULL;
		}
		text = more;
		*n += fread(text + *n, 1, room - *n, file);
		if (*n < room || *n > limit)
			break;
	}
	text[*n] = '\0';
	return text;
}

int
number_file_load_syntax(const char *path, size_t limit, struct number_file *out)
{
	FILE *file = fopen(path, "rb");
	char *text;
	int status = -1;
	size_t n;

	memset(out, 0, sizeof(*out));
	if (!file)
		return fail_errno(path, "cannot open");
	text = read_text(file, limit, &n);
	if (text && ferror(file))
		fail_errno(path, "cannot read");
	else if (text && n > limit)
		fail(path, "longer than %zu MB: no calibration", limit >> 20);
	else if (text)
		status = number_file_parse(path, text, n, out);
	free(text);
	fclose(file);
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

/* An entry beside NAME.data: NAME.rows, NAME.cols, NAME.dt. */
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
