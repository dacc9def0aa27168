#include "capture_conflicts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define SAME 1e-4	/* of a period, or radians: numbers are written with few digits */

/* The number that image i has under a key; NaN where it has none. */
static double
number_of(const struct frame_head *head, const char *key, size_t i)
{
	const char *list = meta_get(&head->meta, key);
	char word[64], *end;
	double v;

	if (!list || !meta_word(list, meta_words(list) == head->c ? i : 0, word, sizeof(word)))
		return NAN;
	v = strtod(word, &end);
	return end == word || *end ? NAN : v;
}

static void
check_periods(const struct numbers *period_px, const struct frame_head *head)
{
	for (size_t k = 0; k < period_px->n; k++) {
		double other = NAN;
		bool found = false;

		for (size_t i = 0; i < head->c && !found; i++) {
			double own = number_of(head, "period_px", i);

			found = fabs(own / period_px->v[k] - 1) < SAME;
			other = isnan(other) ? own : other;
		}
		if (!found && !isnan(other)) {
			warn("--period", "says %g px, and the images themselves say period_px %g: "
			    "the option counts", period_px->v[k], other);
			return;
		}
	}
}

static void
check_shifts(const struct capture_options *options, const struct frame_head *head,
    const struct capture_set *set)
{
	const struct numbers *shift_rad = &options->shift_rad;

	for (size_t k = 0; k < set->fringes && shift_rad->n; k++)
		for (size_t i = 0; i < set->fringe[k].n && i < shift_rad->n; i++) {
			double own = number_of(head, "shift_rad", set->fringe[k].plane[i]);
			double apart = remainder(own - shift_rad->v[i], 2 * M_PI);

			if (isnan(own) || fabs(apart) < SAME + options->shift_slack_rad)
				continue;
			warn("--shift", "says %g degrees for image %zu of a period, and the image "
			    "itself says shift_rad %g (%g degrees): the option counts",
			    shift_rad->v[i] * 180 / M_PI, i + 1, own, own * 180 / M_PI);
			return;
		}
}

/* How many words of the key role are this one. */
static size_t
count_role(const char *roles, const char *role)
{
	char word[32];
	size_t n = 0;

	for (size_t i = 0; meta_word(roles, i, word, sizeof(word)); i++)
		n += !strcmp(word, role);
	return n;
}

static void
check_gray(const struct capture_options *options, const struct frame_head *head, const char *roles)
{
	const char *cell = meta_get(&head->meta, "gray_cell");
	size_t own = count_role(roles, "gray");
	double planes = 0;
	char word[32];

	for (size_t i = 0; i < options->gray.n; i++)
		planes += options->gray.v[i];
	if (options->gray.n && planes != (double)own)
		warn("--gray", "says %g planes, and of the images %zu say that they are some: the "
		    "images count", planes, own);
	if (options->gray_cell >= 0 && cell && meta_word(cell, 0, word, sizeof(word)) &&
	    strcmp(word, "-") && strcmp(word, manifest_cells[options->gray_cell]))
		warn("--gray-cell", "says %s, and the images themselves say gray_cell %s: the "
		    "option counts", manifest_cells[options->gray_cell], word);
}

static void
check_axis(const char *axes, const struct frame_head *head, const struct capture_set *set)
{
	const char *own = meta_get(&head->meta, "axis");
	char word[8];

	for (size_t k = 0; axes && own && k < set->fringes; k++) {
		size_t i = meta_words(own) == head->c ? set->fringe[k].plane[0] : 0;

		if (!meta_word(own, i, word, sizeof(word)) || word[0] == set->fringe[k].axis ||
		    (strcmp(word, "x") && strcmp(word, "y")))
			continue;
		warn("--axis", "says %c, and the images themselves say axis %s: the option counts",
		    set->fringe[k].axis, word);
		return;
	}
}

static void
check_steps(const struct capture_options *options, const struct capture_set *set)
{
	char name[CAPTURE_SET_NAME_SIZE];

	for (size_t k = 0; k < set->fringes && options->steps > 0; k++) {
		if ((size_t)options->steps == set->fringe[k].n)
			continue;
		warn("--steps", "says %ld images of a period, and of the images themselves %zu say "
		    "that they are of %s: the images count", options->steps, set->fringe[k].n,
		    capture_set_name(&set->fringe[k], name));
		return;
	}
}

int
capture_conflicts_warn(const struct capture_options *options, double sign, double origin_rad,
    const struct frame_head *head, const struct capture_set *set)
{
	const char *roles = meta_get(&head->meta, "role");
	double own_sign, own_origin;

	if (!roles || options->order)
		return 0;
	if (meta_number(&head->meta, "phase_sign", 1, &own_sign) < 0 ||
	    meta_number(&head->meta, "phase_origin_rad", 0, &own_origin) < 0)
		return -1;
	if (options->kind == CAPTURES_TWO_PLUS_ONE && set->fringes == 0 && set->codes)
		return fail("--kind", "says 2+1, and none of the images says that it is one (roles "
		    "sin, cos, flat)");
	if (options->kind == CAPTURES_STEP && set->fringes == 0 && set->codes)
		return fail("--kind", "says step, and none of the images says that it is one (role "
		    "phase)");
	if (options->kind != CAPTURES_FOURIER)
		check_steps(options, set);
	check_periods(&options->period_px, head);
	check_shifts(options, head, set);
	check_gray(options, head, roles);
	check_axis(options->axis, head, set);
	if (!isnan(sign) && sign != own_sign)
		warn("--sign", "says %+g, and by the images' own keys it is %+g: the option counts",
		    sign, own_sign);
	if (!isnan(origin_rad) && fabs(remainder(origin_rad - own_origin, 2 * M_PI)) > SAME)
		warn("--phase-origin", "says %g degrees, and by the images' own keys it is %g: the "
		    "option counts", origin_rad * 180 / M_PI, own_origin * 180 / M_PI);
	return 0;
}
