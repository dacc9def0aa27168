/* Ratios of frequencies are measured to about 1e-4; whole numbers or names of that ratio are looked
 * for. */
#include "frequencies.h"

#include <math.h>
#include <stdlib.h>

#include "names.h"

#define NEAR 2.5e-4		/* of the finest frequency: no ratio is known better */
#define PHASE_THREE 0.007	/* rad, by which three steps of light that is not linear are off */
#define COUNT_MOST 200
#define LEAST_PERIOD 4		/* px: smaller numbers in names are no periods */
#define COHERENT 0.6

static double
tolerance(const struct frequencies *all, size_t k)
{
	return fmax(NEAR, 3 * all->error[k]);
}

static int
measure_ratios(const struct sets *sets, const size_t *set, size_t n, struct frequencies *all)
{
	const struct field *field = &sets->field[sets->fringe[set[0]].axis];
	const struct fringe_set *finest;

	for (size_t k = 1; k < n; k++)
		if (sets->fringe[set[k]].fringes > sets->fringe[set[all->finest]].fringes)
			all->finest = k;
	finest = &sets->fringe[set[all->finest]];
	for (size_t k = 0; k < n; k++) {
		struct growth growth;

		if (growth_find(field->lines, field->length, finest->phase,
		    sets->fringe[set[k]].phase, &growth) < 0)
			return -1;
		all->ratio[k] = k == all->finest ? 1 : growth.ratio;
		all->error[k] = k == all->finest ? 0 : growth.error;
		if (k != all->finest && sets->fringe[set[k]].steps.n == 3)
			all->error[k] += PHASE_THREE / growth.spread;
		if (k != all->finest)
			all->error[k] += growth.wobble;
	}
	return 0;
}

/* A number that all names of a set have in common: the one before the last, or the last one. */
static bool
common_number(const struct sets *sets, const struct fringe_set *set, bool last, double *out)
{
	for (size_t k = 0; k < set->steps.n; k++) {
		const char *name = sets->image[set->steps.image[k]]->name;
		size_t n = names_stem(name);
		double v;

		while (last && name[n] >= '0' && name[n] <= '9')
			n++;
		if (!names_number(name, n, &v) || !(v > 0) || (k && v != *out))
			return false;
		*out = v;
	}
	return true;
}

/* Do the names' numbers have the measured ratio, as counts or as periods? */
static bool
take_names(const struct sets *sets, const size_t *set, size_t n, bool last, struct frequencies *all)
{
	double v[SETS_MOST];
	bool counts = true, periods = true;

	for (size_t k = 0; k < n; k++) {
		if (!common_number(sets, &sets->fringe[set[k]], last, &v[k]))
			return false;
		for (size_t j = 0; j < k; j++)
			if (v[j] == v[k])
				return false;
	}
	for (size_t k = 0; k < n; k++) {
		double at = v[k] / v[all->finest], limit = 2 * tolerance(all, k);

		counts = counts && fabs(at - all->ratio[k]) < limit;
		periods = periods && fabs(1 / at - all->ratio[k]) < limit && v[k] >= LEAST_PERIOD;
	}
	if (!counts && !periods)
		return false;
	all->source = FREQUENCY_NAMES;
	all->periods = periods;
	for (size_t k = 0; k < n; k++)
		all->value[k] = v[k];
	return true;
}

static double
common_divisor(double a, double b)
{
	while (b > 0.5) {
		double rest = fmod(a, b);

		a = b;
		b = rest;
	}
	return a;
}

/* Are all frequencies count/finest, or all periods count/finest (inverse), for whole counts? */
static bool
fits_whole(const struct frequencies *all, size_t n, size_t finest, bool inverse)
{
	bool other = false;

	for (size_t k = 0; k < n; k++) {
		double ratio = inverse ? 1 / all->ratio[k] : all->ratio[k];
		double count = round(ratio * (double)finest), at = count / (double)finest;

		if (!(count >= 1) ||
		    fabs((inverse ? 1 / at : at) - all->ratio[k]) > tolerance(all, k))
			return false;
		other |= k != all->finest && count == (double)finest;
	}
	return !other;
}

/* The smallest whole number of the finest set, if no other less than twice as large fits; or 0. */
static size_t
find_whole(const struct frequencies *all, size_t n, bool inverse)
{
	size_t found = 0;

	for (size_t finest = 1; finest <= COUNT_MOST && !(found && finest >= 2 * found); finest++) {
		if (!fits_whole(all, n, finest, inverse))
			continue;
		if (found)
			return 0;
		found = finest;
	}
	return 2 * found <= COUNT_MOST ? found : 0;
}

/* Small counts of this ratio; or else, of three and more sets, small periods, of which the counts
 * are those over their least common multiple. */
static void
take_whole_numbers(size_t n, struct frequencies *all)
{
	size_t found = find_whole(all, n, false);
	double period[SETS_MOST], multiple = 1;

	if (found)
		for (size_t k = 0; k < n; k++)
			all->value[k] = round(all->ratio[k] * (double)found);
	all->source = found ? FREQUENCY_RATIO : FREQUENCY_UNKNOWN;
	if (found || n < 3 || !(found = find_whole(all, n, true)))
		return;
	for (size_t k = 0; k < n; k++) {
		period[k] = round((double)found / all->ratio[k]);
		multiple *= period[k] / common_divisor(multiple, period[k]);
	}
	for (size_t k = 0; k < n && multiple < 1e9; k++) {
		all->value[k] = multiple / period[k];
		all->source = FREQUENCY_RATIO;
	}
}

/* Periods out of the columns that a Gray code counts in a period of the first set. */
static void
take_columns(const struct gray_code *code, size_t n, struct frequencies *all)
{
	double first = code->cells * all->ratio[0];

	all->source = FREQUENCY_GRAY;
	all->periods = true;
	for (size_t k = 0; k < n; k++) {
		double period = first / all->ratio[k], whole = round(period);

		all->value[k] = fabs(period - whole) < fmax(2e-3 * period, 3 * code->cells_error) ?
		    whole : period;
	}
}

/*
 * Phases a and b of n and m fringes begin together: m a - n b is (m - n) times the phase that both
 * have there. It is looked for among pairs where that is the phase itself.
 */
static void
find_origin(const struct sets *sets, const size_t *set, size_t n, struct frequencies *all)
{
	const struct field *field = &sets->field[sets->fringe[set[0]].axis];
	size_t pixels = field->lines * field->length;
	double re = 0, im = 0, sum = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			double a = all->value[i], b = all->value[j], d = common_divisor(a, b);
			const float *p = sets->fringe[set[i]].phase;
			const float *q = sets->fringe[set[j]].phase;

			if (all->periods || fabs(b - a - d) > 1e-9)
				continue;
			for (size_t x = 0; x < pixels; x++)
				if (!isnan(p[x]) && !isnan(q[x])) {
					double off = (b * (double)p[x] - a * (double)q[x]) / d;

					re += cos(off);
					im += sin(off);
					sum++;
				}
		}
	if (sum > 0) {
		all->origin_rad = atan2(im, re);
		all->origin_coherence = hypot(re, im) / sum;
		all->origin_known = all->origin_coherence > COHERENT;
	}
}

int
frequencies_find(const struct sets *sets, const size_t *set, size_t n, const struct gray_code *code,
    struct frequencies *all)
{
	*all = (struct frequencies){ 0 };
	for (size_t k = 0; k < n; k++)
		all->value[k] = (double)NAN;
	if (measure_ratios(sets, set, n, all) < 0)
		return -1;
	if (code && code->cell == GRAY_CELL_COLUMN) {
		take_columns(code, n, all);
		return 0;
	}
	if (n < 2)
		return 0;
	if (!take_names(sets, set, n, false, all) && !take_names(sets, set, n, true, all))
		take_whole_numbers(n, all);
	if (all->source != FREQUENCY_UNKNOWN && !code)
		find_origin(sets, set, n, all);
	return 0;
}
