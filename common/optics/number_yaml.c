/* YAML number files: keys by indentation. */
#include "optics/number_parser.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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
	if (number_parser_number(parser, &v))
		return number_parser_add(parser, parser->open, v) < 0 ? -1 : end_of_line(parser);
	is_object = *parser->at == '{' || strcspn(parser->at, ":") < strcspn(parser->at, "\n#");
	yaml_block(parser, indent);
	return is_object ? 0 : number_parser_add(parser, parser->open, NAN);
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
			return number_parser_open(parser, name) < 0 ? -1 :
			    number_parser_add(parser, name, v);
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

int
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
