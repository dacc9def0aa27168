/* The words of the command that say what the fringe images are: steps, periods, shifts, origin. */
#define _GNU_SOURCE
#include "phase_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"

#define DEG (180 / M_PI)
#define THREE_OFF 5 /* degrees by which the shifts of three images are off equal ones */

static const struct fringe_set *
first_set(const struct probe *probe)
{
	return probe->chosen ? &probe->sets.fringe[probe->set[0]] : NULL;
}

/* The Gray code along the axis of the first set, or the only one. */
const struct gray_code *
phase_words_code(const struct probe *probe)
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
	const struct gray_code *code = phase_words_code(probe);

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
	if (command_word(probe, SURE_FOUND,
		"two images lie on a circle about the third, as a sine "
		"and a cosine do about a flat image",
		"-k 2+1") < 0)
		return -1;
	return set->flat == 3
	    ? 0
	    : command_word(probe, SURE_FOUND, "this one of three is flat", "--flat %zu", set->flat);
}

int
phase_words_steps(struct probe *probe)
{
	const struct fringe_set *set = first_set(probe);
	size_t unknown = count_unknown(probe);
	bool whole = set->order.of == set->steps.n && set->order.ordered;
	char why[300], text[200];

	if (set->flat)
		return two_plus_one_words(probe, set);
	if (set->order.of)
		snprintf(text, sizeof(text),
		    "%zu images with shifts of 360/%zu degrees, which fit "
		    "within %.1f",
		    set->steps.n, set->order.of, set->order.error_rad * DEG);
	else
		snprintf(text, sizeof(text), "%zu images with unequal shifts", set->steps.n);
	if (set->steps.n == 3 && set->order.error_rad * DEG > THREE_OFF) {
		command_reason(
		    why, "%s: three images fit whatever they are, 2+1 among others", text);
		return command_word(probe, SURE_GUESSED, why, "-n 3");
	}
	if (whole || unknown == 0)
		return command_word(probe, SURE_FOUND, text, "-n %zu", set->steps.n);
	command_reason(
	    why, "%s; but %zu image%s nothing", text, unknown, unknown == 1 ? " fits" : "s fit");
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
		command_reason(why,
		    "the frequencies are as %.4f to %.4f, which several whole numbers fit",
		    all->ratio[0], all->ratio[1]);
	else
		command_reason(why, "no image says how many projector pixels the fringes are wide");
	return command_word(probe, SURE_UNKNOWN, why, "-p %s", list);
}

int
phase_words_periods(struct probe *probe)
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
		status = command_word(probe, SURE_UNKNOWN,
		    "a Gray code counts columns, but images "
		    "fit nothing, which may be its finest planes",
		    "-p PERIOD");
	else if (all->source == FREQUENCY_GRAY)
		status = command_word(probe, SURE_GUESSED,
		    "columns of the Gray code in a period, "
		    "if its finest plane is one column wide",
		    "-p %s", list);
	else if (all->periods)
		status = command_word(probe, SURE_FOUND, why, "-p %s", list);
	else
		status = command_word(probe, SURE_FOUND, why, "--count %s", list);
	free(list);
	if (status == 0 && all->source && !all->periods)
		status = command_word(probe, SURE_UNKNOWN,
		    "the projector pixels that so many "
		    "fringes take: no image says it",
		    "--field FIELD");
	return status;
}

int
phase_words_axis(struct probe *probe)
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
	return command_word(probe, SURE_GUESSED,
	    "the phase varies along these lines of the image, "
	    "and of the projector if the camera is not turned",
	    "-a %s", list);
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
	const struct gray_code *code = phase_words_code(probe);
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
		return command_word(probe, sure,
		    "three equal steps; the first one has no shift, "
		    "by where the phase begins",
		    "--shift 0,120,240");
	if (sure != SURE_GUESSED) {
		*origin = usual_angle(other, false, 3);
		snprintf(why + length, 300 - length,
		    " of the first image, which has -120 in "
		    "--shift");
	}
	return command_word(probe, sure,
	    sure == SURE_GUESSED ? "three equal steps; others begin "
				   "with 0, which nothing tells apart here"
				 : "three equal steps; the middle one has no "
				   "shift, by where the phase begins",
	    "--shift -120,0,120");
}

static int
sign_word(struct probe *probe, int sign)
{
	const struct gray_code *code = phase_words_code(probe);
	bool y = first_set(probe)->axis;
	char why[300];

	if (code && falls(probe))
		command_reason(why,
		    "the Gray code falls %s: the projector's %s do, or its most "
		    "significant plane is inverted",
		    y ? "downwards" : "to the right", y ? "rows" : "columns");
	else if (code)
		command_reason(why, "the phase grows as the Gray code does");
	else
		command_reason(why,
		    "the phase is to grow %s: nothing says that the projector's %s do",
		    y ? "downwards" : "to the right", y ? "rows" : "columns");
	return command_word(
	    probe, code && !falls(probe) ? SURE_FOUND : SURE_GUESSED, why, "--sign %+d", sign);
}

int
phase_words_shifts(struct probe *probe)
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
		status = list ? command_word(probe,
				    set->order.gap_rad > PROBE_GAP_MOST ? SURE_GUESSED : SURE_FOUND,
				    "the images' own shifts", "--shift %s", list)
			      : -1;
		free(list);
	}
	if (status == 0)
		status = sign_word(probe, sign);
	if (status == 0)
		status = command_word(probe, sure, why, "--phase-origin %g", origin);
	return status;
}
