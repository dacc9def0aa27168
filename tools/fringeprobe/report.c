/* The report: what is wrong with the images, and what was found, for people and as JSON. */
#include "fringeprobe.h"

#include "base/text.h"

/* ---- problems ---- */

void
probe_problem(struct probe *probe, const char *format, ...)
{
	va_list args;

	probe->problem = must_resize(probe->problem, probe->problems + 1, sizeof(char *));
	va_start(args, format);
	probe->problem[probe->problems++] = must_vformat(format, args);
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
			if (place != (lsb_first ? code->n - 1 - k : k))
				exchanged[n++ & 1] = code->plane[k];
		}
		if (n == 2)
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
		    probe_name(probe, exchanged[exchanged[0] > exchanged[1]]),
		    probe_name(probe, exchanged[exchanged[0] < exchanged[1]]));
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
		fprintf(to, ", off a sine by %.3g levels (%.3f of the amplitude)", steps->noise,
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

/* A line "what: text", and ": more" unless that is NULL. */
static void
put_line(const char *what, const char *text, const char *more, FILE *to)
{
	fprintf(to, "%s: ", what);
	escape_put_text(to, text);
	if (more) {
		fputs(": ", to);
		escape_put_text(to, more);
	}
	fputc('\n', to);
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
		fprintf(to, "%*s  %-7s  ", widest > strlen(word->text) ?
		    (int)(widest - strlen(word->text)) : 0, "", certainty_words[word->sure]);
		escape_put_text(to, word->why);
		fputc('\n', to);
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
	if (probe->gray.white != SIZE_MAX)
		put_line("white", probe_name(probe, probe->gray.white), NULL, to);
	if (probe->gray.black != SIZE_MAX)
		put_line("black", probe_name(probe, probe->gray.black), NULL, to);
	if (probe->chosen && !isinf(probe->saturation))
		fprintf(to, "saturated: %.3g %% of the pixels with light, at %g\n",
		    100 * probe->saturated, probe->saturation);
	if (probe->images.sorted)
		fputs("the files came as text sorts them, 1 10 2, and are taken in the order of "
		    "their numbers\n", to);
	for (size_t i = 0; i < probe->images.skips; i++)
		put_line("left out", probe->images.skip[i].path, probe->images.skip[i].reason, to);
	for (size_t i = 0; i < probe->problems; i++)
		put_line("problem", probe->problem[i], NULL, to);
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

/*
 * Prints JSON. In the format ' is a double quote, %s a string (NULL: null), %n a double of seven
 * digits (not finite: null), %z a size_t, %b a bool; all else is printed as it is.
 */
static void
json_put(FILE *to, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	for (const char *c = format; *c; c++) {
		char number[32] = "null";

		if (*c != '%') {
			fputc(*c == '\'' ? '"' : *c, to);
			continue;
		}
		if (*++c == 's') {
			const char *text = va_arg(args, const char *);

			if (text)
				json_string(to, text);
			else
				fputs("null", to);
			continue;
		}
		if (*c == 'n') {
			double v = va_arg(args, double);

			if (isfinite(v))
				snprintf(number, sizeof(number), "%.7g", v);
		} else if (*c == 'z') {
			snprintf(number, sizeof(number), "%zu", va_arg(args, size_t));
		} else {
			strcpy(number, va_arg(args, int) ? "true" : "false");
		}
		fputs(number, to);
	}
	va_end(args);
}

static void
json_names(const struct probe *probe, const char *key, const size_t *image, size_t n, FILE *to)
{
	json_put(to, "%s: [", key);
	for (size_t k = 0; k < n; k++)
		json_put(to, k ? ", %s" : "%s", probe_name(probe, image[k]));
	fputs("], ", to);
}

/* A count that is null where it is 0. */
static double
count_or_null(size_t n)
{
	return n ? (double)n : (double)NAN;
}

static void
json_set(const struct probe *probe, size_t k, FILE *to)
{
	const struct fringe_set *set = &probe->sets.fringe[k];
	const struct steps *steps = &set->steps;

	json_put(to, "{'axis': %s, 'steps': %z, 'turn': %n, 'flat': %n, 'sure': %s, ",
	    set->axis ? "y" : "x", steps->n, count_or_null(set->order.of),
	    count_or_null(set->flat), certainty_words[set->doubt ? SURE_GUESSED : SURE_FOUND]);
	json_names(probe, "images", steps->image, steps->n, to);
	json_put(to, "'shift_deg': [");
	for (size_t i = 0; i < steps->n; i++)
		fprintf(to, "%s%.5g", i ? ", " : "", steps->shift_rad[i] * DEG);
	json_put(to, "], 'camera_period_px': %n, 'fringes': %n, 'mean': %n, 'amplitude': %n, "
	    "'modulation': %n, 'residual': %n, 'noise': %n}", set->period_px, set->fringes,
	    steps->mean, steps->amplitude, steps->modulation, steps->residual, steps->noise);
}

static void
json_code(const struct probe *probe, size_t c, FILE *to)
{
	static const char *const orders[] = { "msb-first", "lsb-first", "mixed" };
	static const char *const cells[] = { NULL, "column", "period", "half" };
	const struct gray *gray = &probe->gray;
	const struct gray_code *code = c < gray->codes ? &gray->code[c] :
	    &gray->part[c - gray->codes];

	json_put(to, "{'axis': %s, ", code->axis ? "y" : "x");
	json_names(probe, "planes", code->plane, code->n, to);
	json_names(probe, "inverses", code->inverse, code->inverses ? code->n : 0, to);
	json_put(to, "'order': %s, 'pairs': %b, 'cell': %s, 'decodes': %b, 'sure': %s, "
	    "'cells_per_period': %n, 'cells_error': %n, 'begins_deg': %n, 'begins_error_deg': %n, "
	    "'agreement': %n, 'weak': %z, 'blurred': %z}", orders[code->order], code->pairs,
	    cells[code->cell], !code->missing,
	    certainty_words[code->doubt || code->either ? SURE_GUESSED : SURE_FOUND], code->cells,
	    code->cells_error, code->cell ? code->edge_rad * DEG : (double)NAN,
	    code->edge_error_rad * DEG, code->agreement, code->weak, code->blurred);
}

static void
json_image(const struct probe *probe, size_t i, FILE *to)
{
	static const char *const kinds[] = { "unknown", "fringes", "duplicate", "gray", "inverse",
		"white", "black" };

	json_put(to, "{'name': %s, 'file': %s, 'kind': %s}", probe_name(probe, i),
	    probe->image[i]->path, kinds[probe->sets.kind[i]]);
}

static void
json_word(const struct probe *probe, size_t i, FILE *to)
{
	const struct word *word = &probe->word[i];

	json_put(to, "{'word': %s, 'sure': %s, 'why': %s}", word->text,
	    certainty_words[word->sure], word->why);
}

static void
json_skip(const struct probe *probe, size_t i, FILE *to)
{
	json_put(to, "{'file': %s, 'reason': %s}", probe->images.skip[i].path,
	    probe->images.skip[i].reason);
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
	json_put(to, "  %s: [", key);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? ",\n    " : "\n    ", to);
		item(probe, i, to);
	}
	fputs("],\n", to);
}

static const char *
name_or_null(const struct probe *probe, size_t image)
{
	return image == SIZE_MAX ? NULL : probe_name(probe, image);
}

static void
json_capture(const struct probe *probe, FILE *to)
{
	const struct frame_head *head = &probe->image[0]->head;

	json_put(to, "{\n  'width': %z,\n  'height': %z,\n  'type': %s,\n  'colour': %b,\n"
	    "  'measurements': %z,\n  'described': %b,\n", head->w, head->h,
	    sample_name(head->type), probe->colour, probe->measurements, probe->described);
	json_list(probe, "images", probe->n, json_image, to);
	json_list(probe, "sets", probe->sets.n, json_set, to);
	json_list(probe, "gray", probe->gray.codes + probe->gray.parts, json_code, to);
	json_list(probe, "left_out", probe->images.skips, json_skip, to);
	json_list(probe, "problems", probe->problems, json_problem, to);
	json_put(to, "  'white': %s,\n  'black': %s,\n  'saturation': %n,\n  'saturated': %n,\n"
	    "  'unlit': %n,\n  'smoothed': %b,\n", name_or_null(probe, probe->gray.white),
	    name_or_null(probe, probe->gray.black), probe->saturation, probe->saturated,
	    probe->unlit.share, probe->averaged > 1);
	json_list(probe, "words", probe->words, json_word, to);
	if (probe->seen_line)
		json_put(to, "  'command_without_weak': %s,\n", probe->seen_line);
	json_put(to, "  'command': %s\n}", probe->line);
}

void
report_json(const struct probe *probe, size_t n, const char *line, FILE *to)
{
	json_put(to, n > 1 ? "{ 'captures': [\n" : "");
	for (size_t i = 0; i < n; i++) {
		fputs(i ? ",\n" : "", to);
		json_capture(&probe[i], to);
	}
	json_put(to, n > 1 ? "],\n  'command': %s }\n" : "\n", line);
}
