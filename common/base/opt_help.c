/* The texts that an option table gives: --help and the completion words; declared in opt.h. */
#include "base/opt_rows.h"

const char *
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
