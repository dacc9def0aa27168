/*
 * The command that decodes the images: its words, how sure each one is and why, and the files in
 * the order in which phasewrap takes them.
 */
#include "fringeprobe.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "base/process.h"
#include "base/text.h"

const char *const certainty_words[] = { "certain", "found", "guessed", "unknown", NULL };

/* Adds a word to the command. */
static void
add_word(struct probe *probe, enum certainty sure, const char *why, const char *format, ...)
{
	struct word word = { .why = must_strdup(why), .sure = sure };
	va_list args;

	va_start(args, format);
	word.text = text_of(format, args);
	va_end(args);
	probe->word = must_resize(probe->word, probe->words + 1, sizeof(word));
	probe->word[probe->words++] = word;
}

/* A reason in which numbers stand, for add_word(): text. */
static const char *
reason(char text[300], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(text, 300, format, args);
	va_end(args);
	return text;
}

/* ---- files ---- */

struct list {
	size_t n, *image;
};

/* A control character, or one of the two bytes of a C1 control in UTF-8, or alone? */
static bool
is_control(const char *word, const char *c)
{
	unsigned char at = (unsigned char)*c, before = c > word ? (unsigned char)c[-1] : 0;
	unsigned char next = at ? (unsigned char)c[1] : 0;

	if (at == 0xc2)
		return next < 0xa0;
	return at < 0x20 || at == 0x7f || (at >= 0x80 && at < 0xa0 && (before < 0x80 ||
	    before == 0xc2));
}

/* A word for a shell, a new string: as it is, in quotes, or with its control characters spelt. */
static char *
quoted(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "0123456789_-+=./:@%,";
	char *text = must_alloc(4 * strlen(word) + 4, 1), *to = text;
	bool control = false;

	for (const char *c = word; *c; c++)
		control |= is_control(word, c);
	if (!control && word[strspn(word, plain)] == '\0' && strcmp(word, ",") && *word)
		return strcpy(text, word);
	to = stpcpy(to, control ? "$'" : "'");
	for (const char *c = word; *c; c++)
		if (is_control(word, c))
			to += sprintf(to, "\\x%02x", (unsigned char)*c);
		else if (control && (*c == '\'' || *c == '\\'))
			to += sprintf(to, "\\%c", *c);
		else if (*c == '\'')
			to = stpcpy(to, "'\\''");
		else
			*to++ = *c;
	strcpy(to, "'");
	return text;
}

/* Adds a path to the command's files. "-x" and "," are no options and no end of a stage. */
static void
put_path(FILE *to, const char *path)
{
	bool plain = !((*path == '-' && path[1]) || !strcmp(path, ","));
	char *safe = must_format("%s%s", plain ? "" : "./", path), *word = quoted(safe);

	fprintf(to, " %s", word);
	free(word);
	free(safe);
}

static void
add_phases(const struct probe *probe, bool by_step, struct list *list)
{
	size_t sets = probe->chosen, steps = sets ? probe->sets.fringe[probe->set[0]].steps.n : 0;

	for (size_t i = 0; i < sets * steps; i++) {
		size_t set = by_step ? i % sets : i / steps, step = by_step ? i / sets : i % steps;

		list->image[list->n++] = probe->sets.fringe[probe->set[set]].steps.image[step];
	}
}

static void
add_gray(const struct probe *probe, bool pairs, bool lsb_first, struct list *list)
{
	for (size_t c = 0; c < probe->gray.codes; c++) {
		const struct gray_code *code = &probe->gray.code[c];
		size_t all = code->inverses ? 2 * code->n : code->n;

		for (size_t i = 0; i < all; i++) {
			bool inverse = pairs && code->inverses ? i % 2 : i >= code->n;
			size_t k = pairs && code->inverses ? i / 2 : i % code->n;

			k = lsb_first ? code->n - 1 - k : k;
			list->image[list->n++] = inverse ? code->inverse[k] : code->plane[k];
		}
	}
}

/* Are there a white and a black image, which are wanted as thresholds of planes without inverses
 * only? */
static bool
wants_flats(const struct gray *gray)
{
	return gray->codes && !gray->code[0].inverses && gray->white != SIZE_MAX &&
	    gray->black != SIZE_MAX;
}

static const char *const order_words[] = { "phase,gray,flat", "phase,flat,gray", "gray,phase,flat",
	"gray,flat,phase", "flat,phase,gray", "flat,gray,phase", NULL };

/* groups: one of order_words, of which the first letters count. */
static void
make_list(const struct probe *probe, const char *groups, unsigned flags, struct list *list)
{
	list->n = 0;
	for (const char *group = groups; group; group = strchr(group, ',')) {
		group += *group == ',';
		if (*group == 'p') {
			add_phases(probe, flags & 1, list);
		} else if (*group == 'g') {
			add_gray(probe, flags & 2, flags & 4, list);
		} else if (wants_flats(&probe->gray)) {
			list->image[list->n++] = probe->gray.white;
			list->image[list->n++] = probe->gray.black;
		}
	}
}

/* Are the images in this order, and no others between them? */
static bool
is_order(const struct probe *probe, const struct list *list)
{
	bool same = list->n == probe->n;

	for (size_t i = 0; i < list->n && same; i++)
		same = list->image[i] == i;
	return same;
}

/* The word for the order of images in files that hold several and are taken as they are. */
static void
add_order(struct probe *probe, struct list *list)
{
	for (const char *const *groups = order_words; *groups; groups++)
		for (unsigned flags = 0; flags < 8; flags++) {
			make_list(probe, *groups, flags, list);
			if (!is_order(probe, list))
				continue;
			if (groups != order_words || flags)
				add_word(probe, SURE_FOUND, "the order of the images in their file",
				    "--order %s%s%s%s", *groups, flags & 1 ? ",by-step" : "",
				    flags & 2 ? ",pairs" : "", flags & 4 ? ",lsb-first" : "");
			return;
		}
	add_word(probe, SURE_UNKNOWN, "the images stand in an order that no word names, or with "
	    "others between: framecat --split makes files of them", "--order ORDER");
}

/* An image that was left out, in a file of which others are taken; NULL: none. */
static const struct image *
find_left(const struct probe *probe)
{
	for (size_t i = 0; i < probe->images.n; i++) {
		const struct image *image = &probe->images.image[i];

		for (size_t k = 0; k < probe->n && image->left && image->of_file > 1; k++)
			if (!strcmp(probe->image[k]->path, image->path))
				return image;
	}
	return NULL;
}

/* A Gray plane that is inverted, which no word of the command can say; NULL: none. */
static const struct image *
find_inverted(const struct probe *probe)
{
	for (size_t c = 0; c < probe->gray.codes; c++)
		for (size_t k = 0; k < probe->gray.code[c].n; k++)
			if (probe->gray.code[c].inverted[k])
				return probe->image[probe->gray.code[c].plane[k]];
	return NULL;
}

static void
add_unknown_files(struct probe *probe, const struct image *image, const char *what)
{
	char *why = must_format("%s %s", image->name, what);

	add_word(probe, SURE_UNKNOWN, why, "FILES");
	free(why);
}

/* The file operands, and --order where they hold several images each. */
static void
add_files(struct probe *probe, FILE *to)
{
	struct list list = { 0, must_alloc(2 * probe->n + 8, sizeof(*list.image)) };
	const struct image *left = probe->manifest_path ? NULL : find_left(probe);
	const struct image *inverted = find_inverted(probe);
	bool whole = false;

	for (size_t i = 0; i < probe->n; i++)
		whole |= probe->image[i]->of_file > 1;
	whole |= probe->described;
	if (left || inverted) {
		add_unknown_files(probe, left ? left : inverted, left ? "is left out, its file "
		    "holds others that are not: framecat --split makes files of them" :
		    "is inverted: the files in their order, when it is made right");
	} else if (whole) {
		if (!probe->described)
			add_order(probe, &list);
		/* each file once */
		for (size_t i = 0; i < probe->n && (!probe->manifest_path || probe->operands); i++)
			if (probe->image[i]->in_file == 0 || i == 0 ||
			    strcmp(probe->image[i]->path, probe->image[i - 1]->path))
				put_path(to, probe->image[i]->path);
	} else {
		make_list(probe, order_words[0], 0, &list);
		for (size_t i = 0; i < list.n; i++)
			put_path(to, probe->image[list.image[i]]->path);
	}
	free(list.image);
}

/* ---- fringes: steps, periods, axis, shifts, origin ---- */

#define MAX_THREE_ERROR_DEG 5	/* of shifts of three images: farther off, they are no equal ones */

static const struct fringe_set *
first_set(const struct probe *probe)
{
	return probe->chosen ? &probe->sets.fringe[probe->set[0]] : NULL;
}

/* The Gray code along the axis of the first set, or the only one; NULL: none. */
static const struct gray_code *
fringe_code(const struct probe *probe)
{
	const struct fringe_set *set = first_set(probe);

	for (size_t c = 0; c < probe->gray.codes; c++)
		if (!set || probe->gray.code[c].axis == set->axis)
			return &probe->gray.code[c];
	return NULL;
}

/* Does the phase grow against the line: does a Gray code say that columns do? */
static bool
falls(const struct probe *probe)
{
	const struct gray_code *code = fringe_code(probe);

	return code && !isnan(code->cells) && code->falls;
}

/* Images that fit nothing. */
static size_t
count_unknown(const struct probe *probe)
{
	size_t n = 0;

	for (size_t i = 0; i < probe->n; i++)
		n += probe->sets.kind[i] == KIND_UNKNOWN;
	return n;
}

/* --steps, or --kind 2+1. */
static void
add_steps(struct probe *probe)
{
	const struct fringe_set *set = first_set(probe);
	size_t n = set->steps.n, unknown = count_unknown(probe);
	bool whole = set->order.of == n && set->order.ordered;
	double error_deg = set->order.error_rad * DEG;
	char why[300], text[200];

	if (set->flat) {
		add_word(probe, SURE_FOUND, "two images lie on a circle about the third, as a sine "
		    "and a cosine do about a flat image", "-k 2+1");
		if (set->flat != 3)
			add_word(probe, SURE_FOUND, "this one of three is flat", "--flat %zu",
			    set->flat);
		return;
	}
	if (set->order.of)
		snprintf(text, sizeof(text), "%zu images with shifts of 360/%zu degrees, which fit "
		    "within %.1f", n, set->order.of, error_deg);
	else
		snprintf(text, sizeof(text), "%zu images with unequal shifts", n);
	if (n == 3 && error_deg > MAX_THREE_ERROR_DEG)
		add_word(probe, SURE_GUESSED, reason(why, "%s: three images fit whatever they are, "
		    "2+1 among others", text), "-n 3");
	else if (whole || unknown == 0)
		add_word(probe, SURE_FOUND, text, "-n %zu", n);
	else
		add_word(probe, SURE_GUESSED, reason(why, "%s; but %zu image%s nothing", text,
		    unknown, unknown == 1 ? " fits" : "s fit"), "-n %zu", n);
}

/* "40,41", or as many placeholders as there are sets: PERIOD1,PERIOD2. */
static void
list_periods(const struct probe *probe, char list[32 * SETS_MOST])
{
	char number[32];

	for (size_t k = 0; k < probe->chosen; k++) {
		double v = probe->frequencies.value[k];

		list = stpcpy(list, k ? "," : "");
		if (!isnan(v))
			list = stpcpy(list, number_format(v == round(v) ? v : round(v * 1e4) / 1e4,
			    number));
		else if (probe->chosen > 1)
			list += sprintf(list, "PERIOD%zu", k + 1);
		else
			list = stpcpy(list, "PERIOD");
	}
}

static void
add_periods(struct probe *probe)
{
	const struct frequencies *all = &probe->frequencies;
	size_t other = all->finest ? 0 : probe->chosen - 1;
	char list[32 * SETS_MOST], why[300];

	list_periods(probe, list);
	switch (all->source) {
	case FREQUENCY_UNKNOWN:
		reason(why, "no image says how many projector pixels %s wide",
		    probe->chosen == 1 ? "a fringe is" : "the fringes are");
		if (probe->chosen > 1 && all->ratio[0] > 0)
			reason(why, "the frequencies are as %.4f to %.4f, which several whole "
			    "numbers fit", all->ratio[0], all->ratio[1]);
		add_word(probe, SURE_UNKNOWN, why, "-p %s", list);
		return;
	case FREQUENCY_GRAY:
		if (count_unknown(probe))
			add_word(probe, SURE_UNKNOWN, "a Gray code counts columns, but images fit "
			    "nothing, which may be its finest planes", "-p PERIOD");
		else
			add_word(probe, SURE_GUESSED, "columns of the Gray code in a period, if "
			    "its finest plane is one column wide", "-p %s", list);
		return;
	default:
		add_word(probe, SURE_FOUND, reason(why, "%s of the ratio that the images have, "
		    "%.5f", all->source == FREQUENCY_NAMES ? "numbers in the names," :
		    "the only small numbers", all->ratio[other]),
		    all->periods ? "-p %s" : "--count %s", list);
		if (!all->periods)
			add_word(probe, SURE_UNKNOWN, "the projector pixels that so many fringes "
			    "take: no image says it", "--field FIELD");
	}
}

static void
add_axis(struct probe *probe)
{
	char list[2 * SETS_MOST + 1] = "";
	bool y = false;

	for (size_t k = 0; k < probe->chosen; k++) {
		int axis = probe->sets.fringe[probe->set[k]].axis;

		sprintf(list + strlen(list), "%s%c", k ? "," : "", "xy"[axis]);
		y |= axis;
	}
	if (!strchr(list, 'x'))
		list[1] = '\0';
	if (y)
		add_word(probe, SURE_GUESSED, "the phase varies along these lines of the image, "
		    "and of the projector if the camera is not turned", "-a %s", list);
}

/*
 * The nearest usual angle, if it is near: a multiple of 90 or 30 degrees, or of the steps. An edge
 * of the Gray code lies half a projector pixel before the place where the phase is zero, which is
 * up to 12 degrees, 3 for a period of 60 pixels.
 */
static double
usual_angle(double deg, bool edge, size_t of)
{
	double step[] = { 90, 30, of ? 360 / (double)of : 30 }, best = round(deg);
	double least = edge ? 15 : 11, expected = edge ? 3 : 0;

	for (int i = 0; i < 3; i++) {
		double near = round((deg + expected) / step[i]) * step[i];
		double off = fabs(near - deg - expected) + (i ? 4 : 0);

		if (off < least) {
			least = off;
			best = near;
		}
	}
	return (best <= -180 ? best + 360 : best) + 0.0; /* not -0 */
}

/* Phase at the beginning, in degrees, with shifts from 0; how it is known. */
static enum certainty
find_origin(const struct probe *probe, double *deg, char why[300])
{
	const struct gray_code *code = fringe_code(probe);
	const struct frequencies *all = &probe->frequencies;
	bool by_code = code && code->edge_coherence > 0.5 && code->cell != GRAY_CELL_UNKNOWN;
	double found = (by_code ? code->edge_rad : all->origin_rad) * DEG;

	*deg = 0;
	if (!by_code && !all->origin_known) {
		reason(why, "nothing tells where the phase begins");
		return SURE_GUESSED;
	}
	*deg = usual_angle(found, by_code && code->cell != GRAY_CELL_COLUMN,
	    first_set(probe)->order.of);
	reason(why, by_code ? "the Gray code's %s at %.1f degrees of the phase" :
	    "the phases %s at %.1f degrees", !by_code ? "meet" : code->cell == GRAY_CELL_COLUMN ?
	    "column 0 lies" : "periods begin", *deg + remainder(found - *deg, 360));
	return SURE_FOUND;
}

/* The images' own shifts, of 360/of degrees or as measured, in the direction of the sign. */
static void
add_own_shifts(struct probe *probe, const struct fringe_set *set)
{
	char list[32 * STEPS_MOST] = "", *to = list, number[32];

	for (size_t k = 0; k < set->steps.n; k++) {
		double deg = fmod(set->order.sign * set->steps.shift_rad[k] * DEG, 360);

		deg = deg < -1e-9 ? deg + 360 : deg;
		to += sprintf(to, "%s%s", k ? "," : "",
		    number_format(round(deg * 100) / 100, number));
	}
	add_word(probe, set->order.gap_rad > PROBE_GAP_MOST ? SURE_GUESSED : SURE_FOUND,
	    "the images' own shifts", "--shift %s", list);
}

/* Three steps are projected in two ways, which differ in the origin: the one is taken that has
 * none, and without an origin that of the papers. */
static void
add_three_shifts(struct probe *probe, enum certainty sure, int sign, double *origin, char why[300])
{
	double other = remainder(*origin + sign * 120, 360);
	size_t length = strlen(why);

	if (sure != SURE_GUESSED && fabs(*origin) < fabs(other)) {
		add_word(probe, sure, "three equal steps; the first one has no shift, by where the "
		    "phase begins", "--shift 0,120,240");
		return;
	}
	if (sure != SURE_GUESSED) {
		*origin = usual_angle(other, false, 3);
		snprintf(why + length, 300 - length, " of the first image, which has -120 in "
		    "--shift");
	}
	add_word(probe, sure, sure == SURE_GUESSED ? "three equal steps; others begin with 0, "
	    "which nothing tells apart here" : "three equal steps; the middle one has no shift, by "
	    "where the phase begins", "--shift -120,0,120");
}

static void
add_sign(struct probe *probe, int sign)
{
	const struct gray_code *code = fringe_code(probe);
	bool y = first_set(probe)->axis;
	char why[300];

	if (code && falls(probe))
		reason(why, "the Gray code falls %s: the projector's %s do, or its most "
		    "significant plane is inverted", y ? "downwards" : "to the right",
		    y ? "rows" : "columns");
	else if (code)
		reason(why, "the phase grows as the Gray code does");
	else
		reason(why, "the phase is to grow %s: nothing says that the projector's %s do",
		    y ? "downwards" : "to the right", y ? "rows" : "columns");
	add_word(probe, code && !falls(probe) ? SURE_FOUND : SURE_GUESSED, why, "--sign %+d", sign);
}

/* --shift, where phasewrap would take other ones, --sign and --phase-origin. */
static void
add_shifts(struct probe *probe)
{
	const struct fringe_set *set = first_set(probe);
	int sign = falls(probe) ? -set->order.sign : set->order.sign;
	bool equal = set->order.of == set->steps.n;
	double origin;
	char why[300];
	enum certainty sure = find_origin(probe, &origin, why);

	if (equal && set->steps.n == 3)
		add_three_shifts(probe, sure, sign, &origin, why);
	else if (!equal && !set->flat)
		add_own_shifts(probe, set);
	add_sign(probe, sign);
	add_word(probe, sure, why, "--phase-origin %g", origin);
}

/* ---- Gray code, light, the whole command ---- */

static void
add_gray_words(struct probe *probe)
{
	static const char *const cells[] = { "", "column", "period", "half" };
	const struct gray *gray = &probe->gray;
	const struct gray_code *code = &gray->code[0];
	const struct gray_code *counting = fringe_code(probe) ? fringe_code(probe) : code;
	bool either = code->either || (gray->codes > 1 && gray->code[1].either);
	enum certainty sure = either ? SURE_GUESSED : SURE_FOUND;
	char why[300];

	if (!gray->codes)
		return;
	reason(why, "%.1f %% of the code's changes are steps of one", 100 * code->agreement);
	if (either)
		reason(why, "a white and a black image stand beside the planes, and may be two "
		    "more of them");
	if (gray->codes > 1)
		add_word(probe, sure, why, "-G %zu,%zu", code->n, gray->code[1].n);
	else
		add_word(probe, sure, why, "-G %zu", code->n);
	if (code->inverses)
		add_word(probe, SURE_FOUND, "each plane has its inverse", "-i");
	if (!isnan(counting->cells))
		add_word(probe, SURE_FOUND, reason(why, "a fringe holds %.3f of its cells",
		    counting->cells), "--gray-cell %s", cells[counting->cell]);
	if (wants_flats(gray))
		add_word(probe, SURE_FOUND, "a white and a black image", "-F 2");
}

/* Where no Gray code orders the fringes, unwrap2f must know which beats span the projector. Counts
 * that names say, or a count of 1, are of the whole projector as they are. */
static void
add_unwrap_words(struct probe *probe)
{
	const struct frequencies *all = &probe->frequencies;

	for (size_t k = 0; k < probe->chosen; k++)
		if (all->value[k] == 1 && !all->periods)
			return;
	if (probe->chosen < 2 || probe->gray.codes ||
	    (all->source == FREQUENCY_NAMES && !all->periods))
		return;
	add_word(probe, SURE_UNKNOWN, "the projector's width along the fringes' axis, in its "
	    "pixels: no image says it", "--field WIDTH");
	probe->word[probe->words - 1].unwraps = true;
}

/* The amplitude that keeps pixels without fringes out, with two digits. */
static void
add_unlit(struct probe *probe)
{
	const struct unlit *unlit = &probe->unlit;
	double digit = pow(10, floor(log10(unlit->least)) - 1);
	char why[300];

	if (!(unlit->least > 0))
		return;
	reason(why, "%.2g %% of the pixels show no fringes: 99 in 100 of them have less than %.3g, "
	    "of the others more than %.3g", 100 * unlit->share, unlit->unlit, unlit->lit);
	add_word(probe, unlit->unlit < 0.7 * unlit->lit ? SURE_FOUND : SURE_GUESSED, why,
	    "--min-amplitude %.3g", round(unlit->least / digit) * digit);
}

static void
add_found_words(struct probe *probe)
{
	if (probe->chosen) {
		add_steps(probe);
		add_periods(probe);
		add_axis(probe);
		add_shifts(probe);
	} else {
		add_word(probe, SURE_FOUND, "Gray planes, but no fringes", "-k gray");
	}
	add_gray_words(probe);
	if (probe->colour)
		add_word(probe, SURE_GUESSED, "the images are in colour; green is usually the "
		    "least noisy", "--channel g");
	if (probe->max_value)
		add_word(probe, SURE_FOUND, "many samples are exactly this, and none is larger",
		    "--max-value %g", probe->saturation);
	add_unlit(probe);
	add_unwrap_words(probe);
}

/* Can fringe orders be found? */
static bool
can_unwrap(const struct probe *probe)
{
	if (probe->described)
		return probe->captures.fringes &&
		    (probe->captures.fringes > 1 || probe->captures.codes);
	return probe->chosen && (probe->chosen > 1 || probe->gray.codes);
}

static void
put_words(const struct probe *probe, bool unwraps, FILE *to)
{
	for (size_t i = 0; i < probe->words; i++)
		if (probe->word[i].unwraps == unwraps)
			fprintf(to, " %s", probe->word[i].text);
}

int
command_make(struct probe *probe)
{
	struct text text, files;
	FILE *to = text_open(&files);
	char *list;

	if (!to)
		return -1;
	if (!probe->described) {
		add_found_words(probe);
	} else if (probe->manifest_path) {
		char *path = quoted(probe->manifest_path);

		add_word(probe, SURE_CERTAIN, "it says what the images are", "-m %s", path);
		free(path);
	}
	add_files(probe, to);
	list = text_close(&files, NULL);
	to = list ? text_open(&text) : NULL;
	if (to) {
		fputs("fringepipe phasewrap", to);
		put_words(probe, false, to);
		fprintf(to, "%s%s", list, can_unwrap(probe) ? " , unwrap2f" : "");
		put_words(probe, true, to);
		probe->line = text_close(&text, NULL);
	}
	free(list);
	return probe->line ? 0 : -1;
}
