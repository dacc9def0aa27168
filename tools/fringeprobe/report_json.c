/* What was found, as JSON. */
#include <math.h>
#include <string.h>

#include "probe.h"

#define DEG (180 / M_PI)

/* A string; bytes that are no UTF-8 become U+FFFD. */
static void
put_string(FILE *to, const char *text)
{
	fputc('"', to);
	for (const unsigned char *c = (const unsigned char *)text; *c;) {
		size_t n = *c < 0x80 ? 1 : *c >= 0xc2 && *c < 0xe0 ? 2 : *c >= 0xe0 && *c < 0xf0 ?
		    3 : *c >= 0xf0 && *c < 0xf5 ? 4 : 0;

		for (size_t k = 1; k < n; k++)
			if ((c[k] & 0xc0) != 0x80)
				n = 0;
		if ((*c == 0xe0 && c[1] < 0xa0) || (*c == 0xed && c[1] > 0x9f) ||
		    (*c == 0xf0 && c[1] < 0x90) || (*c == 0xf4 && c[1] > 0x8f))
			n = 0;
		if (n == 0)
			fputs("\\ufffd", to);
		else if (*c == '"' || *c == '\\')
			fprintf(to, "\\%c", *c);
		else if (*c < 0x20 || *c == 0x7f)
			fprintf(to, "\\u%04x", *c);
		else
			fwrite(c, 1, n, to);
		c += n ? n : 1;
	}
	fputc('"', to);
}

struct number {
	const char *key;
	double v;
};

/* Members of an object, divided by commas; null where a number is not known. */
static void
put_numbers(FILE *to, const struct number *number, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		fprintf(to, "%s\"%s\": ", i ? ", " : "", number[i].key);
		if (isfinite(number[i].v))
			fprintf(to, "%.7g", number[i].v);
		else
			fputs("null", to);
	}
}

static void
put_names(const struct probe *probe, const char *key, const size_t *image, size_t n, FILE *to)
{
	fprintf(to, "\"%s\": [", key);
	for (size_t k = 0; k < n; k++) {
		fputs(k ? ", " : "", to);
		put_string(to, probe_name(probe, image[k]));
	}
	fputc(']', to);
}

static void
put_set(const struct probe *probe, const struct fringe_set *set, FILE *to)
{
	const struct steps *steps = &set->steps;
	const struct number numbers[] = { { "camera_period_px", set->period_px },
		{ "fringes", set->fringes }, { "mean", steps->mean },
		{ "amplitude", steps->amplitude }, { "modulation", steps->modulation },
		{ "residual", steps->residual }, { "noise", steps->noise } };

	fprintf(to, "{\"axis\": \"%c\", \"steps\": %zu, \"turn\": ", "xy"[set->axis], steps->n);
	if (set->order.of)
		fprintf(to, "%zu, ", set->order.of);
	else
		fputs("null, ", to);
	if (set->flat)
		fprintf(to, "\"flat\": %zu, ", set->flat);
	else
		fputs("\"flat\": null, ", to);
	put_names(probe, "images", steps->image, steps->n, to);
	fputs(", \"shift_deg\": [", to);
	for (size_t k = 0; k < steps->n; k++)
		fprintf(to, "%s%.5g", k ? ", " : "", steps->shift_rad[k] * DEG);
	fputs("], ", to);
	put_numbers(to, numbers, sizeof(numbers) / sizeof(*numbers));
	fputc('}', to);
}

static void
put_code(const struct probe *probe, const struct gray_code *code, FILE *to)
{
	static const char *const orders[] = { "msb-first", "lsb-first", "mixed" };
	static const char *const cells[] = { "null", "\"column\"", "\"period\"", "\"half\"" };
	const struct number numbers[] = { { "cells_per_period", code->cells },
		{ "begins_deg", code->cell ? code->edge_rad * DEG : (double)NAN },
		{ "agreement", code->agreement } };

	fprintf(to, "{\"axis\": \"%c\", ", "xy"[code->axis]);
	put_names(probe, "planes", code->plane, code->n, to);
	fputs(", ", to);
	put_names(probe, "inverses", code->inverse, code->inverses ? code->n : 0, to);
	fprintf(to, ", \"order\": \"%s\", \"pairs\": %s, \"cell\": %s, ", orders[code->order],
	    code->pairs ? "true" : "false", cells[code->cell]);
	put_numbers(to, numbers, sizeof(numbers) / sizeof(*numbers));
	fputc('}', to);
}

static void
put_image(const struct probe *probe, size_t i, FILE *to)
{
	static const char *const kinds[] = { "unknown", "fringes", "duplicate", "gray", "inverse",
		"white", "black" };

	fputs("{\"name\": ", to);
	put_string(to, probe_name(probe, i));
	fputs(", \"file\": ", to);
	put_string(to, probe->image[i]->path);
	fprintf(to, ", \"kind\": \"%s\"}", kinds[probe->sets.kind[i]]);
}

static void
put_flat(const struct probe *probe, const char *key, size_t image, FILE *to)
{
	fprintf(to, "  \"%s\": ", key);
	if (image == SIZE_MAX)
		fputs("null", to);
	else
		put_string(to, probe_name(probe, image));
	fputs(",\n", to);
}

static void
put_words(const struct probe *probe, FILE *to)
{
	fputs("  \"words\": [", to);
	for (size_t i = 0; i < probe->words; i++) {
		fputs(i ? ",\n    {\"word\": " : "\n    {\"word\": ", to);
		put_string(to, probe->word[i].text);
		fprintf(to, ", \"sure\": \"%s\", \"why\": ", certainty_words[probe->word[i].sure]);
		put_string(to, probe->word[i].why);
		fputc('}', to);
	}
	fputs("],\n", to);
}

static void
put_lists(const struct probe *probe, FILE *to)
{
	fputs("  \"images\": [", to);
	for (size_t i = 0; i < probe->n; i++) {
		fputs(i ? ",\n    " : "\n    ", to);
		put_image(probe, i, to);
	}
	fputs("],\n  \"sets\": [", to);
	for (size_t k = 0; k < probe->sets.n; k++) {
		fputs(k ? ",\n    " : "\n    ", to);
		put_set(probe, &probe->sets.fringe[k], to);
	}
	fputs("],\n  \"gray\": [", to);
	for (size_t c = 0; c < probe->gray.codes; c++) {
		fputs(c ? ",\n    " : "\n    ", to);
		put_code(probe, &probe->gray.code[c], to);
	}
	fputs("],\n  \"left_out\": [", to);
	for (size_t i = 0; i < probe->images.skips; i++) {
		fputs(i ? ",\n    {\"file\": " : "\n    {\"file\": ", to);
		put_string(to, probe->images.skip[i].path);
		fputs(", \"reason\": ", to);
		put_string(to, probe->images.skip[i].reason);
		fputc('}', to);
	}
	fputs("],\n  \"problems\": [", to);
	for (size_t i = 0; i < probe->problems; i++) {
		fputs(i ? ",\n    " : "\n    ", to);
		put_string(to, probe->problem[i]);
	}
	fputs("],\n", to);
}

void
report_json(const struct probe *probe, FILE *to)
{
	const struct frame_head *head = &probe->image[0]->head;

	fprintf(to, "{\n  \"width\": %zu,\n  \"height\": %zu,\n  \"type\": \"%s\",\n"
	    "  \"colour\": %s,\n  \"measurements\": %zu,\n  \"described\": %s,\n", head->w, head->h,
	    sample_name(head->type), probe->colour ? "true" : "false", probe->measurements,
	    probe->described ? "true" : "false");
	put_lists(probe, to);
	put_flat(probe, "white", probe->gray.white, to);
	put_flat(probe, "black", probe->gray.black, to);
	fputs("  ", to);
	put_numbers(to, &(struct number){ "saturation", probe->saturation }, 1);
	fputs(",\n  ", to);
	put_numbers(to, &(struct number){ "saturated", probe->saturated }, 1);
	fputs(",\n  ", to);
	put_numbers(to, &(struct number){ "unlit", probe->unlit.share }, 1);
	fprintf(to, ",\n  \"smoothed\": %s,\n", probe->smooth ? "true" : "false");
	put_words(probe, to);
	fputs("  \"command\": ", to);
	put_string(to, probe->line);
	fputs("\n}\n", to);
}
