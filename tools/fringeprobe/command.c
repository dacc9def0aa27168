/* The words of the command, and how sure each one is. */
#define _GNU_SOURCE
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "probe.h"

#define DEG (180 / M_PI)
#define THREE_OFF 5		/* degrees by which the shifts of three images are off equal ones */

const char *const certainty_words[] = { "certain", "found", "guessed", "unknown", NULL };

int
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

/* A why in which numbers stand. */
static const char *
reason(char text[300], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(text, 300, format, args);
	va_end(args);
	return text;
}

static const struct fringe_set *
first_set(const struct probe *probe)
{
	return probe->chosen ? &probe->sets.fringe[probe->set[0]] : NULL;
}

/* The Gray code along the axis of the first set, or the only one. */
static const struct gray_code *
first_code(const struct probe *probe)
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
	const struct gray_code *code = first_code(probe);

	return code && !isnan(code->cells) && code->falls;
}

/* ---- phases ---- */

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

static int
steps_word(struct probe *probe)
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
		reason(why, "%s: three images fit whatever they are, 2+1 among others", text);
		return command_word(probe, SURE_GUESSED, why, "-n 3");
	}
	if (whole || unknown == 0)
		return command_word(probe, SURE_FOUND, text, "-n %zu", set->steps.n);
	reason(why, "%s; but %zu image%s nothing", text, unknown, unknown == 1 ? " fits" : "s fit");
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
		reason(why, "no image says how many projector pixels a fringe is wide");
	else if (all->ratio[0] > 0)
		reason(why, "the frequencies are as %.4f to %.4f, which several whole numbers fit",
		    all->ratio[0], all->ratio[1]);
	else
		reason(why, "no image says how many projector pixels the fringes are wide");
	return command_word(probe, SURE_UNKNOWN, why, "-p %s", list);
}

static int
frequency_words(struct probe *probe)
{
	const struct frequencies *all = &probe->frequencies;
	size_t other = all->finest ? 0 : probe->chosen - 1;
	char *list = value_list(probe), why[300];
	int status;

	if (!list)
		return -1;
	reason(why, "%s of the ratio that the images have, %.5f",
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
	return (best <= -180 ? best + 360 : best) + 0.0;	/* not -0 */
}

/* Phase at the beginning, in degrees, with shifts from 0; how it is known. */
static enum certainty
find_origin(const struct probe *probe, double *deg, char why[300])
{
	const struct gray_code *code = first_code(probe);
	const struct frequencies *all = &probe->frequencies;
	size_t of = first_set(probe)->order.of;

	*deg = 0;
	if (code && code->edge_coherence > 0.5 && code->cell != GRAY_CELL_UNKNOWN) {
		*deg = usual_angle(code->edge_rad * DEG, code->cell != GRAY_CELL_COLUMN, of);
		reason(why, "the Gray code's %s at %.1f degrees of the phase",
		    code->cell == GRAY_CELL_COLUMN ? "column 0 lies" : "periods begin",
		    *deg + remainder(code->edge_rad * DEG - *deg, 360));
		return SURE_FOUND;
	}
	if (all->origin_known) {
		*deg = usual_angle(all->origin_rad * DEG, false, of);
		reason(why, "the phases meet at %.1f degrees",
		    *deg + remainder(all->origin_rad * DEG - *deg, 360));
		return SURE_FOUND;
	}
	reason(why, "nothing tells where the phase begins");
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
three_shifts(struct probe *probe, enum certainty sure, int sign, double *origin)
{
	double other = remainder(*origin + sign * 120, 360);

	if (sure != SURE_GUESSED && fabs(*origin) < fabs(other))
		return command_word(probe, sure, "three equal steps; the first one has no shift, "
		    "by where the phase begins", "--shift 0,120,240");
	if (sure != SURE_GUESSED)
		*origin = usual_angle(other, false, 3);
	return command_word(probe, sure, sure == SURE_GUESSED ? "three equal steps; others begin "
	    "with 0, which nothing tells apart here" : "three equal steps; the middle one has no "
	    "shift, by where the phase begins", "--shift -120,0,120");
}

static int
sign_word(struct probe *probe, int sign)
{
	const struct gray_code *code = first_code(probe);
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
	return command_word(probe, code && !falls(probe) ? SURE_FOUND : SURE_GUESSED, why,
	    "--sign %+d", sign);
}

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
		status = three_shifts(probe, sure, sign, &origin);
	} else if (!usual_shifts(set) && !set->flat) {
		list = shift_list(set);
		status = list ? command_word(probe, set->order.gap_rad > PROBE_GAP_MOST ?
		    SURE_GUESSED : SURE_FOUND, "the images' own shifts",
		    "--shift %s", list) : -1;
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
	reason(why, "a fringe holds %.3f of its cells", code->cells);
	return command_word(probe, SURE_FOUND, why, "--gray-cell %s",
	    cells[code->cell]);
}

static int
gray_words(struct probe *probe)
{
	const struct gray *gray = &probe->gray;
	const struct gray_code *code = &gray->code[0];
	char why[300];
	int status;

	if (!gray->codes)
		return 0;
	reason(why, "%.1f %% of the code's changes are steps of one", 100 * code->agreement);
	if (code->either || (gray->codes > 1 && gray->code[1].either))
		reason(why, "a white and a black image stand beside the planes, and may be two "
		    "more of them");
	status = gray->codes > 1 ?
	    command_word(probe, code->either || gray->code[1].either ? SURE_GUESSED : SURE_FOUND,
	    why, "-G %zu,%zu", code->n, gray->code[1].n) :
	    command_word(probe, code->either ? SURE_GUESSED : SURE_FOUND, why, "-G %zu", code->n);
	if (status == 0 && code->inverses)
		status = command_word(probe, SURE_FOUND, "each plane has its inverse", "-i");
	if (status == 0)
		status = cell_word(probe, first_code(probe) ? first_code(probe) : code);
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
	reason(why, "%.2g %% of the pixels show no fringes: 99 in 100 of them have less than %.3g, "
	    "of the others more than %.3g", 100 * unlit->share, unlit->unlit, unlit->lit);
	return command_word(probe, apart ? SURE_FOUND : SURE_GUESSED, why, "--min-amplitude %.3g",
	    rounded(unlit->least));
}

static int
found_words(struct probe *probe)
{
	if (!probe->chosen && command_word(probe, SURE_FOUND, "Gray planes, but no fringes",
	    "-k gray") < 0)
		return -1;
	if (probe->chosen && (steps_word(probe) < 0 || frequency_words(probe) < 0 ||
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
	status = path ? command_word(probe, SURE_CERTAIN, "it says what the images are", "-m %s",
	    path) : -1;
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
