/* Recognising tables in text by their first bytes: other text (meshes, calibrations, PNM, prose)
 * must not be taken for one. */
#define _GNU_SOURCE
#include "io/text_table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/byte_order_mark.h"

#define START_MOST 512		/* what codec.h says; behind them there may be more */

struct piece {			/* of the start: a line, or what there is of it */
	const char *at;
	size_t n;
	bool whole;
};

/* The next line that is not empty, without blanks around it; false where there is none. */
static bool
next_line(struct piece *rest, struct piece *line)
{
	while (rest->n) {
		size_t n = 0;
		bool ends;

		while (n < rest->n && rest->at[n] != '\n' && rest->at[n] != '\r')
			n++;
		ends = n < rest->n;
		*line = (struct piece){ rest->at, n, ends };
		rest->at += n + ends;
		rest->n -= n + ends;
		for (; line->n && isspace((unsigned char)*line->at); line->n--)
			line->at++;
		while (line->whole && line->n && isspace((unsigned char)line->at[line->n - 1]))
			line->n--;
		if (line->n)
			return true;
	}
	return false;
}

/* Is the first field a number? Where the line is cut, the number's start will do. */
static bool
starts_with_number(const struct piece *line, enum text_syntax syntax, bool alone)
{
	char text[64], *end;
	size_t n = line->n < sizeof(text) - 1 ? line->n : sizeof(text) - 1;

	memcpy(text, line->at, n);
	text[n] = '\0';
	strtod(text, &end);
	if (end == text)
		return false;
	if (syntax == TEXT_VNL)
		return strchr(" \t#", *end) != NULL;	/* or at its end */
	end += strspn(end, " \t");
	return !*end || (*end == ',' && !alone);
}

/* key:=, behind the mark of a comment? */
static bool
is_key_line(const struct piece *line, const char *mark)
{
	size_t n = strlen(mark), key = 0;

	if (line->n <= n || strncmp(line->at, mark, n) || line->at[n] == '#')
		return false;
	n += line->at[n] == ' ';
	while (n + key < line->n && !isspace((unsigned char)line->at[n + key]) &&
	    line->at[n + key] != ':')
		key++;
	return key && n + key + 1 < line->n && line->at[n + key] == ':' &&
	    line->at[n + key + 1] == '=';
}

/* Names with commas between them, or one word, and behind it a row that begins with a number. */
static bool
is_csv(const struct piece *names, struct piece *rest, bool cut)
{
	bool comma = memchr(names->at, ',', names->n) != NULL;
	struct piece row;

	if (strchr("{[<%", *names->at) ||
	    (*names->at == 'P' && names->n == 2 && isdigit((unsigned char)names->at[1])))
		return false;
	if (!comma)
		for (size_t i = 0; i < names->n; i++)
			if (isspace((unsigned char)names->at[i]))
				return false;
	if (starts_with_number(names, TEXT_CSV, true))	/* a row of vnlog with one column */
		return false;
	if (!names->whole)
		return comma && cut;
	do
		if (!next_line(rest, &row))
			return false;
	while (*row.at == '#');
	/* the header of a PFM file that ends within its second line */
	if (!row.whole && names->n == 2 &&
	    (!memcmp(names->at, "PF", 2) || !memcmp(names->at, "Pf", 2)))
		return false;
	if (comma && (*row.at == ',' || *row.at == '"'))
		return true;
	return starts_with_number(&row, TEXT_CSV, !comma);
}

static bool
is_text(const unsigned char *start, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (start[i] == 0x7f || (start[i] < ' ' && start[i] != '\t' && start[i] != '\r' &&
		    start[i] != '\n'))
			return false;
	return true;
}

/* Do its lines look like a table's? */
static bool
is_table(enum text_syntax syntax, const unsigned char *start, size_t n)
{
	const size_t mark = byte_order_mark(start, n);
	struct piece rest = { (const char *)start + mark, n - mark, false }, line;
	bool legend = false;

	while (next_line(&rest, &line)) {
		if (*line.at != '#') {
			if (syntax == TEXT_CSV)
				return is_csv(&line, &rest, n >= START_MOST);
			return legend && (starts_with_number(&line, TEXT_VNL, false) ||
			    (*line.at == '-' && (line.n == 1 || line.at[1] == ' ')));
		}
		if (is_key_line(&line, syntax == TEXT_CSV ? "#" : "##"))
			return true;
		legend |= line.whole && line.n > 1 && line.at[1] != '#' && line.at[1] != '!';
	}
	return false;
}

bool
text_table_sniff(enum text_syntax syntax, const unsigned char *start, size_t n)
{
	return is_table(syntax, start, n) && is_text(start, n);
}
