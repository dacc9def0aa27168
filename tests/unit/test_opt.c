#define _GNU_SOURCE
#include "frames.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/opt.h"

/* ---- a table with every type, once without and once with a default ---- */

struct parameters {
	bool flag;
	long count, level;
	double gain, gamma, field, height, blur, turn, tilt;
	struct numbers period, weight, shift, light;
	int shape, axis;
	const char *title, *label, *table, *ref;
	struct opt_size size, tile;
};

static const char *const shapes[] = { "row", "column", "box", NULL };
static const char *const axes[] = { "x", "y", NULL };
static const char *const ref_words[] = { "ideal", NULL };

#define AT(field) offsetof(struct parameters, field)

static const struct opt table[] = {
	{ 'a', "all", NULL, OPT_FLAG, AT(flag), NULL, 0, 0, NULL, "take all", NULL },
	{ 'n', "count", "N", OPT_INTEGER, AT(count), NULL, 0, 0, NULL, "how many", NULL },
	{ 0, "level", "N", OPT_INTEGER, AT(level), "3", -5, 10, "grey levels", "how high", NULL },
	{ 'g', "gain", "G", OPT_NUMBER, AT(gain), NULL, 0, 0, NULL, "factor", NULL },
	{ 0, "gamma", "G", OPT_NUMBER, AT(gamma), "2.2", 0.5, INFINITY, NULL, "exponent", NULL },
	{ 0, "field", "MM", OPT_NUMBER, AT(field), NULL, 1e-9, 1e9, "mm", "width", NULL },
	{ 0, "height", "MM", OPT_NUMBER, AT(height), NULL, -1e9, 1e9, "mm", "heights", NULL },
	{ 0, "blur", "PX", OPT_NUMBER, AT(blur), NULL, 1e-9, 1e6, "px", "width", NULL },
	{ 0, "turn", "A", OPT_ANGLE, AT(turn), NULL, 0, 0, NULL, "by how much", NULL },
	{ 0, "tilt", "A", OPT_ANGLE, AT(tilt), "-90", -180, 180, NULL, "to which side", NULL },
	{ 'p', "period", "PX,...", OPT_NUMBERS, AT(period), NULL, 2, 4096, "px", "periods", NULL },
	{ 0, "weight", "W,...", OPT_NUMBERS, AT(weight), "1,2.5", 0, 0, NULL, "weights", NULL },
	{ 0, "shift", "A,...", OPT_ANGLES, AT(shift), NULL, 0, 0, NULL, "shifts", NULL },
	{ 0, "light", "A,E", OPT_ANGLES, AT(light), "-40,40", -180, 180, NULL, "lamp", NULL },
	{ 's', "shape", "WORD", OPT_WORD, AT(shape), NULL, 0, 0, NULL, "neighbours", shapes },
	{ 0, "axis", "WORD", OPT_WORD, AT(axis), "y", 0, 0, NULL, "along", axes },
	{ 0, "title", "TEXT", OPT_TEXT, AT(title), NULL, 0, 0, NULL, "words", NULL },
	{ 0, "label", "TEXT", OPT_TEXT, AT(label), "none", 0, 0, NULL, "more words", NULL },
	{ 0, "table", "FILE", OPT_FILE, AT(table), NULL, 0, 0, NULL, "a file", NULL },
	{ 'r', "ref", "FILE", OPT_FRAME, AT(ref), NULL, 0, 0, NULL, "an image", ref_words },
	{ 0, "size", "WxH", OPT_SIZE, AT(size), NULL, 0, 0, "px", "how large", NULL },
	{ 0, "tile", "WxH", OPT_SIZE, AT(tile), "16x8", 0, 0, "px", "pieces", NULL },
	{ 0 },
};

struct common {
	bool verbose;
	const char *output;
};

static const struct opt common_table[] = {
	{ 'o', "output", "FILE", OPT_FILE, offsetof(struct common, output), NULL, 0, 0, NULL,
	    "there", NULL },
	{ 'v', "verbose", NULL, OPT_FLAG, offsetof(struct common, verbose), NULL, 0, 0, NULL,
	    "talk", NULL },
	{ 0 },
};

/* ---- helpers ---- */

#define WORDS_MOST 16

struct line {
	char text[256];
	char *word[WORDS_MOST + 1];
	int n;
};

/* "tool " and words, with | between them. */
static struct line *
split(struct line *line, const char *words)
{
	char *rest = line->text, *word;

	assert_true(strlen(words) < sizeof(line->text));
	strcpy(line->text, words);
	line->word[0] = "tool";
	line->n = 1;
	while (*words && (word = strsep(&rest, "|"))) {
		assert_true(line->n < WORDS_MOST);
		line->word[line->n++] = word;
	}
	line->word[line->n] = NULL;
	return line;
}

/* Parses over the defaults; *first may be NULL. Texts in the parameters last until the next call.
 */
static int
parse(struct parameters *parameters, const char *words, int *first)
{
	static struct line line;
	struct common common;
	int ignored;

	opt_defaults(table, parameters);
	opt_defaults(common_table, &common);
	split(&line, words);
	return opt_parse(table, parameters, common_table, &common, line.n, line.word,
	    first ? first : &ignored);
}

static void
assert_refused(const char *words, const char *message)
{
	struct parameters parameters;

	assert_int_equal(parse(&parameters, words, NULL), -1);
	assert_int_equal(fail_code(), EXIT_USAGE);
	assert_failed(message);
	opt_free(table, &parameters);
}

static void
assert_list(const struct numbers *list, size_t n, const double *wanted)
{
	assert_int_equal(list->n, n);
	for (size_t i = 0; i < n; i++)
		assert_true(fabs(list->v[i] - wanted[i]) <= 1e-15 * fabs(wanted[i]));
}

static void
assert_command(const char *words, const char *wanted)
{
	struct parameters parameters;
	struct line line;
	int first;
	char *text;

	opt_defaults(table, &parameters);
	split(&line, words);
	assert_int_equal(opt_parse(table, &parameters, NULL, NULL, line.n, line.word, &first), 0);
	text = opt_command("tool", table, &parameters);
	assert_string_equal(text, wanted);
	free(text);
	opt_free(table, &parameters);
}

/* ---- tests ---- */

static void
defaults(void **state)
{
	struct parameters p;

	(void)state;
	memset(&p, 0xa5, sizeof(p));
	opt_defaults(table, &p);
	assert_false(p.flag);
	assert_true(p.count == OPT_NONE_INTEGER && p.level == 3);
	assert_true(isnan(p.gain) && p.gamma == 2.2);
	assert_true(isnan(p.turn) && p.tilt == -M_PI / 2);
	assert_true(p.period.n == 0 && p.shift.n == 0);
	assert_list(&p.weight, 2, (const double[]){ 1, 2.5 });
	assert_list(&p.light, 2, (const double[]){ -40 * M_PI / 180, 40 * M_PI / 180 });
	assert_true(p.shape == -1 && p.axis == 1);
	assert_true(!p.title && !p.table && !p.ref);
	assert_string_equal(p.label, "none");
	assert_true(p.size.w == 0 && p.size.h == 0 && p.tile.w == 16 && p.tile.h == 8);
	opt_free(table, &p);
}

static void
values(void **state)
{
	struct parameters p;
	int first;

	(void)state;
	assert_int_equal(parse(&p, "-a|-n|12|--level|-5|-g-0.5|--gamma=1e3|--turn=180|--tilt|-180|"
	    "-p60,66|--shift|-120,0,120|-scolumn|--axis=x", &first), 0);
	assert_int_equal(first, 16);
	assert_true(p.flag && p.count == 12 && p.level == -5 && p.gain == -0.5 && p.gamma == 1000);
	assert_true(p.turn == M_PI && p.tilt == -M_PI);
	assert_list(&p.period, 2, (const double[]){ 60, 66 });
	assert_list(&p.shift, 3, (const double[]){ -2 * M_PI / 3, 0, 2 * M_PI / 3 });
	assert_true(p.shape == 1 && p.axis == 0);
	opt_free(table, &p);
	assert_int_equal(parse(&p, "--title=a b=c|--label=|--table|../t.txt|-r|-|--size|800x600|"
	    "--tile=1x1000000", NULL), 0);
	assert_string_equal(p.title, "a b=c");
	assert_string_equal(p.label, "");
	assert_string_equal(p.table, "../t.txt");
	assert_string_equal(p.ref, "-");
	assert_true(p.size.w == 800 && p.size.h == 600 && p.tile.w == 1 && p.tile.h == 1000000);
	opt_free(table, &p);
}

static void
negative_values(void **state)
{
	struct parameters p;

	(void)state;
	assert_int_equal(
	    parse(&p, "-n|-7|-g|-1e-3|--turn|-90|--weight|-1,-2,-3|--level=-1", NULL), 0);
	assert_true(p.count == -7 && p.gain == -1e-3 && p.turn == -M_PI / 2 && p.level == -1);
	assert_list(&p.weight, 3, (const double[]){ -1, -2, -3 });
	opt_free(table, &p);
}

static void
last_one_wins(void **state)
{
	struct parameters p;

	(void)state;
	assert_int_equal(parse(&p, "-n|1|-p|9,8,7|--count=2|-s|box|--period=5|-n3|--shape=row|"
	    "--title=a|--title=b", NULL), 0);
	assert_true(p.count == 3 && p.shape == 0);
	assert_list(&p.period, 1, (const double[]){ 5 });
	assert_string_equal(p.title, "b");
	opt_free(table, &p);
}

static void
operands(void **state)
{
	struct parameters p;
	struct common common;
	struct line line;
	int first;

	(void)state;
	opt_defaults(table, &p);
	opt_defaults(common_table, &common);
	split(&line, "one|-n|4|two|-vo|out|-|--|-a|--gain");
	assert_int_equal(opt_parse(table, &p, common_table, &common, line.n, line.word, &first), 0);
	assert_int_equal(line.n - first, 5);
	assert_string_equal(line.word[first], "one");
	assert_string_equal(line.word[first + 1], "two");
	assert_string_equal(line.word[first + 2], "-");
	assert_string_equal(line.word[first + 3], "-a");
	assert_string_equal(line.word[first + 4], "--gain");
	assert_true(p.count == 4 && !p.flag && common.verbose);
	assert_string_equal(common.output, "out");
	opt_free(table, &p);
	/* without a table of its own, parsing ends at the first operand: fringepipe's stages */
	opt_defaults(common_table, &common);
	split(&line, "-v|stage|-o|other");
	assert_int_equal(
	    opt_parse(NULL, NULL, common_table, &common, line.n, line.word, &first), 0);
	assert_int_equal(first, 2);
	assert_true(common.verbose && !common.output);
}

static void
abbreviations(void **state)
{
	struct parameters p;

	(void)state;
	assert_int_equal(parse(&p, "--cou|5|--ga=1|--shap=box", NULL), -1);
	assert_failed("--ga=1: unknown or ambiguous option (is it --gain or --gamma?), "
	    "see --help");
	opt_free(table, &p);
	assert_int_equal(parse(&p, "--cou|5|--shap=box|--al", NULL), 0);
	assert_true(p.count == 5 && p.shape == 2 && p.flag);
	opt_free(table, &p);
	assert_refused("--t=1", "--t=1: unknown or ambiguous option (is it --turn or --tilt or "
	    "--title?), see --help");
	/* two flags and two texts are as ambiguous as a flag and a text */
	assert_refused("--ti", "--ti: unknown or ambiguous option (is it --tilt or --title or "
	    "--tile?), see --help");
}

static void
refusals(void **state)
{
	(void)state;
	assert_refused("-x", "-x: unknown option, see --help");
	assert_refused("-ax", "-x: unknown option, see --help");
	assert_refused("one|two|-x", "-x: unknown option, see --help");
	assert_refused("--other|one", "--other: unknown or ambiguous option, see --help");
	assert_refused("-n", "-n: wants a value");
	assert_refused("one|--count", "--count: wants a value");
	assert_refused("--all=1", "--all=1: takes no value");
	assert_refused("-n|1.5", "--count: wants a whole number, not '1.5'");
	assert_refused("-n|", "--count: wants a whole number, not ''");
	assert_refused("-n| 1", "--count: wants a whole number, not ' 1'");
	assert_refused("-n|99999999999999999999",
	    "--count: wants a whole number, not '99999999999999999999'");
	assert_refused("-g|x", "--gain: wants a number, not 'x'");
	assert_refused("-g|1 ", "--gain: wants a number, not '1 '");
	assert_refused("-g|nan", "--gain: wants a number, not 'nan'");
	assert_refused("--turn=1rad", "--turn: wants a number, not '1rad'");
	assert_refused("-p|60;66", "--period: wants numbers separated by commas, not '60;66'");
	assert_refused("-p|60,", "--period: wants numbers separated by commas, not '60,'");
	assert_refused("-p|", "--period: wants numbers separated by commas, not ''");
	assert_refused("--light=1", "--light: must be two numbers, not 1");
	assert_refused("--light=1,2,3", "--light: must be two numbers, not 3");
	assert_refused("--shift=1,,2", "--shift: wants numbers separated by commas, not '1,,2'");
	assert_refused("-s|disc", "--shape: must be one of row column box, not 'disc'");
	assert_refused("-s|Row", "--shape: must be one of row column box, not 'Row' (is it row?)");
	assert_refused("-s|", "--shape: must be one of row column box, not ''");
	assert_refused("--size|5", "--size: wants a size such as 800x600, not '5'");
	assert_refused("--size|5x", "--size: wants a size such as 800x600, not '5x'");
	assert_refused("--size|5x6x7", "--size: wants a size such as 800x600, not '5x6x7'");
	assert_refused("--size|0x6", "--size: wants a size such as 800x600, not '0x6'");
	assert_refused("--size|-5x6", "--size: wants a size such as 800x600, not '-5x6'");
	assert_refused("--size|1000001x1", "--size: wants a size such as 800x600, not '1000001x1'");
}

static void
ranges(void **state)
{
	struct parameters p;

	(void)state;
	assert_refused("--level|11", "--level: must be -5 to 10 grey levels, not '11'");
	assert_refused("--level|-6", "--level: must be -5 to 10 grey levels, not '-6'");
	assert_refused("--gamma|0.49", "--gamma: must be at least 0.5, not '0.49'");
	assert_refused("--field|0", "--field: must be more than 0 mm, not '0'");
	assert_refused("--field|2e9", "--field: must be at most 1000000000 mm, not '2e9'");
	assert_refused("--height|-2e9", "--height: must be at least -1000000000 mm, not '-2e9'");
	assert_refused("--height|inf", "--height: must be at most 1000000000 mm, not 'inf'");
	assert_refused("--blur|0", "--blur: must be more than 0 to 1000000 px, not '0'");
	assert_refused("--tilt|180.5", "--tilt: must be -180 to 180 degrees, not '180.5'");
	assert_refused("-p|60,1.9", "--period: must be 2 to 4096 px, not '60,1.9'");
	assert_refused("-p|nan", "--period: must be 2 to 4096 px, not 'nan'");
	assert_refused("--light|0,-181", "--light: must be -180 to 180 degrees, not '0,-181'");
	assert_int_equal(parse(&p, "--level|10|--gamma|0.5|--tilt|180|-p|2,4096|--light|180,-180",
	    NULL), 0);
	assert_true(p.level == 10 && p.gamma == 0.5 && p.tilt == M_PI);
	opt_free(table, &p);
}

static void
commands(void **state)
{
	(void)state;
	assert_command("", "tool");
	assert_command("one|two", "tool");
	assert_command("-s|box|-a|-n|3", "tool --all --count=3 --shape=box");
	/* an option with its default value is left out */
	assert_command("--level|3|--gamma=2.2|--tilt=-90|--weight=1,2.5|--light=-40,40|--axis=y|"
	    "--label=none|--tile=16x8", "tool");
	assert_command("--level=-3|--gamma=0.7|--gain|1e-30",
	    "tool --level=-3 --gain=1e-30 --gamma=0.7");
	/* degrees come back as they were given */
	assert_command("--turn=45|--tilt=0.1|--shift=-120,0,120|--light=33.3,-66.7",
	    "tool --turn=45 --tilt=0.1 --shift=-120,0,120 --light=33.3,-66.7");
	assert_command("--turn=123.456789", "tool --turn=123.456789");
	assert_command("-p|60,66.125|--weight=7", "tool --period=60,66.125 --weight=7");
	assert_command("--table=/home/x/a b.txt|-r|../set/ref.nrrd|--size=800x600",
	    "tool --table=a%20b.txt --ref=ref.nrrd --size=800x600");
	assert_command("-r|ideal", "tool --ref=ideal");
	assert_command("--title=50%: a:b \xc3\xa9:|--label=",
	    "tool --title=50%25%3A%20a:b%20%C3%A9%3A --label=");
}

/* A command is what gives the same parameters again. */
static void
commands_parse(void **state)
{
	struct parameters p;
	struct line line;
	int first;
	char *text, *again;

	(void)state;
	assert_int_equal(
	    parse(&p, "-a|-n|-3|-g|0.1|--turn=77.7|-p|3,5|--shift=1,2|-s|box|--size=3x4", NULL), 0);
	text = opt_command("tool", table, &p);
	opt_free(table, &p);
	for (char *at = text + 4; *at; at++)
		if (*at == ' ')
			*at = '|';
	split(&line, text + 5);
	opt_defaults(table, &p);
	assert_int_equal(opt_parse(table, &p, NULL, NULL, line.n, line.word, &first), 0);
	again = opt_command("tool", table, &p);
	for (char *at = text + 4; *at; at++)
		if (*at == '|')
			*at = ' ';
	assert_string_equal(again, text);
	free(text);
	free(again);
	opt_free(table, &p);
}

static char *
printed(void (*print)(FILE *))
{
	char *text;
	size_t n;
	FILE *file = open_memstream(&text, &n);

	print(file);
	assert_int_equal(fclose(file), 0);
	return text;
}

static void
print_words(FILE *file)
{
	opt_print_words(file, table, common_table);
}

static void
print_help(FILE *file)
{
	opt_print_help(file, "tool", "[FILE ...]", "does something", table, NULL, common_table,
	    NULL);
}

static void
assert_line(const char *text, const char *line)
{
	char *wanted;

	assert_true(asprintf(&wanted, "\n%s\n", line) > 0);
	if (!strstr(text, wanted))
		print_error("no line '%s' in:\n%s", line, text);
	assert_non_null(strstr(text, wanted));
	free(wanted);
}

static void
help_and_words(void **state)
{
	char *words = printed(print_words), *help = printed(print_help);

	(void)state;
	assert_true(!strncmp(words, "-a\n--all\n-n\n--count\n--count=?\n--level\n", 37));
	assert_line(words, "-s\n--shape\n--shape=row\n--shape=column\n--shape=box");
	assert_line(words, "--ref=ideal\n--ref=@");
	assert_line(words, "-o\n--output\n--output=@\n-v\n--verbose");
	assert_true(!strncmp(help, "usage: tool [OPTION ...] [FILE ...]\ndoes something\n", 51));
	assert_line(help, "  -a, --all                take all");
	assert_line(help, "      --level N            how high, in grey levels, -5 to 10 [3]");
	assert_line(help, "      --gamma G            exponent, at least 0.5 [2.2]");
	assert_line(help, "      --field MM           width, in mm, more than 0");
	assert_line(help, "      --height MM          heights, in mm");
	assert_line(help, "      --blur PX            width, in px, more than 0 to 1000000");
	assert_line(
	    help, "      --tilt A             to which side, in degrees, -180 to 180 [-90]");
	assert_line(help, "  -s, --shape WORD         neighbours: row column box");
	assert_line(help, "  -v, --verbose            talk");
	free(words);
	free(help);
}

/* Rows of one name and type are copied, words by their text, lists as lists of their own. */
static void
copies(void **state)
{
	struct own {
		struct numbers weight;
		struct opt_size tile;
		const char *label, *title;
		int shape, axis;
		long level, gain, other;
		bool all;
	} own;
	static const char *const own_shapes[] = { "disc", "box", "row", NULL };
	static const char *const own_axes[] = { "x", NULL };
	static const struct opt own_table[] = {
		{ 0, "weight", "W", OPT_NUMBERS, offsetof(struct own, weight) },
		{ 0, "tile", "WxH", OPT_SIZE, offsetof(struct own, tile) },
		{ 0, "label", "T", OPT_TEXT, offsetof(struct own, label) },
		{ 0, "title", "T", OPT_TEXT, offsetof(struct own, title), "mine" },
		{ 0, "shape", "W", OPT_WORD, offsetof(struct own, shape), .words = own_shapes },
		{ 0, "axis", "W", OPT_WORD, offsetof(struct own, axis), "x", .words = own_axes },
		{ 0, "level", "N", OPT_INTEGER, offsetof(struct own, level), "7" },
		{ 0, "gain", "N", OPT_INTEGER, offsetof(struct own, gain), "8" },
		{ 0, "other", "N", OPT_INTEGER, offsetof(struct own, other), "9" },
		{ 0, "all", NULL, OPT_FLAG, offsetof(struct own, all) },
		{ 0 },
	};
	struct parameters parameters;

	(void)state;
	assert_int_equal(parse(&parameters, "--all|--shape|box|--level|4|--gain|2", NULL), 0);
	opt_defaults(own_table, &own);
	opt_copy(own_table, &own, NULL, NULL);
	assert_int_equal(own.level, 7);
	opt_copy(own_table, &own, table, &parameters);
	assert_list(&own.weight, 2, (double[]){ 1, 2.5 });
	assert_ptr_not_equal(own.weight.v, parameters.weight.v);
	assert_int_equal(own.tile.w, 16);
	assert_string_equal(own.label, "none");
	assert_string_equal(own.title, "mine");	/* none was given */
	assert_int_equal(own.shape, 1);
	assert_int_equal(own.axis, 0);		/* y is no word of ours */
	assert_int_equal(own.level, 4);
	assert_int_equal(own.gain, 8);		/* of another type */
	assert_int_equal(own.other, 9);
	assert_true(own.all);
	opt_free(own_table, &own);
	opt_free(table, &parameters);
}

/* An old spelling hands all words to another stage, and is not shown. */
static void
old_spellings(void **state)
{
	static const char *const ways[] = { "fast", "exact", NULL };
	struct old {
		int way;
		long count;
	} old;
	static const struct opt own[] = {
		{ 'w', "way", "WORD", OPT_WORD, offsetof(struct old, way), "fast", .words = ways },
		{ 'n', "count", "N", OPT_INTEGER, offsetof(struct old, count) },
		{ 'w', "way", "WORD", OPT_STAGE, 0, "spectral", .help = "spectrum" },
		{ 0, "noise", NULL, OPT_STAGE, .help = "camnoise" },
		{ 0, "carrier", "PX", OPT_STAGE, 0, "", .help = "spectrum" },
		{ 0 },
	};
	static const struct opt others[] = {
		{ 'w', "way", "WORD", OPT_STAGE, 0, "spectral", .help = "spectrum" },
		{ 'n', "count", "N", OPT_INTEGER, offsetof(struct old, count) },
		{ 0 },
	};
	static const struct {
		const char *words, *stage;
	} cases[] = {
		{ "-n|3|a.png", NULL },
		{ "-w|spectral|a.png", "spectrum" },
		{ "a.png|--carrier|8|--taper=hann|-xw|spectral|b.png", "spectrum" },
		{ "--wa=spectral|--way|exact", NULL },
		{ "--way=exact|--wa|spectral", "spectrum" },
		{ "--noise|a.png", "camnoise" },
		{ "--|-w|spectral", NULL },
		{ "-n|-w|spectral", NULL },
	};
	struct line line = { 0 };
	char *text;
	size_t size;
	FILE *words;
	int first;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct opt *row;

		split(&line, cases[i].words);
		row = opt_find_stage(own, common_table, line.n, line.word);
		assert_string_equal(row ? row->help : "", cases[i].stage ? cases[i].stage : "");
	}
	opt_defaults(own, &old);
	split(&line, "--carrier|8");
	assert_int_equal(opt_parse(own, &old, NULL, NULL, line.n, line.word, &first), -1);
	assert_failed("--carrier: is for spectrum");
	text = opt_command("wrap", own, &old);
	assert_string_equal(text, "wrap");
	free(text);
	words = open_memstream(&text, &size);
	opt_print_words(words, own, NULL);
	assert_int_equal(fclose(words), 0);
	assert_string_equal(text, "-w\n--way\n--way=fast\n--way=exact\n-n\n--count\n--count=?\n");
	free(text);
	/* a later value overrides it */
	split(&line, "-w|spectral|-w|exact");
	assert_int_equal(opt_parse(own, &old, NULL, NULL, line.n, line.word, &first), 0);
	assert_int_equal(old.way, 1);
	opt_defaults(own, &old);
	/* the other stage takes its own old spelling, and no other value of it */
	split(&line, "-w|spectral|-n|4|a.png");
	assert_int_equal(opt_parse(others, &old, NULL, NULL, line.n, line.word, &first), 0);
	assert_int_equal(old.count, 4);
	split(&line, "-w|fast");
	assert_int_equal(opt_parse(others, &old, NULL, NULL, line.n, line.word, &first), -1);
	assert_failed("--way: must be spectral, not 'fast'");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(values),
		cmocka_unit_test(negative_values),
		cmocka_unit_test(last_one_wins),
		cmocka_unit_test(operands),
		cmocka_unit_test(abbreviations),
		cmocka_unit_test(refusals),
		cmocka_unit_test(ranges),
		cmocka_unit_test(commands),
		cmocka_unit_test(commands_parse),
		cmocka_unit_test(help_and_words),
		cmocka_unit_test(copies),
		cmocka_unit_test(old_spellings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
