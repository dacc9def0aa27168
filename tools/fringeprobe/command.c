/*
 * The command that decodes the images: its words, how sure each one is and why, and the files in
 * the order in which phasewrap takes them.
 */
#include "fringeprobe.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"

const char *const certainty_words[] = { "certain", "found", "guessed", "unknown", NULL };

/* Adds a word to the command. -1 after fail(). */
static int
command_word(struct probe *probe, enum certainty sure, const char *why, const char *format, ...)
{
	struct word *more = reallocarray(probe->word, probe->words + 1, sizeof(*more)), *word;
	va_list args;
	int n;

	if (!more)
		return fail_memory();
	probe->word = more;
	word = &more[probe->words++];
	*word = (struct word){ .why = strdup(why), .sure = sure };
	va_start(args, format);
	n = vasprintf(&word->text, format, args);
	va_end(args);
	if (n < 0)
		word->text = NULL;
	return word->text && word->why ? 0 : fail_memory();
}

/* A reason in which numbers stand, for command_word(): text. */
static const char *
command_reason(char text[300], const char *format, ...)
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
	unsigned char behind = at ? (unsigned char)c[1] : 0;

	if (at == 0xc2)
		return behind < 0xa0;
	return at < 0x20 || at == 0x7f || (at >= 0x80 && at < 0xa0 && (before < 0x80 ||
	    before == 0xc2));
}

/* A word for a shell: as it is, in quotes, or with its control characters spelt. */
static void
operands_put_quoted(FILE *to, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "0123456789_-+=./:@%,";
	bool control = false;

	for (const char *c = word; *c; c++)
		control |= is_control(word, c);
	if (!control && word[strspn(word, plain)] == '\0' && strcmp(word, ",") && *word) {
		fputs(word, to);
		return;
	}
	fputs(control ? "$'" : "'", to);
	for (const char *c = word; *c; c++)
		if (is_control(word, c))
			fprintf(to, "\\x%02x", (unsigned char)*c);
		else if (control && (*c == '\'' || *c == '\\'))
			fprintf(to, "\\%c", *c);
		else if (*c == '\'')
			fputs("'\\''", to);
		else
			fputc(*c, to);
	fputc('\'', to);
}

/* "-x" and "," are no options and no end of a stage. */
static int
put_path(FILE *to, const char *path)
{
	bool plain = !((*path == '-' && path[1]) || !strcmp(path, ","));
	char *safe = NULL;

	if (asprintf(&safe, "%s%s", plain ? "" : "./", path) < 0)
		return fail_memory();
	fputc(' ', to);
	operands_put_quoted(to, safe);
	free(safe);
	return 0;
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

/* White and black are wanted as thresholds of planes without inverses only. */
static void
add_flats(const struct probe *probe, struct list *list)
{
	const struct gray *gray = &probe->gray;

	if (!gray->codes || gray->code[0].inverses || gray->white == SIZE_MAX ||
	    gray->black == SIZE_MAX)
		return;
	list->image[list->n++] = gray->white;
	list->image[list->n++] = gray->black;
}

/* groups: an order of phase, gray and flat, 0 to 5. */
static void
make_list(const struct probe *probe, int groups, unsigned flags, struct list *list)
{
	static const char *const order[] = { "pgf", "pfg", "gpf", "gfp", "fpg", "fgp" };

	list->n = 0;
	for (const char *group = order[groups]; *group; group++)
		if (*group == 'p')
			add_phases(probe, flags & 1, list);
		else if (*group == 'g')
			add_gray(probe, flags & 2, flags & 4, list);
		else
			add_flats(probe, list);
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

static int
order_word(struct probe *probe, int groups, unsigned flags)
{
	static const char *const order[] = { "phase,gray,flat", "phase,flat,gray",
		"gray,phase,flat", "gray,flat,phase", "flat,phase,gray", "flat,gray,phase" };

	return command_word(probe, SURE_FOUND, "the order of the images in their file",
	    "--order %s%s%s%s", order[groups], flags & 1 ? ",by-step" : "",
	    flags & 2 ? ",pairs" : "", flags & 4 ? ",lsb-first" : "");
}

/* Each file once. */
static int
put_paths(const struct probe *probe, FILE *to)
{
	int status = 0;

	for (size_t i = 0; i < probe->n && status == 0; i++)
		if (probe->image[i]->in_file == 0 || i == 0 ||
		    strcmp(probe->image[i]->path, probe->image[i - 1]->path))
			status = put_path(to, probe->image[i]->path);
	return status;
}

/* A file that holds several images is taken as it is. */
static int
write_whole(struct probe *probe, struct list *list, FILE *to)
{
	int status = 1;

	for (int groups = 0; groups < 6 && status == 1; groups++)
		for (unsigned flags = 0; flags < 8 && status == 1; flags++) {
			make_list(probe, groups, flags, list);
			if (is_order(probe, list))
				status = groups || flags ? order_word(probe, groups, flags) : 0;
		}
	if (status == 1) {
		status = command_word(probe, SURE_UNKNOWN, "the images stand in an order that no "
		    "word names, or with others between: framecat --split makes files of them",
		    "--order ORDER");
	}
	return status < 0 ? -1 : put_paths(probe, to);
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

static int
unknown_operands(struct probe *probe, const struct image *image, const char *what)
{
	char *why;
	int status;

	if (asprintf(&why, "%s %s", image->name, what) < 0)
		return fail_memory();
	status = command_word(probe, SURE_UNKNOWN, why, "FILES");
	free(why);
	return status;
}

/* The file operands, and --order where they hold several images each. -1 after fail(). */
static int
operands_write(struct probe *probe, FILE *to)
{
	struct list list = { 0, calloc(2 * probe->n + 8, sizeof(*list.image)) };
	const struct image *left, *inverted = find_inverted(probe);
	bool whole = false;
	int status = 0;

	if (!list.image)
		return fail_memory();
	for (size_t i = 0; i < probe->n; i++)
		whole |= probe->image[i]->of_file > 1;
	make_list(probe, 0, 0, &list);
	left = probe->manifest_path ? NULL : find_left(probe);
	if (left)
		status = unknown_operands(probe, left, "is left out, its file holds others that "
		    "are not: framecat --split makes files of them");
	else if (inverted)
		status = unknown_operands(probe, inverted, "is inverted: the files in their order, "
		    "when it is made right");
	else if (whole && !probe->described)
		status = write_whole(probe, &list, to);
	else if (probe->described)
		status = probe->manifest_path && !probe->operands ? 0 : put_paths(probe, to);
	else
		for (size_t i = 0; i < list.n && status == 0; i++)
			status = put_path(to, probe->image[list.image[i]]->path);
	free(list.image);
	return status;
}

/* ---- fringes: steps, periods, axis, shifts, origin ---- */

#define DEG (180 / M_PI)
#define THREE_OFF 5	/* degrees: shifts of three images that are farther off equal ones */

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

/* Are the shifts those that phasewrap takes without --shift? */
static bool
usual_shifts(const struct fringe_set *set)
{
	return set->order.of == set->steps.n && set->steps.n != 3;
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

static int
two_plus_one_words(struct probe *probe, const struct fringe_set *set)
{
	if (command_word(probe, SURE_FOUND, "two images lie on a circle about the third, as a sine "
	    "and a cosine do about a flat image", "-k 2+1") < 0)
		return -1;
	return set->flat == 3 ? 0 : command_word(probe, SURE_FOUND, "this one of three is flat",
	    "--flat %zu", set->flat);
}

/* --steps, or --kind 2+1. */
static int
steps_words(struct probe *probe)
{
	const struct fringe_set *set = first_set(probe);
	size_t unknown = count_unknown(probe);
	bool whole = set->order.of == set->steps.n && set->order.ordered;
	char why[300], text[200];

	if (set->flat)
		return two_plus_one_words(probe, set);
	if (set->order.of)
		snprintf(text, sizeof(text), "%zu images with shifts of 360/%zu degrees, which fit "
		    "within %.1f", set->steps.n, set->order.of, set->order.error_rad * DEG);
	else
		snprintf(text, sizeof(text), "%zu images with unequal shifts", set->steps.n);
	if (set->steps.n == 3 && set->order.error_rad * DEG > THREE_OFF) {
		command_reason(why, "%s: three images fit whatever they are, 2+1 among others",
		    text);
		return command_word(probe, SURE_GUESSED, why, "-n 3");
	}
	if (whole || unknown == 0)
		return command_word(probe, SURE_FOUND, text, "-n %zu", set->steps.n);
	command_reason(why, "%s; but %zu image%s nothing", text, unknown,
	    unknown == 1 ? " fits" : "s fit");
	return command_word(probe, SURE_GUESSED, why, "-n %zu", set->steps.n);
}

/* "40,41", or as many placeholders as there are sets: PERIOD1,PERIOD2. */
static char *
value_list(const struct probe *probe)
{
	struct text text;
	FILE *to = text_open(&text);
	char number[32];

	if (!to)
		return NULL;
	for (size_t k = 0; k < probe->chosen; k++) {
		double v = probe->frequencies.value[k];

		fputs(k ? "," : "", to);
		if (!isnan(v))
			fputs(number_format(v == round(v) ? v : round(v * 1e4) / 1e4, number), to);
		else if (probe->chosen > 1)
			fprintf(to, "PERIOD%zu", k + 1);
		else
			fputs("PERIOD", to);
	}
	return text_close(&text, NULL);
}

static int
unknown_periods(struct probe *probe, const char *list)
{
	const struct frequencies *all = &probe->frequencies;
	char why[300];

	if (probe->chosen == 1)
		command_reason(why, "no image says how many projector pixels a fringe is wide");
	else if (all->ratio[0] > 0)
		command_reason(why, "the frequencies are as %.4f to %.4f, which several whole "
		    "numbers fit", all->ratio[0], all->ratio[1]);
	else
		command_reason(why, "no image says how many projector pixels the fringes are wide");
	return command_word(probe, SURE_UNKNOWN, why, "-p %s", list);
}

static int
period_words(struct probe *probe)
{
	const struct frequencies *all = &probe->frequencies;
	size_t other = all->finest ? 0 : probe->chosen - 1;
	char *list = value_list(probe), why[300];
	int status;

	if (!list)
		return -1;
	command_reason(why, "%s of the ratio that the images have, %.5f",
	    all->source == FREQUENCY_NAMES ? "numbers in the names," : "the only small numbers",
	    all->ratio[other]);
	if (all->source == FREQUENCY_UNKNOWN)
		status = unknown_periods(probe, list);
	else if (all->source == FREQUENCY_GRAY && count_unknown(probe))
		status = command_word(probe, SURE_UNKNOWN, "a Gray code counts columns, but images "
		    "fit nothing, which may be its finest planes", "-p PERIOD");
	else if (all->source == FREQUENCY_GRAY)
		status = command_word(probe, SURE_GUESSED, "columns of the Gray code in a period, "
		    "if its finest plane is one column wide", "-p %s", list);
	else if (all->periods)
		status = command_word(probe, SURE_FOUND, why, "-p %s", list);
	else
		status = command_word(probe, SURE_FOUND, why, "--count %s", list);
	free(list);
	if (status == 0 && all->source && !all->periods)
		status = command_word(probe, SURE_UNKNOWN, "the projector pixels that so many "
		    "fringes take: no image says it", "--field FIELD");
	return status;
}

static int
axis_word(struct probe *probe)
{
	char list[2 * SETS_MOST + 1] = "";
	bool y = false;

	for (size_t k = 0; k < probe->chosen; k++) {
		int axis = probe->sets.fringe[probe->set[k]].axis;

		sprintf(list + strlen(list), "%s%c", k ? "," : "", "xy"[axis]);
		y |= axis;
	}
	if (!y)
		return 0;
	if (!strchr(list, 'x'))
		list[1] = '\0';
	return command_word(probe, SURE_GUESSED, "the phase varies along these lines of the image, "
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
	size_t of = first_set(probe)->order.of;

	*deg = 0;
	if (code && code->edge_coherence > 0.5 && code->cell != GRAY_CELL_UNKNOWN) {
		*deg = usual_angle(code->edge_rad * DEG, code->cell != GRAY_CELL_COLUMN, of);
		command_reason(why, "the Gray code's %s at %.1f degrees of the phase",
		    code->cell == GRAY_CELL_COLUMN ? "column 0 lies" : "periods begin",
		    *deg + remainder(code->edge_rad * DEG - *deg, 360));
		return SURE_FOUND;
	}
	if (all->origin_known) {
		*deg = usual_angle(all->origin_rad * DEG, false, of);
		command_reason(why, "the phases meet at %.1f degrees",
		    *deg + remainder(all->origin_rad * DEG - *deg, 360));
		return SURE_FOUND;
	}
	command_reason(why, "nothing tells where the phase begins");
	return SURE_GUESSED;
}

static double
positive(double deg)
{
	double turned = fmod(deg, 360);

	return turned < -1e-9 ? turned + 360 : turned;
}

/* The shifts, of 360/of degrees or as measured, in the direction of the sign. */
static char *
shift_list(const struct fringe_set *set)
{
	struct text text;
	FILE *to = text_open(&text);
	char number[32];

	for (size_t k = 0; k < set->steps.n && to; k++) {
		double deg = positive(set->order.sign * set->steps.shift_rad[k] * DEG);

		fprintf(to, "%s%s", k ? "," : "", number_format(round(deg * 100) / 100, number));
	}
	return to ? text_close(&text, NULL) : NULL;
}

/* Three steps are projected in two ways, which differ in the origin: the one is taken that has
 * none, and without an origin that of the papers. */
static int
three_shifts(struct probe *probe, enum certainty sure, int sign, double *origin, char why[300])
{
	double other = remainder(*origin + sign * 120, 360);
	size_t length = strlen(why);

	if (sure != SURE_GUESSED && fabs(*origin) < fabs(other))
		return command_word(probe, sure, "three equal steps; the first one has no shift, "
		    "by where the phase begins", "--shift 0,120,240");
	if (sure != SURE_GUESSED) {
		*origin = usual_angle(other, false, 3);
		snprintf(why + length, 300 - length, " of the first image, which has -120 in "
		    "--shift");
	}
	return command_word(probe, sure, sure == SURE_GUESSED ? "three equal steps; others begin "
	    "with 0, which nothing tells apart here" : "three equal steps; the middle one has no "
	    "shift, by where the phase begins", "--shift -120,0,120");
}

static int
sign_word(struct probe *probe, int sign)
{
	const struct gray_code *code = fringe_code(probe);
	bool y = first_set(probe)->axis;
	char why[300];

	if (code && falls(probe))
		command_reason(why, "the Gray code falls %s: the projector's %s do, or its most "
		    "significant plane is inverted", y ? "downwards" : "to the right",
		    y ? "rows" : "columns");
	else if (code)
		command_reason(why, "the phase grows as the Gray code does");
	else
		command_reason(why, "the phase is to grow %s: nothing says that the projector's %s "
		    "do", y ? "downwards" : "to the right", y ? "rows" : "columns");
	return command_word(probe, code && !falls(probe) ? SURE_FOUND : SURE_GUESSED, why,
	    "--sign %+d", sign);
}

/* --shift, --sign and --phase-origin. */
static int
shift_words(struct probe *probe)
{
	const struct fringe_set *set = first_set(probe);
	int sign = falls(probe) ? -set->order.sign : set->order.sign;
	double origin;
	char why[300], *list;
	enum certainty sure = find_origin(probe, &origin, why);
	int status = 0;

	if (set->order.of == 3 && set->steps.n == 3) {
		status = three_shifts(probe, sure, sign, &origin, why);
	} else if (!usual_shifts(set) && !set->flat) {
		list = shift_list(set);
		status = !list ? -1 : command_word(probe, set->order.gap_rad > PROBE_GAP_MOST ?
		    SURE_GUESSED : SURE_FOUND, "the images' own shifts", "--shift %s", list);
		free(list);
	}
	if (status == 0)
		status = sign_word(probe, sign);
	if (status == 0)
		status = command_word(probe, sure, why, "--phase-origin %g", origin);
	return status;
}

/* ---- Gray code ---- */

static int
cell_word(struct probe *probe, const struct gray_code *code)
{
	static const char *const cells[] = { "", "column", "period", "half" };
	char why[300];

	if (isnan(code->cells))
		return 0;
	command_reason(why, "a fringe holds %.3f of its cells", code->cells);
	return command_word(probe, SURE_FOUND, why, "--gray-cell %s", cells[code->cell]);
}

static int
gray_words(struct probe *probe)
{
	const struct gray *gray = &probe->gray;
	const struct gray_code *code = &gray->code[0];
	bool either = code->either || (gray->codes > 1 && gray->code[1].either);
	char why[300];
	int status;

	if (!gray->codes)
		return 0;
	command_reason(why, "%.1f %% of the code's changes are steps of one",
	    100 * code->agreement);
	if (either)
		command_reason(why, "a white and a black image stand beside the planes, and may be "
		    "two more of them");
	if (gray->codes > 1)
		status = command_word(probe, either ? SURE_GUESSED : SURE_FOUND, why, "-G %zu,%zu",
		    code->n, gray->code[1].n);
	else
		status = command_word(probe, either ? SURE_GUESSED : SURE_FOUND, why, "-G %zu",
		    code->n);
	if (status == 0 && code->inverses)
		status = command_word(probe, SURE_FOUND, "each plane has its inverse", "-i");
	if (status == 0)
		status = cell_word(probe, fringe_code(probe) ? fringe_code(probe) : code);
	if (status == 0 && !code->inverses && gray->white != SIZE_MAX && gray->black != SIZE_MAX)
		status = command_word(probe, SURE_FOUND, "a white and a black image", "-F 2");
	return status;
}

/* ---- all ---- */

/* Where no Gray code orders the fringes, unwrap2f must know which beats span the projector. Counts
 * that names say, or a count of 1, are of the whole projector as they are. */
static int
unwrap_words(struct probe *probe)
{
	const struct frequencies *all = &probe->frequencies;

	for (size_t k = 0; k < probe->chosen; k++)
		if (all->value[k] == 1 && !all->periods)
			return 0;
	if (probe->chosen < 2 || probe->gray.codes ||
	    (all->source == FREQUENCY_NAMES && !all->periods))
		return 0;
	if (command_word(probe, SURE_UNKNOWN, "the projector's width along the fringes' axis, in "
	    "its pixels: no image says it", "--field WIDTH") < 0)
		return -1;
	probe->word[probe->words - 1].unwraps = true;
	return 0;
}

static int
image_words(struct probe *probe)
{
	int status = 0;

	if (probe->colour)
		status = command_word(probe, SURE_GUESSED, "the images are in colour; green is "
		    "usually the least noisy", "--channel g");
	if (status == 0 && probe->max_value)
		status = command_word(probe, SURE_FOUND, "many samples are exactly this, and none "
		    "is larger", "--max-value %g", probe->saturation);
	return status;
}

/* Two digits of an amplitude. */
static double
rounded(double v)
{
	double digit = pow(10, floor(log10(v)) - 1);

	return round(v / digit) * digit;
}

static int
unlit_word(struct probe *probe)
{
	const struct unlit *unlit = &probe->unlit;
	bool apart = unlit->unlit < 0.7 * unlit->lit;
	char why[300];

	if (!(unlit->least > 0))
		return 0;
	command_reason(why, "%.2g %% of the pixels show no fringes: 99 in 100 of them have less "
	    "than %.3g, of the others more than %.3g", 100 * unlit->share, unlit->unlit,
	    unlit->lit);
	return command_word(probe, apart ? SURE_FOUND : SURE_GUESSED, why, "--min-amplitude %.3g",
	    rounded(unlit->least));
}

static int
found_words(struct probe *probe)
{
	if (!probe->chosen &&
	    command_word(probe, SURE_FOUND, "Gray planes, but no fringes", "-k gray") < 0)
		return -1;
	if (probe->chosen &&
	    (steps_words(probe) < 0 || period_words(probe) < 0 ||
		axis_word(probe) < 0 || shift_words(probe) < 0))
		return -1;
	return gray_words(probe) < 0 || image_words(probe) < 0 || unlit_word(probe) < 0 ||
	    unwrap_words(probe) < 0 ? -1 : 0;
}

static int
described_words(struct probe *probe)
{
	struct text text;
	FILE *to;
	char *path;
	int status;

	if (!probe->manifest_path)
		return 0;
	to = text_open(&text);
	if (!to)
		return -1;
	operands_put_quoted(to, probe->manifest_path);
	path = text_close(&text, NULL);
	status = !path ? -1 :
	    command_word(probe, SURE_CERTAIN, "it says what the images are", "-m %s", path);
	free(path);
	return status;
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
	struct text text, operands;
	FILE *to, *names = text_open(&operands);
	char *files;
	int status;

	if (!names)
		return -1;
	status = probe->described ? described_words(probe) : found_words(probe);
	if (status == 0)
		status = operands_write(probe, names);
	files = text_close(&operands, NULL);
	to = status == 0 && files ? text_open(&text) : NULL;
	if (to) {
		fputs("fringepipe phasewrap", to);
		put_words(probe, false, to);
		fprintf(to, "%s%s", files, can_unwrap(probe) ? " , unwrap2f" : "");
		put_words(probe, true, to);
		probe->line = text_close(&text, NULL);
	}
	free(files);
	return probe->line ? 0 : -1;
}
