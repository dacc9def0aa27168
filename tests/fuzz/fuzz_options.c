/*
 * Words of a command line, one a line, for a table with every type of option: no crash, nothing
 * leaked, a failure has a message; and the command that is recorded of them is printable.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "fuzz.h"
#include "base/opt.h"

#define WORDS_MOST 64

struct parameters {
	bool flag;
	long count, level;
	double gain, blur, tilt;
	struct numbers period, light;
	int shape;
	const char *label, *table, *ref, *right;
	struct opt_list sides;
	struct opt_size size, tile;
};

struct common {
	bool verbose;
	const char *output;
};

static const char *const shapes[] = { "row", "column", "box", NULL };
static const char *const ref_words[] = { "ideal", NULL };

#define AT(field) offsetof(struct parameters, field)

static const struct opt table[] = {
	{ 'a', "all", NULL, OPT_FLAG, AT(flag), NULL, 0, 0, NULL, "take all", NULL },
	{ 'n', "count", "N", OPT_INTEGER, AT(count), NULL, 0, 0, NULL, "how many", NULL },
	{ 0, "level", "N", OPT_INTEGER, AT(level), "3", -5, 10, "grey levels", "how high", NULL },
	{ 'g', "gain", "G", OPT_NUMBER, AT(gain), NULL, 0, 0, NULL, "factor", NULL },
	{ 0, "blur", "PX", OPT_NUMBER, AT(blur), "2.5", 1e-9, INFINITY, "px", "width", NULL },
	{ 0, "tilt", "A", OPT_ANGLE, AT(tilt), "-90", -180, 180, NULL, "to which side", NULL },
	{ 'p', "period", "PX,...", OPT_NUMBERS, AT(period), NULL, 2, 4096, "px", "periods", NULL },
	{ 0, "light", "A,E", OPT_ANGLES, AT(light), "-40,40", -180, 180, NULL, "lamp", NULL },
	{ 's', "shape", "WORD", OPT_WORD, AT(shape), "row", 0, 0, NULL, "neighbours", shapes },
	{ 0, "label", "TEXT", OPT_TEXT, AT(label), "none", 0, 0, NULL, "more words", NULL },
	{ 0, "table", "FILE", OPT_FILE, AT(table), NULL, 0, 0, NULL, "a file", NULL },
	{ 'r', "ref", "FILE", OPT_FRAME, AT(ref), NULL, 0, 0, NULL, "an image", ref_words },
	{ 0, "right", "FILE", OPT_STREAM, AT(right), NULL, 0, 0, NULL, "a stream", NULL },
	{ 0, "side", "FILE", OPT_STREAMS, AT(sides), NULL, 0, 0, NULL, "streams", NULL },
	{ 0, "size", "WxH", OPT_SIZE, AT(size), NULL, 0, 0, "px", "how large", NULL },
	{ 0, "tile", "WxH", OPT_SIZE, AT(tile), "16x8", 0, 0, "px", "pieces", NULL },
	{ 0 },
};

static const struct opt common_table[] = {
	{ 'o', "output", "FILE", OPT_FILE, offsetof(struct common, output), NULL, 0, 0, NULL,
	  "where to", NULL },
	{ 'v', "verbose", NULL, OPT_FLAG, offsetof(struct common, verbose), NULL, 0, 0, NULL,
	  "say more", NULL },
	{ 0 },
};

static void
check_values(const struct parameters *p)
{
	char *command = opt_command("tool", table, p);

	check(command != NULL, "command");
	for (const char *c = command; *c; c++)
		check(*c >= 0x20 && *c < 0x7f, "command is not printable");
	free(command);
	check(p->level >= -5 && p->level <= 10, "level");
	check(p->blur >= 1e-9, "blur");
	check(p->shape >= 0 && p->shape < 3, "shape");
	check(fabs(p->tilt) <= 4, "tilt");
	for (size_t i = 0; i < p->period.n; i++)
		check(p->period.v[i] >= 2 && p->period.v[i] <= 4096, "period");
}

int
LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
	struct bytes bytes = { data, n };
	struct parameters parameters = { 0 };
	struct common common = { 0 };
	char *word[WORDS_MOST + 1] = { strdup("tool") }, *kept[WORDS_MOST];
	int words = 1, first = 0, status;

	while (bytes.left && words < WORDS_MOST)
		word[words++] = take_text(&bytes, '\n');
	memcpy(kept, word, (size_t)words * sizeof(*kept));	/* parsing moves operands */
	opt_defaults(table, &parameters);
	opt_defaults(common_table, &common);
	status = opt_parse(n % 2 ? table : NULL, &parameters, common_table, &common, words, word,
	    &first);
	if (status == 0) {
		check(first >= 1 && first <= words, "first operand");
		check_values(&parameters);
	}
	check_status(status);
	opt_free(table, &parameters);
	opt_free(common_table, &common);
	while (words)
		free(kept[--words]);
	return 0;
}
