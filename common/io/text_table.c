/*
 * Reads and writes tables of numbers as text (CSV, vnlog, points as bare columns): recognises
 * separators, reads column names, reports the line of an error; and what other formats of points
 * share with it.
 */
#include "io/text_table.h"

#include <ctype.h>
#include <math.h>
#include <strings.h>

#include "base/numbers.h"
#include "base/process.h"
#include "base/text.h"
#include "frame/samples.h"
#include "io/codec.h"

enum text_syntax { TEXT_CSV, TEXT_VNL, TEXT_NUMBERS };

/* ---- what a table keeps of its file: values as float, names that differ ---- */

#define LOSS_LEAST 1e-3		/* a millimetre of a survey in metres, which a float loses */
#define LOSS_FROM 16384.0	/* from this value on */
#define DIGITS_MOST 17

/* Significant digits of a decimal number, zeros at its end left out. */
static int
count_digits(const char *text)
{
	int n = 0, most = 1;

	for (; *text && *text != 'e' && *text != 'E'; text++) {
		n += isdigit((unsigned char)*text) && (n || *text != '0');
		if (*text >= '1' && *text <= '9')
			most = n;
	}
	return most < DIGITS_MOST ? most : DIGITS_MOST;
}

/* Does v lose LOSS_LEAST or more as a float? What `text` (NULL: there is none) says in
 * fewer digits than its float has is not. */
static bool
rounds(const char *text, double v)
{
	float kept = (float)v;
	char again[64];

	if (isinf(v) || fabs((double)kept - v) < LOSS_LEAST)
		return false;
	if (!text || strpbrk(text, "xX"))
		return true;
	snprintf(again, sizeof(again), "%.*e", count_digits(text) - 1, (double)kept);
	return strtod(again, NULL) != v;	/* else other digits for the same float */
}

int
table_value(const struct table_place *place, const char *word, double v, float *to, bool *warned)
{
	char text[64];

	*to = isnan(v) ? NAN : (float)v;
	if (!(fabs(v) >= LOSS_FROM))
		return 0;
	snprintf(text, sizeof(text), "%.15g", v);
	if (isinf(*to) && (!isinf(v) || (word && strpbrk(word, "0123456789"))))
		return fail(place->path, "%s %zu: %s is larger than a float can be", place->what,
		    place->number, word ? word : text);
	if (!*warned && rounds(word, v)) {
		warn(place->path, "%s %zu: %.60s becomes %.12g: a float has about 7 digits: "
		    "subtract an offset first (said once a file)", place->what, place->number,
		    word ? word : text, (double)*to);
		*warned = true;
	}
	return 0;
}

/* ---- what other programs call channels ---- */

static const char *const foreign_names[][2] = { { "red", "r" }, { "green", "g" }, { "blue", "b" },
	{ "alpha", "a" }, { "normal_x", "nx" }, { "normal_y", "ny" }, { "normal_z", "nz" },
	{ "rf", "r" }, { "gf", "g" }, { "bf", "b" }, { "x", "x" }, { "y", "y" }, { "z", "z" },
	{ "r", "r" }, { "g", "g" }, { "b", "b" }, { "a", "a" }, { "nx", "nx" }, { "ny", "ny" },
	{ "nz", "nz" }, { "intensity", "intensity" } };

#define FOREIGN_NAMES (sizeof(foreign_names) / sizeof(*foreign_names))

void
table_channel_name(const char *foreign, bool any_case, char to[CHANNEL_NAME_SIZE])
{
	size_t n;

	for (size_t i = 0; i < FOREIGN_NAMES; i++)
		if (!(any_case ? strcasecmp : strcmp)(foreign, foreign_names[i][0])) {
			foreign = foreign_names[i][1];
			break;
		}
	n = strnlen(foreign, CHANNEL_NAME_SIZE - 1);
	memmove(to, foreign, n);
	memset(to + n, 0, CHANNEL_NAME_SIZE - n);
}

const char *
table_foreign_name(const char *channel, size_t first)
{
	for (size_t i = first; i < (first == TABLE_COLOURS ? 4 : 7); i++)
		if (!strcmp(channel, foreign_names[i][1]))
			return foreign_names[i][0];
	return *channel ? channel : "_";
}

/* Are these bytes? rounded: levels of a known white, of which no colour is black, as in meshes. */
static bool
fits_uchar(const float *v, size_t n, bool rounded)
{
	for (size_t i = 0; i < n; i++)
		if (rounded ? v[i] <= -0.5f || v[i] >= 255.5f :
		    !(v[i] >= 0.0f && v[i] <= 255.0f && v[i] == floorf(v[i])) ||
		    (v[i] == 0.0f && signbit(v[i])))
			return false;
	return true;
}

bool
table_byte_colours(const struct frame *floats, size_t colour[3])
{
	static const char *const names[] = { "r", "g", "b" };
	const char *white = meta_get(&floats->head.meta, "max_value");
	const bool rounded = white && !strcmp(white, "255");

	for (size_t i = 0; i < 3; i++) {
		colour[i] = head_channel(&floats->head, names[i]);
		for (size_t y = 0; y < floats->head.h && colour[i] != NO_CHANNEL; y++)
			if (!fits_uchar(frame_floats(floats, colour[i], y), floats->head.w,
			    rounded))
				colour[i] = NO_CHANNEL;
		if (colour[i] == NO_CHANNEL) {
			colour[0] = colour[1] = colour[2] = NO_CHANNEL;
			return false;
		}
	}
	return true;
}

int
table_has_points(const char *path, const struct frame_head *head)
{
	char seen[300];
	size_t xyz[3];

	if (!head_xyz(head, xyz))
		return fail(path, "a cloud of points needs channels x y z, not %s",
		    head_channels_hint(head, seen));
	return 0;
}

/* What no channel can be called becomes _: blanks, control characters, backslashes. */
static void
text_table_change_name(char *name)
{
	for (; *name; name++)
		if ((unsigned char)*name <= ' ' || *name == 0x7f || *name == '\\')
			*name = '_';
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int
text_table_check_names(const char *path, const struct frame_head *head)
{
	const char **name = must_alloc(head->c, sizeof(*name));
	int status = 0;

	for (size_t c = 0; c < head->c; c++)
		name[c] = head->channel[c];
	qsort(name, head->c, sizeof(*name), by_name);
	for (size_t c = 1; c < head->c && status == 0; c++)
		if (!strcmp(name[c - 1], name[c]))
			status = fail(path, "two columns have the name %s (31 bytes of it count)",
			    name[c]);
	free(name);
	return status;
}

/* Recognising tables in text by their first bytes: other text (meshes, calibrations, PNM, prose)
 * must not be taken for one. */

#define START_MOST 512		/* what codec.h says; behind them there may be more */

struct piece {			/* of the start: a line, or what there is of it */
	const char *at;
	size_t n;
	bool whole;
};

/* The next line that is not empty, without blanks around it; false where there is none. */
static bool
next_sniffed_line(struct piece *rest, struct piece *line)
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
	return !*end || ((*end == ',' || *end == ';') && !alone);
}

static const char *const point_fields[3] = { "x", "y", "z" };
static const char *const float_colours[3] = { "rf", "gf", "bf" };	/* CloudCompare's, 0 to 1 */

/* Are these, in any case, all among the fields of this line, after //, # or neither? */
static bool
has_fields(const struct piece *line, const char *const fields[3])
{
	const char *at = line->at, *end = at + line->n;
	unsigned found = 0;

	for (at += at < end && *at == '#'; at < end;) {
		size_t n = 0;

		while (at + n < end && !strchr(" \t,;/", at[n]))
			n++;
		for (size_t k = 0; k < 3; k++)
			if (n == strlen(fields[k]) && !strncasecmp(at, fields[k], n))
				found |= 1u << k;
		at += n + 1;
	}
	return found == 7;
}

/* How many numbers, and nothing else, are in a line? 0: another word is. */
static size_t
count_numbers(const struct piece *line)
{
	const char *at = line->at, *end = at + line->n;
	size_t n = 0, length;

	for (; at < end; at += length + 1) {
		char text[64], *stop;

		for (length = 0; at + length < end && !strchr(" \t,;", at[length]);)
			length++;
		if (length >= sizeof(text))
			return 0;
		memcpy(text, at, length);
		text[length] = '\0';
		strtod(text, &stop);
		if (*stop && (line->whole || at + length < end))
			return 0;
		n += stop > text;
	}
	return n;
}

/* Do these lines begin a file of points: a line of names or not, their number or not, numbers? */
static bool
are_points(const struct piece *line, struct piece *rest)
{
	struct piece row;

	if (has_fields(line, point_fields))
		return next_sniffed_line(rest, &row) ? count_numbers(&row) > 0 : *line->at == '/';
	return count_numbers(line) >= 3 || (count_numbers(line) == 1 && line->whole &&
	    next_sniffed_line(rest, &row) &&
	    (has_fields(&row, point_fields) || count_numbers(&row) >= 3));
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
	bool comma = memchr(names->at, ',', names->n) || memchr(names->at, ';', names->n);
	struct piece row;

	if (count_numbers(names) >= 3 || (*names->at == 'X' && has_fields(names, point_fields)))
		return false;		/* points as columns */
	if (strchr("{[</%", *names->at) ||
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
		if (!next_sniffed_line(rest, &row))
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
text_table_sniff(enum text_syntax syntax, const unsigned char *start, size_t n)
{
	const size_t mark = byte_order_mark(start, n);
	struct piece rest = { (const char *)start + mark, n - mark, false }, line;
	bool legend = false;

	for (size_t i = 0; i < n; i++)
		if (start[i] == 0x7f || (start[i] < ' ' && !memchr("\t\r\n", start[i], 3)))
			return false;
	if (syntax == TEXT_NUMBERS)
		return next_sniffed_line(&rest, &line) && are_points(&line, &rest);
	if (rest.n >= 6 && !memcmp(rest.at, "# .PCD", 6))
		return false;
	while (next_sniffed_line(&rest, &line)) {
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

#define LINE_MOST (4u << 20)	/* bytes: 65536 columns of numbers take less than 1 MiB */

struct table_text {
	const char *path;
	FILE *file;
	enum text_syntax syntax;
	char *line;		/* without its end, and a 0 behind it */
	size_t room, number;	/* its number, from 1 */
	char separator;		/* of fields; ' ': blanks and tabs */
	bool warned;		/* about a value that a float rounds */
	/* of points as columns */
	bool named;		/* a line names them */
	bool comment;		/* a comment, which may be about something else */
	size_t counted;		/* number of the line with the number of points; 0: none */
	long points;		/* that it announces */
	size_t unnamed;		/* columns, of which only the first three have a name; 0: none */
};

/* ---- lines ---- */

/* The next line, ended by \n, \r \n, \r or the end of the file: 1; 0 where there is none; -1. */
static int
next_line(struct table_text *text)
{
	size_t n = 0;
	int byte;

	text->number++;
	for (;;) {
		if (n == LINE_MOST)
			return fail(text->path, "line %zu is longer than %u bytes", text->number,
			    LINE_MOST);
		if (n == text->room) {
			text->room = n ? 2 * n : 256;
			text->line = must_resize(text->line, text->room, 1);
		}
		byte = getc_unlocked(text->file);
		if (byte == EOF || byte == '\n' || byte == '\r')
			break;
		if (byte == '\0')
			return fail(text->path, "line %zu has a byte 0: it is no text",
			    text->number);
		text->line[n++] = (char)byte;
	}
	text->line[n] = '\0';
	if (ferror(text->file))
		return fail_errno(text->path, "cannot be read");
	if (byte == '\r') {
		byte = getc_unlocked(text->file);
		if (byte != '\n' && byte != EOF)
			ungetc(byte, text->file);
		return 1;
	}
	return byte != EOF || n > 0;
}

static char *
skip_blanks(char *p)
{
	return p + strspn(p, " \t");
}

/* ---- fields ---- */

struct field {
	char *text;
	bool quoted;
};

/* "text", in which "" is a quote, at *at, which moves behind it. */
static int
take_quoted(const struct table_text *text, char **at, struct field *field)
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
	if (**at && **at != text->separator)
		return fail(text->path, "line %zu: '%.30s' stands behind a quoted field",
		    text->number, *at);
	return 0;
}

/*
 * The next field at *at, which moves behind it and becomes NULL behind the last one. 1; 0 where
 * there is none; -1 after fail().
 */
static int
next_field(const struct table_text *text, char **at, struct field *field)
{
	char *end;

	if (!*at)
		return 0;
	*at = skip_blanks(*at);
	*field = (struct field){ *at, false };
	if (text->separator == ' ') {
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
	end = *at + strcspn(*at, (char[2]){ text->separator });
	*at = *end ? end + 1 : NULL;
	while (end > field->text && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = '\0';
	return 1;
}

/* Rounded once, so that a printed float is the same float again. */
static int
parse_value(struct table_text *text, const char *field, float *out)
{
	const struct table_place place = { text->path, "line", text->number };
	char *end;
	float kept;

	*out = NAN;
	if ((!*field && text->syntax != TEXT_VNL) || (!strcmp(field, "-") &&
	    text->syntax == TEXT_VNL))
		return 0;
	*out = strtof(field, &end);
	if (end == field || *end)
		return fail(text->path, "line %zu: wanted a number, not '%.60s'%s", text->number,
		    field, *end == ',' || (text->separator == ',' && *end == ' ' && end > field) ?
		    ": numbers have a point, not a comma" : "");
	if (isnan(*out))
		*out = NAN;
	return fabs((double)*out) >= LOSS_FROM ? table_value(&place, field, strtod(field, NULL),
	    &kept, &text->warned) : 0;
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

/* The names at `at` become the channels. */
static int
take_names(struct table_text *text, char *at, struct frame_head *head)
{
	bool names = false;
	struct field field;
	char *copy, *next;
	size_t n = 0;
	double v;
	int got;

	if (text->syntax == TEXT_CSV && !strchr(at, ',') && strchr(at, ';'))
		text->separator = ';';
	copy = next = must_strdup(text->line);
	while ((got = next_field(text, &next, &field)) > 0)
		n++;
	free(copy);
	if (got < 0)
		return -1;
	if (n > 65536)
		return fail(text->path, "line %zu names %zu columns, a frame has 65536 channels "
		    "at most", text->number, n);
	if (head_set_count(head, n) < 0)
		return -1;
	for (size_t c = 0; next_field(text, &at, &field) > 0; c++) {
		if (n == 1 && text->syntax == TEXT_CSV && !field.quoted && strchr(field.text, '\t'))
			return fail(text->path, "line %zu: columns are separated by commas, not "
			    "tabs", text->number);
		names |= field.quoted || (*field.text && number_parse(field.text, &v) < 0);
		make_name(field.text, c, head->channel[c]);
		if (text->syntax == TEXT_NUMBERS)
			table_channel_name(head->channel[c], true, head->channel[c]);
	}
	if (names || text->syntax == TEXT_VNL)
		return text_table_check_names(text->path, head);
	return fail(text->path, "line %zu: wanted the names of the columns, found only numbers",
	    text->number);
}

/* ---- points as columns of numbers ---- */

/* The names of n columns that no line names; NULL: there are none. counted: a first line has the
 * number of points, as in PTS. */
static const char *
usual_names(const char *path, size_t n, bool counted)
{
	const char *dot = strrchr(path, '.'), *suffix = dot ? dot : "";

	return n == 3 ? "x y z" :
	    n == 4 && counted ? "x y z intensity" :
	    n == 7 && counted ? "x y z intensity r g b" :
	    n == 6 && !strcasecmp(suffix, ".xyzn") ? "x y z nx ny nz" :
	    n == 6 && (counted || !strcasecmp(suffix, ".xyzrgb")) ? "x y z r g b" : NULL;
}

/* Chooses what separates the fields of this line and of the next ones. */
static void
choose_separator(struct table_text *text, const char *line)
{
	text->separator = strchr(line, ';') ? ';' : strchr(line, ',') ? ',' : ' ';
}

/* Names the columns that the first row of numbers has; *counted: it is the number of points alone.
 */
static int
name_columns(struct table_text *text, struct frame_head *head, bool *counted)
{
	char *copy = must_strdup(text->line), *next = copy;
	const char *names;
	struct field field;
	size_t n = 0;

	while (next_field(text, &next, &field) > 0)
		n++;
	*counted = n == 1 && !text->counted && integer_parse(copy, &text->points) == 0 &&
	    text->points >= 0;
	free(copy);
	if (*counted || (text->named && (!text->comment || n == head->c)))
		return 0;
	if (n < 3 || n > 65536)
		return fail(text->path, "line %zu has %zu column%s: points have x y z at least",
		    text->number, n, n == 1 ? "" : "s");
	names = usual_names(text->path, n, text->counted > 0);
	if (names)
		return head_set_channels(head, names);
	if (head_set_count(head, n) < 0)
		return -1;
	for (size_t c = 0; c < n; c++)
		make_name(c < 3 ? (char[2]){ "xyz"[c] } : "", c, head->channel[c]);
	text->unnamed = n;
	return 0;
}

/* Reads lines until the columns are known: text->line is the first row. 0: there is none. */
static int
read_columns(struct table_text *text, struct frame_head *head)
{
	int got;

	while ((got = next_line(text)) > 0) {
		char *line = text->line;
		struct piece piece;
		bool counted;

		line += text->number == 1 ? byte_order_mark(line, strlen(line)) : 0;
		line = skip_blanks(line);
		piece = (struct piece){ line, strlen(line), true };
		if (has_fields(&piece, point_fields) && (!text->named || text->comment)) {
			if (has_fields(&piece, float_colours))
				meta_set(&head->meta, "max_value", "1");
			text->comment = *line == '#';
			line += strspn(line, "/#");
			choose_separator(text, line);
			text->named = true;
			memmove(text->line, line, strlen(line) + 1);
			if (take_names(text, text->line, head) < 0)
				return -1;
			continue;
		}
		if (!*line || *line == '#' || !strncmp(line, "//", 2))
			continue;
		memmove(text->line, line, strlen(line) + 1);
		choose_separator(text, text->line);
		if (name_columns(text, head, &counted) < 0)
			return -1;
		if (!counted)
			return 1;
		text->counted = text->number;
	}
	if (got == 0 && !text->named && !text->counted)
		return fail(text->path, "ends before the first point");
	return got < 0 || text->named ? got : head_set_channels(head, "x y z");
}

/* There are as many points as a line has announced. */
static int
check_count(const struct table_text *text, size_t n)
{
	if (text->counted && n != (size_t)text->points)
		return fail(text->path, n < (size_t)text->points ? "ends too early, after %zu of "
		    "%ld points that line %zu announces" : "has %zu points, not %ld, which line "
		    "%zu announces", n, text->points, text->counted);
	return 0;
}

/* Reads lines until the names are known. */
static int
read_head(struct table_text *text, struct frame_head *head)
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
			line += strspn(line, "#");
			line += *line == ' ';
			/* comments without key:=value are passed over */
			if (!head_line_is_of_table(line) &&
			    head_from_text(head, line, strlen(line)) < 0)
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
take_row(struct table_text *text, struct table_rows *rows)
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
		return fail(text->path, "line %zu: %zu value%s in a table of %zu column%s",
		    text->number, n, n == 1 ? "" : "s", rows->c, rows->c == 1 ? "" : "s");
	return got;
}

static int
read_rows(struct table_text *text, struct table_rows *rows)
{
	int got = text->syntax == TEXT_NUMBERS ? 1 : next_line(text);	/* or it is read */

	for (; got > 0; got = next_line(text)) {
		if (text->syntax == TEXT_VNL)
			text->line[strcspn(text->line, "#")] = '\0';
		if (strchr("#", *skip_blanks(text->line)))	/* or at its end */
			continue;
		if (take_row(text, rows) < 0)
			return -1;
	}
	return got;
}

/* A field or a row that is not right is an error that names the line. */
static int
text_table_load(struct loader *loader, enum text_syntax syntax, struct frame **out)
{
	struct table_text text = { .path = loader->path, .file = loader->file, .syntax = syntax,
		.separator = syntax == TEXT_CSV ? ',' : ' ' };
	const struct codec *named = codec_by_suffix(loader->path);
	struct table_rows rows = { 0 };
	struct frame_head head;
	int status;

	/* in points as columns, which look like it, any first comment may stand */
	if (syntax == TEXT_VNL && named && !strcmp(named->name, "XYZ"))
		text.syntax = syntax = TEXT_NUMBERS;
	*out = NULL;
	head_init(&head, 1, 1, 1, SAMPLE_FLOAT);
	status = syntax == TEXT_NUMBERS ? read_columns(&text, &head) : read_head(&text, &head);
	rows.c = head.c;
	if (status > 0 || (status == 0 && syntax != TEXT_NUMBERS))
		status = read_rows(&text, &rows);
	if (status == 0)
		status = check_count(&text, rows.n);
	if (status == 0 && text.unnamed)
		warn(text.path, "columns 4 to %zu have no names: a first line such as "
		    "//X,Y,Z,R,G,B tells them", text.unnamed);
	if (status == 0)
		status = table_rows_frame(&rows, &head, out);
	table_rows_free(&rows);
	head_free(&head);
	free(text.line);
	return status < 0 ? -1 : 1;
}

/* Quoted where the reader would take it for something else. */
static void
write_csv_name(FILE *file, const char *name)
{
	double v;

	if (*name && !strpbrk(name, ",;\"#") && number_parse(name, &v) < 0 &&
	    !byte_order_mark(name, strlen(name))) {
		fputs(name, file);
		return;
	}
	putc('"', file);
	for (; *name; name++) {
		if (*name == '"')
			putc('"', file);
		putc(*name, file);
	}
	putc('"', file);
}

/* The line of names, all of which differ as they are written. */
static int
write_names(const char *path, FILE *file, enum text_syntax syntax, const struct frame_head *head)
{
	struct frame_head written;
	int status;

	head_copy(&written, head);
	for (size_t c = 0; c < head->c; c++) {	/* as the reader will have them */
		char *name = written.channel[c];

		if (!*name && syntax != TEXT_CSV)
			strcpy(name, "_");
		text_table_change_name(name);
		if (syntax == TEXT_NUMBERS)
			table_channel_name(name, true, name);
		for (; *name && syntax != TEXT_CSV; name++)
			if (*name == '#' || (syntax == TEXT_NUMBERS && strchr(",;", *name)))
				*name = '_';
	}
	status = text_table_check_names(path, &written);
	for (size_t c = 0; c < head->c && status == 0; c++) {
		if (syntax == TEXT_CSV) {
			if (c)
				putc(',', file);
			write_csv_name(file, written.channel[c]);
		} else {
			fputs(c ? " " : syntax == TEXT_VNL ? "# " : "//", file);
			fputs(written.channel[c], file);
		}
	}
	putc('\n', file);
	head_free(&written);
	return status;
}

/* The first lines of points as columns: the names, unless they are the usual ones; of PTS, the
 * number of points. */
static int
begin_columns(const char *path, FILE *file, const struct frame_head *head, size_t points)
{
	const char *dot = strrchr(path, '.');
	const bool counted = dot && !strcasecmp(dot, ".pts");
	const char *names = usual_names(path, head->c, counted);
	char word[CHANNEL_NAME_SIZE];
	bool usual = names != NULL, xyz = head->c >= 3;

	for (size_t c = 0; c < head->c; c++) {
		xyz &= c >= 3 || (head->channel[c][0] == "xyz"[c] && !head->channel[c][1]);
		usual = usual && meta_word(names, c, word, sizeof(word)) &&
		    !strcmp(word, head->channel[c]);
	}
	if (!xyz || (counted && !usual))
		return fail(path, counted ? "PTS holds x y z, intensity and r g b, in this order: "
		    "framecat --channels chooses (.asc holds others, too)" :
		    "the first channels are not x y z: framecat --channels chooses");
	if (counted)
		fprintf(file, "%zu\n", points);
	return (usual && points) || counted ? 0 : write_names(path, file, TEXT_NUMBERS, head);
}

static int
text_table_save(struct saver *saver, enum text_syntax syntax, const struct frame *frame)
{
	static const char *const formats[] = { "CSV", "vnlog", "a file of points" };
	FILE *file = saver->file;
	size_t points;

	if (!head_is_table(&frame->head))
		return fail(saver->path, "%s holds tables, not an image of %zu x %zu: framecat "
		    "--points makes a table of it", formats[syntax], frame->head.w,
		    frame->head.h);
	if (head_points(&frame->head, &points) < 0)
		return -1;
	if (syntax != TEXT_NUMBERS)
		head_put_comments(file, syntax == TEXT_CSV ? "#" : "##", &frame->head, SIZE_MAX,
		    true);
	if ((syntax == TEXT_NUMBERS ? begin_columns(saver->path, file, &frame->head, points) :
	    write_names(saver->path, file, syntax, &frame->head)) < 0)
		return -1;
	for (size_t i = 0; i < points; i++) {
		for (size_t c = 0; c < frame->head.c; c++) {
			const float v = frame_sample(frame, c, 0, i);

			if (c)
				putc(syntax == TEXT_CSV ? ',' : ' ', file);
			if (isnan(v))
				fputs(syntax == TEXT_VNL ? "-" : "nan", file);
			else
				fprintf(file, "%.9g", v);
		}
		putc('\n', file);
	}
	return ferror(file) ? fail_errno(saver->path, "cannot be written") : 0;
}

#define TEXT_TABLE_CODEC(of, syntax, title, ends) \
static bool \
sniff_##of(const unsigned char *start, size_t n) \
{ \
	return text_table_sniff(syntax, start, n); \
} \
static int \
load_##of(struct loader *loader, struct frame **out) \
{ \
	return text_table_load(loader, syntax, out); \
} \
static int \
save_##of(struct saver *saver, const struct frame *frame) \
{ \
	return text_table_save(saver, syntax, frame); \
} \
const struct codec codec_##of = { .name = title, .suffixes = ends, .tables = true, \
	.by_suffix = true, .sniff = sniff_##of, .load = load_##of, .save = save_##of };

TEXT_TABLE_CODEC(csv, TEXT_CSV, "CSV", "csv")
TEXT_TABLE_CODEC(vnl, TEXT_VNL, "vnlog", "vnl")
TEXT_TABLE_CODEC(xyz, TEXT_NUMBERS, "XYZ", "xyz asc pts xyzn xyzrgb")
