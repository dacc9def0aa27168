/* XML number files: names of elements, numbers between them. */
#include "optics/number_parser.h"

#include <ctype.h>
#include <string.h>

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
	for (; parser->at < end; number_parser_skip_blank(parser, true))
		if (!number_parser_number(parser, &v) || number_parser_add(parser, name, v) < 0)
			return -1;
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

int
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
