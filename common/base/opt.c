/*
 * Option tables: parsing them, copying values between them, printing --help and completion words,
 * and suggesting what a misspelt option was meant to be.
 */
#include "base/opt.h"

#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "base/process.h"
#include "base/text.h"

/* Limits beyond these only keep the arithmetic safe; help and messages leave them out. */
#define OPT_LOW_SAFE 1e-5		/* a least value so near to 0 means: positive */
#define OPT_HIGH_SAFE 1e9

static inline bool
opt_is_angle(const struct opt *opt)
{
	return opt->type == OPT_ANGLE || opt->type == OPT_ANGLES;
}

static inline bool
opt_has_range(const struct opt *opt)
{
	return opt->min != 0.0 || opt->max != 0.0;
}

#define NAME_MOST 40		/* letters of a name that are compared */
#define OPTIONS_MOST 128		/* names of a list of options that are compared */
#define SUGGESTED_MOST 3

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t
opt_suggest_distance(const char *a, size_t n, const char *b)
{
	size_t m = strlen(b), row[3][NAME_MOST + 1];

	if (n > NAME_MOST || m > NAME_MOST)
		return NAME_MOST;
	for (size_t j = 0; j <= m; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];

		now[0] = i;
		for (size_t j = 1; j <= m; j++) {
			now[j] = least(least(last[j], now[j - 1]) + 1,
			    last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = least(now[j], before[j - 2] + 1);
		}
	}
	return row[n % 3][m];
}

const char *
opt_suggest_word(const char *word, size_t n, const char *mark, const char *const *words, char *text,
    size_t size)
{
	size_t nearest = n / 3 < 3 ? n / 3 : 3, used = 0, found = 0;

	*text = '\0';
	for (size_t i = 0; words[i]; i++)
		if (n > 0 && !strncmp(words[i], word, n))
			nearest = 0;
		else if (nearest > 0)
			nearest = least(nearest, opt_suggest_distance(word, n, words[i]));
	for (size_t i = 0; words[i] && found < SUGGESTED_MOST; i++) {
		bool meant = (n > 0 && !strncmp(words[i], word, n)) ||
		    (nearest > 0 && opt_suggest_distance(word, n, words[i]) == nearest);

		if (!meant)
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%s%s",
		    found++ ? " or " : " (is it ", mark, words[i]);
		if (used >= size)
			break;
	}
	if (found && used + 3 <= size)
		strcpy(text + used, "?)");
	else
		*text = '\0';
	return text;
}

/*
 * For a word "--NAME" or "--NAME=VALUE": " (is it --A or --B?)" with the options of which it is the
 * beginning, else those that few changed letters make of it; "" where there is none. The list of
 * options ends with a row without name. Returns text.
 */
static const char *
opt_suggest(const char *word, const struct option *option, char *text, size_t size)
{
	const char *names[OPTIONS_MOST + 1];
	size_t n = 0;

	for (; n < OPTIONS_MOST && option[n].name; n++)
		names[n] = option[n].name;
	names[n] = NULL;
	word += strspn(word, "-");
	return opt_suggest_word(word, strcspn(word, "="), "--", names, text, size);
}

/* ---- values from one table to another, by the names of their rows ---- */

static const struct opt *
row_of_name(const struct opt *table, const char *name)
{
	for (size_t i = 0; i < opt_count(table); i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

/* Does the row have no default, and was no value given? */
static bool
is_none(const struct opt *row, const void *value)
{
	switch (row->type) {
	case OPT_FLAG:
		return false;
	case OPT_INTEGER:
		return *(const long *)value == OPT_NONE_INTEGER;
	case OPT_NUMBER:
	case OPT_ANGLE:
		return isnan(*(const double *)value);
	case OPT_NUMBERS:
	case OPT_ANGLES:
		return ((const struct numbers *)value)->n == 0;
	case OPT_WORD:
		return *(const int *)value < 0;
	case OPT_TEXT:
	case OPT_FILE:
	case OPT_FRAME:
	case OPT_STREAM:
	case OPT_PICTURE:
		return !*(const char *const *)value;
	case OPT_TEXTS:
	case OPT_FILES:
	case OPT_STREAMS:
		return ((const struct opt_list *)value)->n == 0;
	case OPT_SIZE:
		return ((const struct opt_size *)value)->w == 0;
	case OPT_STAGE:
		break;
	}
	return true;
}

static int
copy_numbers(struct numbers *to, const struct numbers *from)
{
	struct numbers copy = { from->n, reallocarray(NULL, from->n, sizeof(*copy.v)) };

	if (!copy.v)
		return fail_memory();
	memcpy(copy.v, from->v, from->n * sizeof(*copy.v));
	numbers_free(to);
	*to = copy;
	return 0;
}

static int
copy_list(struct opt_list *to, const struct opt_list *from)
{
	struct opt_list copy = { reallocarray(NULL, from->n, sizeof(*copy.v)), from->n };

	if (!copy.v)
		return fail_memory();
	memcpy(copy.v, from->v, from->n * sizeof(*copy.v));
	free(to->v);
	*to = copy;
	return 0;
}

/* Each table has its own words; a word that the other one lacks leaves the value as it is. */
static void
copy_word(const struct opt *row, int *to, const struct opt *from_row, int from)
{
	for (int i = 0; row->words[i]; i++)
		if (!strcmp(row->words[i], from_row->words[from]))
			*to = i;
}

static int
copy_value(const struct opt *row, void *to, const struct opt *from_row, const void *from)
{
	switch (row->type) {
	case OPT_FLAG:
		*(bool *)to = *(const bool *)from;
		return 0;
	case OPT_INTEGER:
		*(long *)to = *(const long *)from;
		return 0;
	case OPT_NUMBER:
	case OPT_ANGLE:
		*(double *)to = *(const double *)from;
		return 0;
	case OPT_NUMBERS:
	case OPT_ANGLES:
		return copy_numbers(to, from);
	case OPT_WORD:
		copy_word(row, to, from_row, *(const int *)from);
		return 0;
	case OPT_TEXT:
	case OPT_FILE:
	case OPT_FRAME:
	case OPT_STREAM:
	case OPT_PICTURE:
		*(const char **)to = *(const char *const *)from;
		return 0;
	case OPT_TEXTS:
	case OPT_FILES:
	case OPT_STREAMS:
		return copy_list(to, from);
	case OPT_SIZE:
		*(struct opt_size *)to = *(const struct opt_size *)from;
		return 0;
	case OPT_STAGE:
		break;
	}
	return 0;
}

int
opt_copy(const struct opt *table, void *parameters, const struct opt *from,
    const void *from_parameters)
{
	for (size_t i = 0; i < opt_count(table); i++) {
		const struct opt *row = &table[i], *other = row_of_name(from, row->name);
		const void *value;

		if (!other || other->type != row->type)
			continue;
		value = (const char *)from_parameters + other->offset;
		if (!is_none(other, value) &&
		    copy_value(row, (char *)parameters + row->offset, other, value) < 0)
			return -1;
	}
	return 0;
}

/* ---- --help and the completion words ---- */

/* "2 to 4096", "at least 0", "more than 0", or "" where there is no limit to name. */
static const char *
opt_range_text(const struct opt *opt, char text[80])
{
	char low[32], high[32];
	bool positive = opt->min > 0.0 && opt->min <= OPT_LOW_SAFE;

	number_format(opt->min, low);
	number_format(opt->max, high);
	if (opt->max < OPT_HIGH_SAFE)
		snprintf(text, 80, "%s%s to %s", positive ? "more than " : "", positive ? "0" : low,
		    high);
	else if (opt->min > -OPT_HIGH_SAFE)
		snprintf(
		    text, 80, "%s %s", positive ? "more than" : "at least", positive ? "0" : low);
	else
		*text = '\0';
	return text;
}

static void
print_row(FILE *out, const struct opt *opt)
{
	char left[80], range[80], letter[8] = "    ";
	const char *unit = opt_is_angle(opt) ? "degrees" : opt->unit;

	if (opt->letter)
		snprintf(letter, sizeof(letter), "-%c, ", opt->letter);
	snprintf(left, sizeof(left), "  %s--%s%s%s", letter, opt->name, opt->value ? " " : "",
	    opt->value ? opt->value : "");
	fprintf(out, "%-26s %s", left, opt->help);
	if (opt->words) {
		fputs(":", out);
		for (size_t i = 0; opt->words[i]; i++)
			fprintf(out, " %s", opt->words[i]);
	}
	if (unit)
		fprintf(out, ", in %s", unit);
	if (opt_has_range(opt) && *opt_range_text(opt, range))
		fprintf(out, ", %s", range);
	if (opt->standard)
		fprintf(out, " [%s]", opt->standard);
	fputc('\n', out);
}

void
opt_print_help(FILE *out, const char *program, const char *operands, const char *summary,
    const struct opt *table, const struct opt *common)
{
	fprintf(out, "usage: %s [OPTION ...]%s%s\n%s\n", program, operands && *operands ? " " : "",
	    operands ? operands : "", summary);
	if (opt_count(table))
		fputs("\noptions\n", out);
	for (size_t i = 0; i < opt_count(table); i++)
		if (table[i].type != OPT_STAGE)
			print_row(out, &table[i]);
	fputs("\noptions that every tool has\n", out);
	for (size_t i = 0; i < opt_count(common); i++)
		print_row(out, &common[i]);
	fprintf(out, "\nmore: man %s\n", program);
}

static void
print_words(FILE *out, const struct opt *table)
{
	for (size_t i = 0; i < opt_count(table); i++) {
		const enum opt_type type = table[i].type;
		const bool file = type == OPT_FILE || type == OPT_FRAME || type == OPT_STREAM ||
		    type == OPT_PICTURE || type == OPT_STREAMS || type == OPT_FILES;

		if (type == OPT_STAGE)
			continue;
		if (table[i].letter)
			fprintf(out, "-%c\n", table[i].letter);
		fprintf(out, "--%s\n", table[i].name);
		for (size_t k = 0; table[i].words && table[i].words[k]; k++)
			fprintf(out, "--%s=%s\n", table[i].name, table[i].words[k]);
		if (file || type == OPT_ANGLES || type == OPT_NUMBERS ||
		    (type != OPT_FLAG && !table[i].words))
			fprintf(out, "--%s=%s\n", table[i].name, file ? "@" : "?");
	}
}

void
opt_print_words(FILE *out, const struct opt *table, const struct opt *common)
{
	print_words(out, table);
	print_words(out, common);
}

#define OPT_MOST 128		/* rows of both tables together */
#define LONG_VALUE 256 /* of the first long name in getopt_long, beyond all letters */

static void *
field(const struct opt *opt, void *parameters)
{
	return (char *)parameters + opt->offset;
}

/* "--name: what, seen TEXT" */
static int
refuse(const struct opt *opt, const char *what, const char *seen)
{
	char object[64];

	snprintf(object, sizeof(object), "--%s", opt->name);
	return fail_usage(object, "%s, not '%.60s'", what, seen);
}

static int
refuse_range(const struct opt *opt, double v, const char *seen)
{
	char what[160], range[80], high[32];
	const char *unit = opt_is_angle(opt) ? "degrees" : opt->unit ? opt->unit : "";

	if (v > opt->max && opt->max >= OPT_HIGH_SAFE)
		snprintf(range, sizeof(range), "at most %s", number_format(opt->max, high));
	else if (v < opt->min && opt->min <= -OPT_HIGH_SAFE)
		snprintf(range, sizeof(range), "at least %s", number_format(opt->min, high));
	else
		opt_range_text(opt, range);
	if (!*range)
		snprintf(range, sizeof(range), "a finite number%s", *unit ? " of" : "");
	snprintf(what, sizeof(what), "must be %s%s%s", range, *unit ? " " : "", unit);
	return refuse(opt, what, seen);
}

static bool
in_range(const struct opt *opt, double v)
{
	return !opt_has_range(opt) || (v >= opt->min && v <= opt->max);
}

static int
parse_numbers(const struct opt *opt, const char *text, struct numbers *out)
{
	struct numbers list;

	if (opt->words && !strcmp(text, opt->words[0])) {
		list = (struct numbers){ 1, malloc(sizeof(*list.v)) };
		if (!list.v)
			return fail_memory();
		list.v[0] = NAN;
		numbers_free(out);
		*out = list;
		return 0;
	}
	if (numbers_parse(text, ",", &list) < 0)
		return refuse(opt, "wants numbers separated by commas", text);
	for (size_t i = 0; i < list.n; i++) {
		if (!in_range(opt, list.v[i]) || isnan(list.v[i])) {
			double v = list.v[i];

			numbers_free(&list);
			return isnan(v) && !opt_has_range(opt) ?
			    refuse(opt, "wants numbers separated by commas", text) :
			    refuse_range(opt, v, text);
		}
		if (opt->type == OPT_ANGLES)
			list.v[i] *= M_PI / 180.0;
	}
	numbers_free(out);
	*out = list;
	return 0;
}

static int
parse_word(const struct opt *opt, const char *text, int *out)
{
	char what[256] = "must be one of", object[64], near[120];
	size_t used = strlen(what);

	for (int i = 0; opt->words[i]; i++) {
		if (!strcmp(text, opt->words[i])) {
			*out = i;
			return 0;
		}
		used += (size_t)snprintf(what + used, sizeof(what) - used, " %s", opt->words[i]);
		if (used >= sizeof(what))
			used = sizeof(what) - 1;
	}
	snprintf(object, sizeof(object), "--%s", opt->name);
	return fail_usage(object, "%s, not '%.60s'%s", what, text,
	    opt_suggest_word(text, strlen(text), "", opt->words, near, sizeof(near)));
}

static int
parse_size(const struct opt *opt, const char *text, struct opt_size *out)
{
	char *end;
	unsigned long w, h;

	if (*text < '0' || *text > '9')
		return refuse(opt, "wants a size such as 800x600", text);
	w = strtoul(text, &end, 10);
	if (*end != 'x' || end[1] < '0' || end[1] > '9')
		return refuse(opt, "wants a size such as 800x600", text);
	h = strtoul(end + 1, &end, 10);
	if (*end || w == 0 || h == 0 || w > 1000000 || h > 1000000)
		return refuse(opt, "wants a size such as 800x600", text);
	out->w = w;
	out->h = h;
	return 0;
}

static int
append(struct opt_list *list, const char *text)
{
	char **more = reallocarray(list->v, list->n + 1, sizeof(*more));

	if (!more)
		return fail_memory();
	list->v = more;
	more[list->n++] = (char *)text;	/* a word of argv */
	return 0;
}

/* A row of type OPT_STAGE with a value (NULL: none) that it does not hand on. */
static int
refuse_stage_option(const struct opt *opt, const char *text)
{
	char object[64];

	snprintf(object, sizeof(object), "--%s", opt->name);
	return *opt->standard ? fail_usage(object, "must be %s, not '%.60s'", opt->standard, text) :
	    fail_usage(object, "is for %s", opt->help);
}

static int
parse_value(const struct opt *opt, const char *text, void *parameters)
{
	void *to = field(opt, parameters);
	double v;

	switch (opt->type) {
	case OPT_FLAG:
		*(bool *)to = true;
		return 0;
	case OPT_INTEGER:
		if (integer_parse(text, to) < 0)
			return refuse(opt, "wants a whole number", text);
		return in_range(opt, (double)*(long *)to) ? 0 :
		    refuse_range(opt, (double)*(long *)to, text);
	case OPT_NUMBER:
	case OPT_ANGLE:
		if (ratio_parse(text, &v) < 0 || isnan(v))
			return refuse(opt, "wants a number", text);
		if (!in_range(opt, v))
			return refuse_range(opt, v, text);
		*(double *)to = opt_is_angle(opt) ? v * M_PI / 180.0 : v;
		return 0;
	case OPT_NUMBERS:
	case OPT_ANGLES:
		return parse_numbers(opt, text, to);
	case OPT_WORD:
		return parse_word(opt, text, to);
	case OPT_TEXT:
	case OPT_FILE:
	case OPT_FRAME:
	case OPT_STREAM:
	case OPT_PICTURE:
		*(const char **)to = text;
		return 0;
	case OPT_TEXTS:
	case OPT_FILES:
	case OPT_STREAMS:
		return append(to, text);
	case OPT_SIZE:
		return parse_size(opt, text, to);
	case OPT_STAGE:
		return refuse_stage_option(opt, text);
	}
	return 0;
}

static void
set_none(const struct opt *opt, void *parameters)
{
	void *to = field(opt, parameters);

	switch (opt->type) {
	case OPT_FLAG:
		*(bool *)to = false;
		break;
	case OPT_INTEGER:
		*(long *)to = OPT_NONE_INTEGER;
		break;
	case OPT_NUMBER:
	case OPT_ANGLE:
		*(double *)to = NAN;
		break;
	case OPT_NUMBERS:
	case OPT_ANGLES:
		*(struct numbers *)to = (struct numbers){ 0 };
		break;
	case OPT_WORD:
		*(int *)to = -1;
		break;
	case OPT_TEXT:
	case OPT_FILE:
	case OPT_FRAME:
	case OPT_STREAM:
	case OPT_PICTURE:
		*(const char **)to = NULL;
		break;
	case OPT_TEXTS:
	case OPT_FILES:
	case OPT_STREAMS:
		*(struct opt_list *)to = (struct opt_list){ 0 };
		break;
	case OPT_SIZE:
		*(struct opt_size *)to = (struct opt_size){ 0 };
		break;
	case OPT_STAGE:
		break;
	}
}

int
opt_defaults(const struct opt *table, void *parameters)
{
	for (size_t i = 0; i < opt_count(table); i++) {
		set_none(&table[i], parameters);
		if (table[i].standard && table[i].type != OPT_FLAG && table[i].type != OPT_STAGE &&
		    parse_value(&table[i], table[i].standard, parameters) < 0)
			return -1;
	}
	return 0;
}

void
opt_free(const struct opt *table, void *parameters)
{
	for (size_t i = 0; i < opt_count(table); i++) {
		if (table[i].type == OPT_NUMBERS || table[i].type == OPT_ANGLES)
			numbers_free(field(&table[i], parameters));
		if (table[i].type == OPT_STREAMS || table[i].type == OPT_FILES ||
		    table[i].type == OPT_TEXTS)
			free(((struct opt_list *)field(&table[i], parameters))->v);
	}
}

struct long_options {
	struct option option[OPT_MOST + 1];
	char letters[2 * OPT_MOST + 4];
	size_t n, used;
};

static const struct opt *
row_of(const struct opt *table, int letter, const char *name)
{
	for (const struct opt *row = table; row && row->name; row++)
		if (name ? !strcmp(row->name, name) : row->letter == letter)
			return row;
	return NULL;
}

/* The row of type OPT_STAGE by which option `name` with this value (NULL: none) is another
 * stage's. */
static const struct opt *
stage_row(const struct opt *table, const char *name, const char *value)
{
	for (const struct opt *row = table; row->name; row++)
		if (row->type == OPT_STAGE && !strcmp(row->name, name) &&
		    (!row->standard || (value && !strcmp(row->standard, value))))
			return row;
	return NULL;
}

static bool
takes_value(const struct opt *opt)
{
	return opt->type == OPT_STAGE ? opt->value != NULL : opt->type != OPT_FLAG;
}

static void
add_rows(struct long_options *all, const struct opt *table)
{
	for (size_t i = 0, rows = opt_count(table); i < rows && all->n < OPT_MOST; i++) {
		if (table[i].type == OPT_STAGE && row_of(table, 0, table[i].name) != &table[i])
			continue;	/* another value of an option */
		/* each its own value: getopt_long takes options of equal values, and their
		 * abbreviations, for one option */
		int value = LONG_VALUE + (int)all->n;

		all->option[all->n++] = (struct option){ table[i].name,
		    takes_value(&table[i]) ? required_argument : no_argument, NULL, value };
		if (table[i].letter) {
			all->letters[all->used++] = table[i].letter;
			if (takes_value(&table[i]))
				all->letters[all->used++] = ':';
		}
	}
}

/* optopt: the letter, else 0 or the value of a long option, which `word` is then. */
static int
refuse_word(int answer, const char *word, const struct option *option)
{
	char near[200];
	char object[4] = { '-', (char)optopt, '\0' };
	bool is_long = optopt == 0 || optopt >= LONG_VALUE;

	if (answer == ':')
		return fail_usage(is_long ? word : object, "wants a value");
	if (!is_long)
		return fail_usage(object, "unknown option, see --help");
	if (optopt)
		return fail_usage(word, "takes no value");
	return fail_usage(word, "unknown or ambiguous option%s, see --help",
	    opt_suggest(word, option, near, sizeof(near)));
}

int
opt_parse(const struct opt *table, void *parameters, const struct opt *common,
    void *common_parameters, int argc, char **argv, int *first_operand)
{
	struct long_options all = { .letters = ":", .used = 1 };

	if (!table) {
		all.letters[0] = '+';
		all.letters[all.used++] = ':';
	}
	add_rows(&all, table);
	add_rows(&all, common);
	optind = 0;
	opterr = 0;
	for (;;) {
		int index = -1, at = optind ? optind : 1;
		int answer = getopt_long(argc, argv, all.letters, all.option, &index);
		const char *name = index >= 0 ? all.option[index].name : NULL;
		const struct opt *row;

		if (answer == -1)
			break;
		if (answer == '?' || answer == ':') {
			/* getopt_long has moved operands: it stopped at a word before optind */
			at = optind > 1 ? optind - 1 : at;
			while (at > 1 && argv[at][0] != '-')
				at--;
			return refuse_word(answer, argv[at], all.option);
		}
		row = row_of(table, answer, name);
		/* its own old spelling, or one that a later value of the option overrides */
		if (row && stage_row(table, row->name, optarg))
			continue;
		if (row ? parse_value(row, optarg, parameters) < 0 :
		    parse_value(row_of(common, answer, name), optarg, common_parameters) < 0)
			return -1;
	}
	*first_operand = optind;
	return 0;
}

const struct opt *
opt_find_stage(const struct opt *table, const struct opt *common, int argc, char *const *argv)
{
	struct long_options all = { .letters = ":", .used = 1 };
	const struct opt *found = NULL;
	const struct opt *spelling = table;
	char **word;

	while (spelling->name && spelling->type != OPT_STAGE)
		spelling++;
	if (!spelling->name)
		return NULL;
	word = must_alloc((size_t)argc + 1, sizeof(*word));
	for (int i = 0; i < argc; i++)
		word[i] = argv[i];	/* getopt_long moves operands */
	add_rows(&all, table);
	add_rows(&all, common);
	optind = 0;
	opterr = 0;
	for (;;) {
		int index = -1;
		int answer = getopt_long(argc, word, all.letters, all.option, &index);
		const char *name = index >= 0 ? all.option[index].name : NULL;
		const struct opt *row = NULL, *stage;

		if (answer == -1)
			break;
		if (answer != '?' && answer != ':')	/* else it may be the other stage's */
			row = row_of(table, answer, name);
		stage = row ? stage_row(table, row->name, optarg) : NULL;
		if (stage || (row && found && !strcmp(found->name, row->name)))
			found = stage;		/* the last value counts */
	}
	free(word);
	return found;
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void
print_numbers(FILE *out, const struct opt *opt, const struct numbers *list)
{
	for (size_t i = 0; i < list->n; i++) {
		char text[32];

		if (opt->words && isnan(list->v[i]))
			fputs(opt->words[0], out);
		else if (opt_is_angle(opt))
			fprintf(out, "%s%.10g", i ? "," : "", list->v[i] * (180.0 / M_PI));
		else
			fprintf(out, "%s%s", i ? "," : "", number_format(list->v[i], text));
	}
}

static void
print_value(FILE *out, const struct opt *opt, const void *parameters)
{
	const void *from = (const char *)parameters + opt->offset;
	const struct opt_size *size = from;
	const struct opt_list *list = from;
	struct numbers one = { 1, NULL };
	double v;

	switch (opt->type) {
	case OPT_FLAG:
		break;
	case OPT_INTEGER:
		fprintf(out, "%ld", *(const long *)from);
		break;
	case OPT_NUMBER:
	case OPT_ANGLE:
		v = *(const double *)from;
		one.v = &v;
		print_numbers(out, opt, &one);
		break;
	case OPT_NUMBERS:
	case OPT_ANGLES:
		print_numbers(out, opt, from);
		break;
	case OPT_WORD:
		fputs(opt->words[*(const int *)from], out);
		break;
	case OPT_TEXT:
		escape_put_word(out, *(const char *const *)from);
		break;
	case OPT_FILE:
	case OPT_FRAME:
	case OPT_STREAM:
	case OPT_PICTURE:
		escape_put_word(out, base_name(*(const char *const *)from));
		break;
	case OPT_TEXTS:
	case OPT_FILES:
	case OPT_STREAMS:
		for (size_t i = 0; i < list->n; i++) {
			if (i)
				fprintf(out, " --%s=", opt->name);
			escape_put_word(out, base_name(list->v[i]));
		}
		break;
	case OPT_SIZE:
		fprintf(out, "%zux%zu", size->w, size->h);
		break;
	case OPT_STAGE:
		break;
	}
}

/* Is the field the table's default? */
static bool
is_standard(const struct opt *opt, const void *parameters, void *standard)
{
	const void *a = (const char *)parameters + opt->offset;
	const void *b = (const char *)standard + opt->offset;
	const struct numbers *p = a, *q = b;
	const struct opt_size *s = a, *t = b;

	switch (opt->type) {
	case OPT_FLAG:
		return *(const bool *)a == *(const bool *)b;
	case OPT_INTEGER:
		return *(const long *)a == *(const long *)b;
	case OPT_NUMBER:
	case OPT_ANGLE:
		return !memcmp(a, b, sizeof(double));
	case OPT_NUMBERS:
	case OPT_ANGLES:
		return p->n == q->n && (p->n == 0 || !memcmp(p->v, q->v, p->n * sizeof(*p->v)));
	case OPT_WORD:
		return *(const int *)a == *(const int *)b;
	case OPT_TEXT:
	case OPT_FILE:
	case OPT_FRAME:
	case OPT_STREAM:
	case OPT_PICTURE:
		return *(const char *const *)a == *(const char *const *)b ||
		    (*(const char *const *)a && *(const char *const *)b &&
		    !strcmp(*(const char *const *)a, *(const char *const *)b));
	case OPT_TEXTS:
	case OPT_FILES:
	case OPT_STREAMS:
		return ((const struct opt_list *)a)->n == 0;
	case OPT_SIZE:
		return s->w == t->w && s->h == t->h;
	case OPT_STAGE:
		break;
	}
	return true;
}

static size_t
extent(const struct opt *table)
{
	size_t bytes = 0;

	for (size_t i = 0; i < opt_count(table); i++)
		if (table[i].offset + sizeof(struct numbers) > bytes)
			bytes = table[i].offset + sizeof(struct numbers);
	return bytes;
}

int
opt_given(const struct opt *table, const void *parameters, bool *given)
{
	void *standard = calloc(1, extent(table) + 1);
	int status = standard ? opt_defaults(table, standard) : fail_memory();

	for (size_t i = 0; i < opt_count(table) && status == 0; i++)
		given[i] = !is_standard(&table[i], parameters, standard);
	if (standard)
		opt_free(table, standard);
	free(standard);
	return status;
}

char *
opt_command(const char *program, const struct opt *table, const void *parameters)
{
	bool given[opt_count(table) + 1];
	struct text text = { 0 };
	FILE *out;

	if (opt_given(table, parameters, given) < 0 || !(out = text_open(&text)))
		return NULL;
	fputs(program, out);
	for (size_t i = 0; i < opt_count(table); i++) {
		if (!given[i])
			continue;
		fprintf(out, " --%s%s", table[i].name, table[i].type == OPT_FLAG ? "" : "=");
		print_value(out, &table[i], parameters);
	}
	return text_close(&text, NULL);
}
