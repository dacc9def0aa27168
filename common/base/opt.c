/*
 * Option tables: parsing them, copying values between them, printing --help and completion words,
 * and suggesting what a misspelt option was meant to be.
 */
#include "base/opt.h"

#include "base/process.h"
#include "base/text.h"

/* Limits beyond these only keep the arithmetic safe; help and messages leave them out. */
#define OPT_LOW_SAFE 1e-5		/* a least value so near to 0 means: positive */
#define OPT_HIGH_SAFE 1e9

/* How a value lies in the parameter struct. */
enum kind { FLAG, INTEGER, NUMBER, NUMBERS, WORD, TEXT, LIST, SIZE, STAGE, KINDS };

static const struct {
	enum kind kind;
	bool is_angle, is_file;
} types[] = {
	[OPT_FLAG] = { FLAG },
	[OPT_INTEGER] = { INTEGER },
	[OPT_NUMBER] = { NUMBER },
	[OPT_ANGLE] = { NUMBER, .is_angle = true },
	[OPT_NUMBERS] = { NUMBERS },
	[OPT_ANGLES] = { NUMBERS, .is_angle = true },
	[OPT_WORD] = { WORD },
	[OPT_TEXT] = { TEXT },
	[OPT_FILE] = { TEXT, .is_file = true },
	[OPT_TEXTS] = { LIST },
	[OPT_FILES] = { LIST, .is_file = true },
	[OPT_FRAME] = { TEXT, .is_file = true },
	[OPT_STREAM] = { TEXT, .is_file = true },
	[OPT_PICTURE] = { TEXT, .is_file = true },
	[OPT_STREAMS] = { LIST, .is_file = true },
	[OPT_SIZE] = { SIZE },
	[OPT_STAGE] = { STAGE },
};

/* The bytes of a value, and that of an option without default that was not given. */
union none {
	bool flag;
	long integer;
	double number;
	struct numbers numbers;
	int word;
	const char *text;
	struct opt_list list;
	struct opt_size size;
};

static const struct {
	size_t bytes;
	union none none;
} kinds[KINDS] = {
	[FLAG] = { sizeof(bool), { .flag = false } },
	[INTEGER] = { sizeof(long), { .integer = OPT_NONE_INTEGER } },
	[NUMBER] = { sizeof(double), { .number = NAN } },
	[NUMBERS] = { sizeof(struct numbers), { .numbers = { 0 } } },
	[WORD] = { sizeof(int), { .word = -1 } },
	[TEXT] = { sizeof(const char *), { .text = NULL } },
	[LIST] = { sizeof(struct opt_list), { .list = { 0 } } },
	[SIZE] = { sizeof(struct opt_size), { .size = { 0 } } },
	[STAGE] = { 0 },
};

static enum kind
kind_of(const struct opt *opt)
{
	return types[opt->type].kind;
}

static void *
field(const struct opt *opt, const void *parameters)
{
	return (char *)parameters + opt->offset;
}

static bool
has_range(const struct opt *opt)
{
	return opt->min != 0.0 || opt->max != 0.0;
}

#define NAME_MOST 40		/* letters of a name that are compared */
#define SUGGESTED_MOST 3

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
			now[j] = size_at_most(size_at_most(last[j], now[j - 1]) + 1,
			    last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = size_at_most(now[j], before[j - 2] + 1);
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
			nearest = size_at_most(nearest, opt_suggest_distance(word, n, words[i]));
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

/* ---- values from one table to another, by the names of their rows ---- */

const struct opt *
opt_row(const struct opt *table, int letter, const char *name)
{
	for (const struct opt *row = table; row && row->name; row++)
		if (name ? !strcmp(row->name, name) : row->letter == letter)
			return row;
	return NULL;
}

/* Does the row have no default, and was no value given? */
static bool
is_none(const struct opt *row, const void *value)
{
	switch (kind_of(row)) {
	case FLAG:
		return false;
	case NUMBER:
		return isnan(*(const double *)value);
	case NUMBERS:
		return ((const struct numbers *)value)->n == 0;
	case LIST:
		return ((const struct opt_list *)value)->n == 0;
	default:
		return !memcmp(value, &kinds[kind_of(row)].none, kinds[kind_of(row)].bytes);
	}
}

static void
copy_value(const struct opt *row, void *to, const struct opt *from_row, const void *from)
{
	const struct numbers *numbers = from;
	const struct opt_list *list = from;
	void *copy;

	switch (kind_of(row)) {
	case NUMBERS:
		copy = must_alloc(numbers->n, sizeof(*numbers->v));
		memcpy(copy, numbers->v, numbers->n * sizeof(*numbers->v));
		numbers_free(to);
		*(struct numbers *)to = (struct numbers){ numbers->n, copy };
		return;
	case LIST:
		copy = must_alloc(list->n, sizeof(*list->v));
		memcpy(copy, list->v, list->n * sizeof(*list->v));
		free(((struct opt_list *)to)->v);
		*(struct opt_list *)to = (struct opt_list){ copy, list->n };
		return;
	case WORD:	/* of the row's own list; one that it lacks leaves the value as it is */
		for (int i = 0; row->words[i]; i++)
			if (!strcmp(row->words[i], from_row->words[*(const int *)from]))
				*(int *)to = i;
		return;
	default:
		memcpy(to, from, kinds[kind_of(row)].bytes);
		return;
	}
}

void
opt_copy(const struct opt *table, void *parameters, const struct opt *from,
    const void *from_parameters)
{
	for (size_t i = 0; i < opt_count(table); i++) {
		const struct opt *row = &table[i], *other = opt_row(from, 0, row->name);
		const void *value;

		if (!other || other->type != row->type)
			continue;
		value = field(other, from_parameters);
		if (!is_none(other, value))
			copy_value(row, field(row, parameters), other, value);
	}
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

/* May the option be given without its value? */
static bool
is_optional(const struct opt *opt)
{
	return opt->value && *opt->value == '[';
}

static void
print_row(FILE *out, const struct opt *opt)
{
	char left[80], range[80], letter[8] = "    ";
	const char *unit = types[opt->type].is_angle ? "degrees" : opt->unit;

	if (opt->letter)
		snprintf(letter, sizeof(letter), "-%c, ", opt->letter);
	snprintf(left, sizeof(left), "  %s--%s%s%s", letter, opt->name,
	    opt->value && !is_optional(opt) ? " " : "", opt->value ? opt->value : "");
	fprintf(out, "%-26s %s", left, opt->help);
	if (opt->words && !is_optional(opt)) {
		fputs(":", out);
		for (size_t i = 0; opt->words[i]; i++)
			fprintf(out, " %s", opt->words[i]);
	}
	if (unit)
		fprintf(out, ", in %s", unit);
	if (has_range(opt) && *opt_range_text(opt, range))
		fprintf(out, ", %s", range);
	if (opt->standard)
		fprintf(out, " [%s]", opt->standard);
	fputc('\n', out);
}

/* Prints the rows whose names are in the list `usual`, NULL: all. Returns how many it left out. */
static size_t
print_rows(FILE *out, const struct opt *table, const char *usual)
{
	size_t others = 0;

	for (const struct opt *row = table; row && row->name; row++)
		if (row->type != OPT_STAGE && usual && !words_have(usual, row->name))
			others++;
		else if (row->type != OPT_STAGE)
			print_row(out, row);
	return others;
}

void
opt_print_help(FILE *out, const char *program, const char *operands, const char *summary,
    const struct opt *table, const char *usual, const struct opt *common,
    const char *usual_common)
{
	size_t others;

	fprintf(out, "usage: %s [OPTION ...]%s%s\n%s\n", program, operands && *operands ? " " : "",
	    operands ? operands : "", summary);
	if (opt_count(table))
		fputs("\noptions\n", out);
	others = print_rows(out, table, usual);
	fputs("\noptions that every tool has\n", out);
	others += print_rows(out, common, usual_common);
	if (others)
		fprintf(out, "\n%zu more options: %s --help=all", others, program);
	fprintf(out, "\nmore: man %s\n", program);
}

static void
print_words(FILE *out, const struct opt *table)
{
	for (size_t i = 0; i < opt_count(table); i++) {
		const enum kind kind = kind_of(&table[i]);
		const bool file = types[table[i].type].is_file;

		if (kind == STAGE)
			continue;
		if (table[i].letter)
			fprintf(out, "-%c\n", table[i].letter);
		fprintf(out, "--%s\n", table[i].name);
		for (size_t k = 0; table[i].words && table[i].words[k]; k++)
			fprintf(out, "--%s=%s\n", table[i].name, table[i].words[k]);
		if (file || kind == NUMBERS || (kind != FLAG && !table[i].words))
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
	const char *unit = types[opt->type].is_angle ? "degrees" : opt->unit ? opt->unit : "";

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
	return !has_range(opt) || (v >= opt->min && v <= opt->max);
}

/* Refuses a list of another length than the name of its value has: X,Y two, N[,N] one or two; any
 * without a comma, or with dots. */
static int
check_count(const struct opt *opt, size_t n)
{
	static const char *const words[] = { "", "one", "two", "three", "four", "five", "six" };
	const char *value = opt->value, *optional = strchr(value, '[');
	size_t fewest = 1, most = 1;
	char object[64];

	for (const char *at = value; (at = strchr(at, ',')); at++) {
		most++;
		fewest += !optional || at < optional;
	}
	if (most == 1 || strstr(value, "...") || (n >= fewest && n <= most))
		return 0;
	snprintf(object, sizeof(object), "--%s", opt->name);
	return fail_usage(object, "must be %s%s%s numbers, not %zu", fewest < most ?
	    words[fewest] : "", fewest < most ? " or " : "", words[most], n);
}

static int
parse_numbers(const struct opt *opt, const char *text, struct numbers *out)
{
	struct numbers list;

	if (opt->words && !strcmp(text, opt->words[0])) {
		list = (struct numbers){ 1, must_alloc(1, sizeof(*list.v)) };
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
			return isnan(v) && !has_range(opt) ?
			    refuse(opt, "wants numbers separated by commas", text) :
			    refuse_range(opt, v, text);
		}
		if (types[opt->type].is_angle)
			list.v[i] *= M_PI / 180.0;
	}
	if (check_count(opt, list.n) < 0) {
		numbers_free(&list);
		return -1;
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
parse_value(const struct opt *opt, const char *text, void *parameters)
{
	void *to = field(opt, parameters);
	struct opt_list *list = to;
	char object[64];
	double v;

	switch (kind_of(opt)) {
	case INTEGER:
		if (integer_parse(text, to) < 0)
			return refuse(opt, "wants a whole number", text);
		v = (double)*(long *)to;
		return in_range(opt, v) ? 0 : refuse_range(opt, v, text);
	case NUMBER:
		if (ratio_parse(text, &v) < 0 || isnan(v))
			return refuse(opt, "wants a number", text);
		if (!in_range(opt, v))
			return refuse_range(opt, v, text);
		*(double *)to = types[opt->type].is_angle ? v * M_PI / 180.0 : v;
		return 0;
	case NUMBERS:
		return parse_numbers(opt, text, to);
	case WORD:
		return parse_word(opt, text ? text : opt->words[0], to);
	case TEXT:
		*(const char **)to = text;
		return 0;
	case LIST:
		list->v = must_resize(list->v, list->n + 1, sizeof(*list->v));
		list->v[list->n++] = (char *)text;	/* a word of argv */
		return 0;
	case SIZE:
		return parse_size(opt, text, to);
	case STAGE:
		snprintf(object, sizeof(object), "--%s", opt->name);
		return *opt->standard ?
		    fail_usage(object, "must be %s, not '%.60s'", opt->standard, text) :
		    fail_usage(object, "is for %s", opt->help);
	default:
		*(bool *)to = true;
		return 0;
	}
}

void
opt_defaults(const struct opt *table, void *parameters)
{
	for (size_t i = 0; i < opt_count(table); i++) {
		const enum kind kind = kind_of(&table[i]);

		memcpy(field(&table[i], parameters), &kinds[kind].none, kinds[kind].bytes);
		if (table[i].standard && kind != FLAG && kind != STAGE)
			parse_value(&table[i], table[i].standard, parameters);
	}
}

void
opt_free(const struct opt *table, void *parameters)
{
	for (size_t i = 0; i < opt_count(table); i++) {
		void *value = field(&table[i], parameters);

		if (kind_of(&table[i]) == NUMBERS)
			numbers_free(value);
		if (kind_of(&table[i]) == LIST)
			free(((struct opt_list *)value)->v);
	}
}

struct long_options {
	struct option option[OPT_MOST + 1];
	char letters[2 * OPT_MOST + 4];
	size_t n, used;
};

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

/* The has_arg of getopt_long(). */
static int
takes_value(const struct opt *opt)
{
	if (is_optional(opt))
		return optional_argument;
	if (opt->type == OPT_STAGE ? !opt->value : opt->type == OPT_FLAG)
		return no_argument;
	return required_argument;
}

static void
add_rows(struct long_options *all, const struct opt *table)
{
	for (size_t i = 0, rows = opt_count(table); i < rows && all->n < OPT_MOST; i++) {
		if (table[i].type == OPT_STAGE && opt_row(table, 0, table[i].name) != &table[i])
			continue;	/* another value of an option */
		/* each its own value: getopt_long takes options of equal values, and their
		 * abbreviations, for one option */
		int value = LONG_VALUE + (int)all->n;

		all->option[all->n++] =
		    (struct option){ table[i].name, takes_value(&table[i]), NULL, value };
		if (table[i].letter) {
			all->letters[all->used++] = table[i].letter;
			if (takes_value(&table[i]) == required_argument)
				all->letters[all->used++] = ':';
		}
	}
}

/* optopt: the letter, else 0 or the value of a long option, which `word` is then. An unknown one,
 * "--NAME" or "--NAME=VALUE", is answered by those of which it is the beginning, or like which it
 * is spelt. */
static int
refuse_word(int answer, const char *word, const struct long_options *all)
{
	const char *names[OPT_MOST + 1] = { NULL }, *bare = word + strspn(word, "-");
	char near[200];
	char object[4] = { '-', (char)optopt, '\0' };
	bool is_long = optopt == 0 || optopt >= LONG_VALUE;

	if (answer == ':')
		return fail_usage(is_long ? word : object, "wants a value");
	if (!is_long)
		return fail_usage(object, "unknown option, see --help");
	if (optopt)
		return fail_usage(word, "takes no value");
	for (size_t i = 0; i < all->n; i++)
		names[i] = all->option[i].name;
	return fail_usage(word, "unknown or ambiguous option%s, see --help",
	    opt_suggest_word(bare, strcspn(bare, "="), "--", names, near, sizeof(near)));
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
			return refuse_word(answer, argv[at], &all);
		}
		row = opt_row(table, answer, name);
		/* its own old spelling, or one that a later value of the option overrides */
		if (row && stage_row(table, row->name, optarg))
			continue;
		if (row ? parse_value(row, optarg, parameters) < 0 :
		    parse_value(opt_row(common, answer, name), optarg, common_parameters) < 0)
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
			row = opt_row(table, answer, name);
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
		else if (types[opt->type].is_angle)
			fprintf(out, "%s%.10g", i ? "," : "", list->v[i] * (180.0 / M_PI));
		else
			fprintf(out, "%s%s", i ? "," : "", number_format(list->v[i], text));
	}
}

static void
print_value(FILE *out, const struct opt *opt, const void *from)
{
	const struct opt_list *list = from;
	const struct opt_size *size = from;
	const char *text;
	double v;

	switch (kind_of(opt)) {
	case INTEGER:
		fprintf(out, "%ld", *(const long *)from);
		break;
	case NUMBER:
		v = *(const double *)from;
		print_numbers(out, opt, &(struct numbers){ 1, &v });
		break;
	case NUMBERS:
		print_numbers(out, opt, from);
		break;
	case WORD:
		fputs(opt->words[*(const int *)from], out);
		break;
	case TEXT:
		text = *(const char *const *)from;
		escape_put_word(out, types[opt->type].is_file ? base_name(text) : text);
		break;
	case LIST:
		for (size_t i = 0; i < list->n; i++) {
			if (i)
				fprintf(out, " --%s=", opt->name);
			escape_put_word(out, base_name(list->v[i]));
		}
		break;
	case SIZE:
		fprintf(out, "%zux%zu", size->w, size->h);
		break;
	default:
		break;
	}
}

/* Is the value, a, the table's default, b? */
static bool
is_standard(const struct opt *opt, const void *a, const void *b)
{
	const struct numbers *p = a, *q = b;
	const char *text, *standard;

	switch (kind_of(opt)) {
	case NUMBERS:
		return p->n == q->n && (p->n == 0 || !memcmp(p->v, q->v, p->n * sizeof(*p->v)));
	case TEXT:
		text = *(const char *const *)a;
		standard = *(const char *const *)b;
		return text == standard || (text && standard && !strcmp(text, standard));
	case LIST:
		return ((const struct opt_list *)a)->n == 0;
	default:
		return !memcmp(a, b, kinds[kind_of(opt)].bytes);
	}
}

void
opt_given(const struct opt *table, const void *parameters, bool *given)
{
	size_t bytes = 1;
	void *standard;

	for (size_t i = 0; i < opt_count(table); i++)
		if (table[i].offset + sizeof(union none) > bytes)
			bytes = table[i].offset + sizeof(union none);
	standard = must_alloc(1, bytes);
	opt_defaults(table, standard);
	for (size_t i = 0; i < opt_count(table); i++)
		given[i] = !is_standard(&table[i], field(&table[i], parameters),
		    field(&table[i], standard));
	opt_free(table, standard);
	free(standard);
}

char *
opt_command(const char *program, const struct opt *table, const void *parameters)
{
	bool given[opt_count(table) + 1];
	struct text text;
	FILE *out = text_open(&text);

	opt_given(table, parameters, given);
	fputs(program, out);
	for (size_t i = 0; i < opt_count(table); i++) {
		if (!given[i])
			continue;
		fprintf(out, " --%s%s", table[i].name, kind_of(&table[i]) == FLAG ? "" : "=");
		print_value(out, &table[i], field(&table[i], parameters));
	}
	return text_close(&text, NULL);
}
