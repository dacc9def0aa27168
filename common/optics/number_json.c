/* The values of a number file: JSON, and the same within brackets in YAML. */
#include "optics/number_parser.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

int
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
			status = number_parser_add(parser, name, v);
		else if (parser->at < parser->end && !strchr("}:", *parser->at)) {
			bool is_object = *parser->at == '{';

			parser->muted++;
			status = number_json_value(parser, name, depth + 1);
			parser->muted--;
			if (status == 0 && !is_object)
				status = number_parser_add(parser, name, NAN);
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

int
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

int
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
		return number_parser_open(parser, name) < 0 ? -1 :
		    number_parser_add(parser, name, v);
	return number_json_bare(parser, name, ",]}{[:\n");
}
