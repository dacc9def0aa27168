/* The report: what is wrong with the images, and what was found, for people and as JSON. */
#include "fringeprobe.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "base/text.h"

/* ---- problems ---- */

char *
text_of(const char *format, va_list args)
{
	char *text;
	va_list again;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, again);
	va_end(again);
	text = must_alloc(n > 0 ? (size_t)n + 1 : 1, 1);
	vsnprintf(text, (size_t)n + 1, format, args);
	return text;
}

void
probe_problem(struct probe *probe, const char *format, ...)
{
	va_list args;

	probe->problem = must_resize(probe->problem, probe->problems + 1, sizeof(char *));
	va_start(args, format);
	probe->problem[probe->problems++] = text_of(format, args);
	va_end(args);
}

/* The two planes that are in each other's place, most or least significant first; false: others. */
static bool
find_exchanged_planes(const struct gray_code *code, size_t exchanged[2])
{
	for (int lsb_first = 0; lsb_first < 2; lsb_first++) {
		size_t n = 0;

		for (size_t k = 0; k < code->n; k++) {
			size_t place = 0;

			for (size_t j = 0; j < code->n; j++)
				place += code->plane[j] < code->plane[k];
			if (place == (lsb_first ? code->n - 1 - k : k))
				continue;
			if (n < 2)
				exchanged[n] = code->plane[k];
			n++;
		}
		if (n != 2)
			continue;
		if (exchanged[0] > exchanged[1]) {
			size_t first = exchanged[1];

			exchanged[1] = exchanged[0];
			exchanged[0] = first;
		}
		return true;
	}
	return false;
}

/* What does not fit among the planes of a code. */
static void
find_plane_problems(struct probe *probe, const struct gray_code *code)
{
	size_t exchanged[2], seen = code->n - code->weak - code->blurred;
	bool one = code->swapped == 1;

	if (code->weak)
		probe_problem(probe, "%zu of the Gray planes, the finest from %s on, %s weak: only "
		    "a trace of their stripes is seen", code->weak,
		    probe_name(probe, code->plane[seen]), code->weak == 1 ? "is" : "are");
	if (code->blurred)
		probe_problem(probe, "%zu of the Gray planes, the finest, show%s no stripes",
		    code->blurred, code->blurred == 1 ? "s" : "");
	if (code->order == GRAY_MIXED && find_exchanged_planes(code, exchanged))
		probe_problem(probe, "the Gray planes %s and %s seem to be exchanged",
		    probe_name(probe, exchanged[0]), probe_name(probe, exchanged[1]));
	else if (code->order == GRAY_MIXED)
		probe_problem(probe, "the Gray planes come neither with the most nor with the "
		    "least significant first");
	for (size_t k = 0; k < code->n; k++)
		if (code->inverted[k])
			probe_problem(probe, "the Gray plane %s is inverted: it is bright where it "
			    "should be dark", probe_name(probe, code->plane[k]));
	if (code->swapped)
		probe_problem(probe, "%zu of the Gray planes %s changed place%s with %s inverse%s",
		    code->swapped, one ? "has" : "have", one ? "" : "s", one ? "its" : "their",
		    one ? "" : "s");
}

bool
probe_gap(const struct probe *probe, char text[200])
{
	size_t ones = 0, gaps = 0;

	*text = '\0';
	for (size_t i = 1; i < probe->n; i++) {
		const char *a = probe_name(probe, i - 1), *b = probe_name(probe, i);
		size_t stem = names_stem(a);
		const enum image_kind *kind = &probe->sets.kind[i];
		long step = stem == names_stem(b) && !strncmp(a, b, stem) ?
		    strtol(b + stem, NULL, 10) - strtol(a + stem, NULL, 10) : 0;

		ones += step == 1;
		gaps += step && step != 1;
		if (step == 2 && (kind[-1] >= KIND_GRAY || kind[0] >= KIND_GRAY))
			snprintf(text, 200, "by their numbers an image is missing between %.60s "
			    "and %.60s", a, b);
	}
	if (gaps != 1 || ones < 3)
		*text = '\0';
	return *text;
}

/* Of a code that is not complete, which decodes nothing. */
static void
find_missing_plane(struct probe *probe, const struct gray_code *part)
{
	char gap[200];
	const char *before_gap = probe_gap(probe, gap) ? "; " : "";
	const char *after = probe_name(probe, part->plane[part->gap]);
	const char *before = probe_name(probe, part->plane[part->gap ? part->gap - 1 : 0]);

	switch (part->missing) {
	case GRAY_COARSE_MISSING:
		probe_problem(probe, "a Gray plane is missing, as the code turns back where the "
		    "phase does not: all %zu planes are left out%s%s", part->n, before_gap, gap);
		break;
	case GRAY_TOO_COARSE:
		probe_problem(probe, "the Gray plane that is finer than %s is missing, as a cell "
		    "holds %.2f fringes: all %zu planes are left out%s%s",
		    probe_name(probe, part->plane[part->n - 1]), 1 / part->cells, part->n,
		    before_gap, gap);
		break;
	default:
		probe_problem(probe, "a Gray plane is missing between %s and %s: all %zu planes "
		    "are left out%s%s", before, after, part->n, before_gap, gap);
	}
}

/* What does not fit among the steps of a set. */
static void
find_step_problems(struct probe *probe, const struct fringe_set *set)
{
	const struct steps_order *order = &set->order;
	const size_t *image = set->steps.image;
	const char *first = probe_name(probe, image[0]);

	if (order->missing)
		probe_problem(probe, "the steps that begin with %s are %zu of %zu: %zu missing, "
		    "the first behind %s", first, set->steps.n, order->of, order->missing,
		    probe_name(probe, image[order->first_missing]));
	if (!order->ordered && order->exchanged[0] != order->exchanged[1])
		probe_problem(probe, "%s and %s seem to be exchanged",
		    probe_name(probe, order->was[order->exchanged[0]]),
		    probe_name(probe, order->was[order->exchanged[1]]));
	else if (!order->ordered)
		probe_problem(probe, "the steps that begin with %s do not come in the order of "
		    "their shifts", first);
	if (order->gap_rad > PROBE_GAP_MOST)
		probe_problem(probe, "the shifts of the steps that begin with %s lie within %.0f "
		    "degrees of a turn, and are found about only", first,
		    360 - order->gap_rad * DEG);
}

void
problems_find(struct probe *probe)
{
	const struct sets *sets = &probe->sets;
	const struct gray *gray = &probe->gray;

	for (size_t k = 0; k < sets->n; k++)
		find_step_problems(probe, &sets->fringe[k]);
	for (size_t i = 0; i < probe->n; i++)
		if (sets->kind[i] == KIND_TWIN)
			probe_problem(probe, "%s shows the same as %s: it is left out",
			    probe_name(probe, i), probe_name(probe, sets->other[i]));
		else if (sets->kind[i] == KIND_UNKNOWN)
			probe_problem(probe, "%s fits neither fringes nor a Gray code: it is left "
			    "out", probe_name(probe, i));
	for (size_t c = 0; c < gray->codes; c++)
		find_plane_problems(probe, &gray->code[c]);
	for (size_t c = 0; c < gray->parts; c++)
		find_missing_plane(probe, &gray->part[c]);
}

/* "4 images, a.png to d.png," or "the image a.png": those whose values lie between bright and dark
 * as those of fringes do, or do not. False: there are none. */
static bool
name_images(const struct probe *probe, bool fringes, char text[160])
{
	size_t first = 0, last = 0, n = 0;

	for (size_t i = 0; i < probe->n; i++) {
		double between = fringeprobe_rows()->image_between(&probe->sets.field[0], i);

		if ((between > SINUSOID) != fringes)
			continue;
		first = n ? first : i;
		last = i;
		n++;
	}
	if (n == 1)
		snprintf(text, 160, "%.60s", probe_name(probe, first));
	else
		snprintf(text, 160, "%zu images from %.60s to %.60s", n, probe_name(probe, first),
		    probe_name(probe, last));
	return n > 0;
}

const char *
problems_guess(const struct probe *probe, char text[480])
{
	char fringes[160], planes[160];
	bool some = name_images(probe, true, fringes), others = name_images(probe, false, planes);

	text[0] = '\0';
	if (some && others)
		snprintf(text, 480, "; by their values %s may be fringes and %s a Gray code: "
		    "is one missing, exchanged or of another measurement?", fringes, planes);
	else if (some)
		snprintf(text, 480, "; by their values %s may be fringes: is one missing, or do "
		    "they show different places?", fringes);
	return text;
}

/* ---- for people ---- */

#define MAX_LISTED_NAMES 4		/* names; more in a row are "a to b" */

static void
put_names(const struct probe *probe, const size_t *image, size_t n, FILE *to)
{
	bool row = n > MAX_LISTED_NAMES;

	for (size_t k = 1; k < n && row; k++)
		row = image[k] == image[k - 1] + 1;
	fputs("   ", to);
	for (size_t k = 0; k < n; k++) {
		if (row && k == 1) {
			fputs(" to", to);
			k = n - 1;
		}
		fputc(' ', to);
		escape_put_text(to, probe_name(probe, image[k]));
	}
	fputc('\n', to);
}

static void
put_set(const struct probe *probe, const struct fringe_set *set, FILE *to)
{
	const struct steps *steps = &set->steps;

	fprintf(to, "fringes along %c: ", "xy"[set->axis]);
	if (set->flat)
		fputs("2+1 images", to);
	else
		fprintf(to, "%zu steps", steps->n);
	if (set->order.of)
		fprintf(to, " of %.4g degrees", 360.0 / (double)set->order.of);
	fprintf(to, ", period %.1f px on the camera, %.1f in view\n", set->period_px, set->fringes);
	put_names(probe, steps->image, steps->n, to);
	fprintf(to, "    mean %.4g, amplitude %.4g, modulation %.2f", steps->mean,
	    steps->amplitude, steps->modulation);
	if (!isnan(steps->residual))
		fprintf(to, ", noise %.3g levels (%.3f of the amplitude)", steps->noise,
		    steps->residual);
	fputc('\n', to);
}

static void
put_code(const struct probe *probe, const struct gray_code *code, FILE *to)
{
	static const char *const orders[] = { "the most significant first",
		"the least significant first", "in mixed order" };

	fprintf(to, "Gray code along %c: %zu planes, %s%s", "xy"[code->axis], code->n,
	    orders[code->order],
	    !code->inverses ? "" : code->pairs ? ", each with its inverse" : ", and inverses");
	if (!isnan(code->cells))
		fprintf(to, ", %.3f cells in a fringe", code->cells);
	fputc('\n', to);
	put_names(probe, code->plane, code->n, to);
	if (code->inverses)
		put_names(probe, code->inverse, code->n, to);
}

static void
put_flat(const struct probe *probe, const char *what, size_t image, FILE *to)
{
	if (image == SIZE_MAX)
		return;
	fprintf(to, "%s: ", what);
	escape_put_text(to, probe_name(probe, image));
	fputc('\n', to);
}

static void
put_saturation(const struct probe *probe, FILE *to)
{
	if (!probe->chosen || isinf(probe->saturation))
		return;
	fprintf(to, "saturated: %.2g %% of the pixels with light, at %g\n", 100 * probe->saturated,
	    probe->saturation);
}

static void
put_frequencies(const struct probe *probe, FILE *to)
{
	const struct frequencies *all = &probe->frequencies;

	if (probe->chosen < 2 || !(all->ratio[0] > 0))
		return;
	fputs("frequencies, as parts of the finest:", to);
	for (size_t k = 0; k < probe->chosen; k++)
		fprintf(to, " %.5f", all->ratio[k]);
	fputc('\n', to);
}

static void
put_words(const struct probe *probe, FILE *to)
{
	size_t widest = 0;

	/* stages are no options, and their paths are long */
	for (size_t i = 0; i < probe->words; i++)
		if (probe->word[i].stage != WORD_STAGE && strlen(probe->word[i].text) > widest)
			widest = strlen(probe->word[i].text);
	fputs(widest || probe->look ? "words of the command\n" : "the images say themselves what "
	    "they are: the command needs no options\n", to);
	for (size_t i = 0; i < probe->words; i++) {
		const struct word *word = &probe->word[i];

		fputs("    ", to);
		escape_put_text(to, word->text);
		fprintf(to, "%*s  %-7s  %s\n", widest > strlen(word->text) ?
		    (int)(widest - strlen(word->text)) : 0, "", certainty_words[word->sure],
		    word->why);
	}
}

/* The images that show the same kind of thing each by itself. */
static void
put_looks(const struct probe *probe, FILE *to)
{
	static const char *const kinds[] = { "nothing that is known here", "single fringe images",
		"laser lines", "chessboards" };
	size_t *image = must_alloc(probe->n, sizeof(*image));

	for (int kind = 0; kind < LOOK_KINDS; kind++) {
		size_t n = 0;

		for (size_t i = 0; i < probe->n; i++)
			if ((int)probe->look[i].kind == kind)
				image[n++] = i;
		if (n == 0)
			continue;
		fprintf(to, "no steps of fringes: %s\n", kinds[kind]);
		put_names(probe, image, n, to);
	}
	free(image);
}

static void
put_capture(const struct probe *probe, FILE *to)
{
	const struct frame_head *head = &probe->image[0]->head;

	if (probe->name) {
		fputs(probe->side == SIDE_NONE ? "capture " : probe->side == SIDE_LEFT ?
		    "left camera " : "right camera ", to);
		escape_put_text(to, probe->name);
		fputs(": ", to);
	}
	fprintf(to, "%zu image%s of %zu x %zu %s%s\n", probe->n, probe->n == 1 ? "" : "s",
	    head->w, head->h, sample_name(head->type),
	    probe->colour ? ", in colour" : "");
	if (probe->measurements > 1)
		fprintf(to, "the first of %zu measurements\n", probe->measurements);
	if (probe->averaged > 1)
		fprintf(to, "noisy: looked at as means of %zu pixels\n", probe->averaged);
	for (size_t k = 0; k < probe->sets.n; k++)
		put_set(probe, &probe->sets.fringe[k], to);
	put_frequencies(probe, to);
	for (size_t c = 0; c < probe->gray.codes; c++)
		put_code(probe, &probe->gray.code[c], to);
	put_flat(probe, "white", probe->gray.white, to);
	put_flat(probe, "black", probe->gray.black, to);
	put_saturation(probe, to);
	if (probe->images.sorted)
		fputs("the files came as text sorts them, 1 10 2, and are taken in the order of "
		    "their numbers\n", to);
	for (size_t i = 0; i < probe->images.skips; i++) {
		fputs("left out: ", to);
		escape_put_text(to, probe->images.skip[i].path);
		fputs(": ", to);
		escape_put_text(to, probe->images.skip[i].reason);
		fputc('\n', to);
	}
	for (size_t i = 0; i < probe->problems; i++) {
		fputs("problem: ", to);
		escape_put_text(to, probe->problem[i]);
		fputc('\n', to);
	}
	if (probe->look)
		put_looks(probe, to);
	put_words(probe, to);
}

void
report_text(const struct probe *probe, size_t n, const char *line, FILE *to)
{
	for (size_t i = 0; i < n; i++) {
		if (i)
			fputc('\n', to);
		put_capture(&probe[i], to);
	}
	if (n == 1 && probe->seen_line)
		fprintf(to, "without the Gray planes that are weak:\n%s\nand with them:\n",
		    probe->seen_line);
	fprintf(to, "%s\n", line);
}

/* ---- as JSON ---- */

/* A string; bytes that are no UTF-8 become U+FFFD. */
static void
json_string(FILE *to, const char *text)
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
json_numbers(FILE *to, const struct number *number, size_t n)
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
json_names(const struct probe *probe, const char *key, const size_t *image, size_t n, FILE *to)
{
	fprintf(to, "\"%s\": [", key);
	for (size_t k = 0; k < n; k++) {
		fputs(k ? ", " : "", to);
		json_string(to, probe_name(probe, image[k]));
	}
	fputc(']', to);
}

static void
json_set(const struct probe *probe, size_t k, FILE *to)
{
	const struct fringe_set *set = &probe->sets.fringe[k];
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
	fprintf(to, "\"sure\": \"%s\", ", certainty_words[set->doubt ? SURE_GUESSED : SURE_FOUND]);
	json_names(probe, "images", steps->image, steps->n, to);
	fputs(", \"shift_deg\": [", to);
	for (size_t i = 0; i < steps->n; i++)
		fprintf(to, "%s%.5g", i ? ", " : "", steps->shift_rad[i] * DEG);
	fputs("], ", to);
	json_numbers(to, numbers, sizeof(numbers) / sizeof(*numbers));
	fputc('}', to);
}

static void
json_code(const struct probe *probe, size_t c, FILE *to)
{
	const struct gray *gray = &probe->gray;
	const struct gray_code *code = c < gray->codes ? &gray->code[c] :
	    &gray->part[c - gray->codes];
	static const char *const orders[] = { "msb-first", "lsb-first", "mixed" };
	static const char *const cells[] = { "null", "\"column\"", "\"period\"", "\"half\"" };
	const struct number numbers[] = { { "cells_per_period", code->cells },
		{ "cells_error", code->cells_error },
		{ "begins_deg", code->cell ? code->edge_rad * DEG : (double)NAN },
		{ "begins_error_deg", code->edge_error_rad * DEG },
		{ "agreement", code->agreement }, { "weak", (double)code->weak },
		{ "blurred", (double)code->blurred } };

	fprintf(to, "{\"axis\": \"%c\", ", "xy"[code->axis]);
	json_names(probe, "planes", code->plane, code->n, to);
	fputs(", ", to);
	json_names(probe, "inverses", code->inverse, code->inverses ? code->n : 0, to);
	fprintf(to, ", \"order\": \"%s\", \"pairs\": %s, \"cell\": %s, "
	    "\"decodes\": %s, \"sure\": \"%s\", ", orders[code->order],
	    code->pairs ? "true" : "false", cells[code->cell], code->missing ? "false" : "true",
	    certainty_words[code->doubt || code->either ? SURE_GUESSED : SURE_FOUND]);
	json_numbers(to, numbers, sizeof(numbers) / sizeof(*numbers));
	fputc('}', to);
}

static void
json_image(const struct probe *probe, size_t i, FILE *to)
{
	static const char *const kinds[] = { "unknown", "fringes", "duplicate", "gray", "inverse",
		"white", "black" };

	fputs("{\"name\": ", to);
	json_string(to, probe_name(probe, i));
	fputs(", \"file\": ", to);
	json_string(to, probe->image[i]->path);
	fprintf(to, ", \"kind\": \"%s\"}", kinds[probe->sets.kind[i]]);
}

static void
json_flat(const struct probe *probe, const char *key, size_t image, FILE *to)
{
	fprintf(to, "  \"%s\": ", key);
	if (image == SIZE_MAX)
		fputs("null", to);
	else
		json_string(to, probe_name(probe, image));
	fputs(",\n", to);
}

static void
json_word(const struct probe *probe, size_t i, FILE *to)
{
	const struct word *word = &probe->word[i];

	fputs("{\"word\": ", to);
	json_string(to, word->text);
	fprintf(to, ", \"sure\": \"%s\", \"why\": ", certainty_words[word->sure]);
	json_string(to, word->why);
	fputc('}', to);
}

static void
json_skip(const struct probe *probe, size_t i, FILE *to)
{
	fputs("{\"file\": ", to);
	json_string(to, probe->images.skip[i].path);
	fputs(", \"reason\": ", to);
	json_string(to, probe->images.skip[i].reason);
	fputc('}', to);
}

static void
json_problem(const struct probe *probe, size_t i, FILE *to)
{
	json_string(to, probe->problem[i]);
}

/* A member that is a list, one item a line. */
static void
json_list(const struct probe *probe, const char *key, size_t n,
    void (*item)(const struct probe *, size_t i, FILE *), FILE *to)
{
	fprintf(to, "  \"%s\": [", key);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? ",\n    " : "\n    ", to);
		item(probe, i, to);
	}
	fputs("],\n", to);
}

static void
json_capture(const struct probe *probe, FILE *to)
{
	const struct frame_head *head = &probe->image[0]->head;
	const struct number numbers[] = { { "saturation", probe->saturation },
		{ "saturated", probe->saturated }, { "unlit", probe->unlit.share } };

	fprintf(to, "{\n  \"width\": %zu,\n  \"height\": %zu,\n  \"type\": \"%s\",\n"
	    "  \"colour\": %s,\n  \"measurements\": %zu,\n  \"described\": %s,\n", head->w, head->h,
	    sample_name(head->type), probe->colour ? "true" : "false", probe->measurements,
	    probe->described ? "true" : "false");
	json_list(probe, "images", probe->n, json_image, to);
	json_list(probe, "sets", probe->sets.n, json_set, to);
	json_list(probe, "gray", probe->gray.codes + probe->gray.parts, json_code, to);
	json_list(probe, "left_out", probe->images.skips, json_skip, to);
	json_list(probe, "problems", probe->problems, json_problem, to);
	json_flat(probe, "white", probe->gray.white, to);
	json_flat(probe, "black", probe->gray.black, to);
	for (size_t i = 0; i < 3; i++) {
		fputs("  ", to);
		json_numbers(to, &numbers[i], 1);
		fputs(",\n", to);
	}
	fprintf(to, "  \"smoothed\": %s,\n", probe->averaged > 1 ? "true" : "false");
	json_list(probe, "words", probe->words, json_word, to);
	if (probe->seen_line) {
		fputs("  \"command_without_weak\": ", to);
		json_string(to, probe->seen_line);
		fputs(",\n", to);
	}
	fputs("  \"command\": ", to);
	json_string(to, probe->line);
	fputs("\n}", to);
}

void
report_json(const struct probe *probe, size_t n, const char *line, FILE *to)
{
	if (n > 1)
		fputs("{ \"captures\": [\n", to);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? ",\n" : "", to);
		json_capture(&probe[i], to);
	}
	if (n > 1) {
		fputs("],\n  \"command\": ", to);
		json_string(to, line);
		fputs(" }", to);
	}
	fputc('\n', to);
}
