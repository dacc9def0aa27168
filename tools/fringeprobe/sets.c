/* Images whose fringes have the same period and a fixed distance belong to one set. */
#define _GNU_SOURCE
#include "sets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "members.h"
#include "names.h"

#define FINE_CROSSINGS 2.5	/* in a line, and */
#define FINE_KNOWN 0.3		/* of the lit pixels: the fringes are fine enough to count them */
#define SAME_RATIO 0.003	/* of the fringes in two images, and */
#define SAME_PHASE 0.08		/* rad, by which crossings may be off at the ends of a line */
#define SAME_COHERENCE 0.75
#define SAME_PIXELS 0.4
#define TWO_VALUED 0.5		/* of what the set's images have between bright and dark */
#define SINUSOID 0.18		/* of pixels lies between bright and dark, of 0.33 */
#define FIT_WORST 0.5		/* of the amplitude: the residual of a set */
#define FIT_COARSE 0.25
#define WANDERS 0.05		/* of the ratio of two frequencies: its error from line to line */
#define FIT_UNEQUAL 0.2		/* of shifts that are no equal steps */
#define PIXELS_LEAST 50
#define ROUGH 0.2
#define RUN_STEP 2.0f		/* rad: more from pixel to pixel ends a run */

int
sets_axis(const struct sets *sets, size_t i)
{
	return sets->carrier[1][i].per_line * (double)sets->field[1].lit_pixels >
	    sets->carrier[0][i].per_line * (double)sets->field[0].lit_pixels &&
	    sets->carrier[1][i].density > sets->carrier[0][i].density;
}

static bool
is_fine(const struct carrier *carrier)
{
	return carrier->per_line >= FINE_CROSSINGS && carrier->known >= FINE_KNOWN;
}

/* Has image j the fringes of image i? Then *shift is its shift from that. -1 after fail(). */
static int
same_fringes(const struct sets *sets, int axis, size_t i, size_t j, double *shift)
{
	const struct field *field = &sets->field[axis];
	const struct carrier *a = &sets->carrier[axis][i], *b = &sets->carrier[axis][j];
	double known = fmin(a->known, b->known) * (double)field->lit_pixels;
	struct growth growth;

	if (!is_fine(b) || b->density > 1.5 * a->density || a->density > 1.5 * b->density)
		return 0;
	if (growth_find(field->lines, field->length, a->theta, b->theta, &growth) < 0)
		return -1;
	*shift = growth.offset;
	return growth.shared > SAME_PIXELS * known && growth.coherence > SAME_COHERENCE &&
	    fabs(growth.ratio - 1) <
	    SAME_RATIO + SAME_PHASE / growth.spread + 3 * fmin(growth.error, SAME_RATIO);
}

static int
compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A Gray plane may have the fringes' period: it is two-valued where they are not. */
static void
drop_two_valued(const struct sets *sets, int axis, struct steps *steps)
{
	double between[STEPS_MOST], limit;
	size_t n = 0;

	for (size_t k = 0; k < steps->n; k++)
		between[k] = sets->carrier[axis][steps->image[k]].between;
	qsort(between, steps->n, sizeof(*between), compare_doubles);
	limit = TWO_VALUED * between[steps->n / 2];
	for (size_t k = 0; k < steps->n; k++)
		if (sets->carrier[axis][steps->image[k]].between >= limit) {
			steps->image[n] = steps->image[k];
			steps->shift_rad[n++] = steps->shift_rad[k];
		}
	if (n >= 3)
		steps->n = n;
	for (size_t k = steps->n; k-- > 0;)
		steps->shift_rad[k] =
		    remainder(steps->shift_rad[k] - steps->shift_rad[0], 2 * M_PI);
}

/* An image that shows what another one shows is taken out of the set. */
static void
drop_twins(struct sets *sets, struct steps *steps)
{
	size_t twin[STEPS_MOST], n = 0;

	if (steps_twins(steps, twin) < 3)
		return;
	for (size_t k = 0; k < steps->n; k++) {
		size_t i = steps->image[k];

		sets->set[i] = sets->n;
		sets->kind[i] = twin[k] == k ? KIND_FRINGE : KIND_TWIN;
		sets->other[i] = steps->image[twin[k]];
	}
	for (size_t k = 0; k < steps->n; k++)
		if (twin[k] == k) {
			steps->image[n] = steps->image[k];
			steps->shift_rad[n++] = steps->shift_rad[k];
		}
	steps->n = n;
}

/* Period and number of fringes, from an unwrapped phase; false: the phase falls along the line. */
static bool
measure_period(const struct field *field, struct fringe_set *set)
{
	double grown = 0, pixels = 0;
	size_t lines = 0;

	for (size_t l = 0; l < field->lines; l++) {
		const float *phase = set->phase + l * field->length;
		bool any = false;

		for (size_t x = 1; x < field->length; x++)
			if (!isnan(phase[x - 1]) && !isnan(phase[x])) {
				grown += (double)(phase[x] - phase[x - 1]);
				pixels++;
				any = true;
			}
		lines += any;
	}
	set->period_px = pixels > 0 ? 2 * M_PI * pixels / fabs(grown) : (double)NAN;
	set->fringes = lines ? fabs(grown) / (2 * M_PI) / (double)lines : 0;
	return grown >= 0;
}

/* Steps from pixel to pixel that are too large to be fringes; of noise a third is. */
static bool
is_rough(const struct field *field, const struct fringe_set *set)
{
	size_t steps = 0, broken = 0;

	for (size_t p = 1; p < field->lines * field->length; p++)
		if (p % field->length && !isnan(set->mean[p]) && !isnan(set->mean[p - 1])) {
			steps++;
			broken += isnan(set->phase[p]);
		}
	return steps == 0 || (double)broken > ROUGH * (double)steps;
}

static int
make_phase(const struct field *field, struct fringe_set *set)
{
	size_t pixels = field->lines * field->length;

	free(set->phase);
	free(set->mean);
	set->phase = malloc(pixels * sizeof(float));
	set->mean = malloc(pixels * sizeof(float));
	if (!set->phase || !set->mean)
		return fail_memory();
	if (steps_phase(field, &set->steps, set->phase, set->mean) < 0)
		return -1;
	field_unwrap(field->lines, field->length, RUN_STEP, set->phase);
	return 0;
}

/* The images in the order of their shifts, if they are not; and the shifts as they are meant, which
 * are found only about. Each is counted from the first image. */
static void
arrange(struct fringe_set *set)
{
	struct steps *steps = &set->steps, old = *steps;
	struct steps_order *order = &set->order, found = *order;
	size_t n = 0, of = order->of;

	memcpy(order->was, old.image, sizeof(order->was));
	for (size_t j = 0; j < of; j++)
		for (size_t k = 0; k < steps->n; k++) {
			size_t from = order->ordered ? 0 : found.start;
			size_t at = order->sign > 0 ? found.place[k] + of - from :
			    from + of - found.place[k];

			if (at % of != j)
				continue;
			steps->image[n] = old.image[k];
			order->place[n] = j;
			steps->shift_rad[n] = order->sign * 2 * M_PI * (double)j / (double)of;
			n++;
		}
	for (size_t k = of ? n : 0; k-- > 0;) {
		steps->shift_rad[k] -= steps->shift_rad[0];
		order->place[k] -= order->place[0];
	}
}

/* Three images fit any shifts, and any three images fit some: only usual shifts are taken. */
static bool
is_plausible(const struct fringe_set *set)
{
	if (set->steps.n == 3)
		return set->order.of == 3 || set->order.of == 4;
	return set->order.of || (set->steps.residual < FIT_UNEQUAL && set->fringes > 2);
}

static int
drop_set(struct sets *sets, struct fringe_set *set)
{
	for (size_t i = 0; i < sets->images; i++)
		if (sets->set[i] == sets->n)
			sets->kind[i] = KIND_UNKNOWN;
	free(set->phase);
	free(set->mean);
	*set = (struct fringe_set){ 0 };
	return 0;
}

/* What the images of the set show, by their shifts; the phase is made to grow. */
static int
make_set(struct sets *sets, const struct field *field, struct fringe_set *set)
{
	struct steps *steps = &set->steps;

	if (make_phase(field, set) < 0)
		return -1;
	if (!measure_period(field, set)) {
		for (size_t k = 0; k < steps->n; k++)
			steps->shift_rad[k] = -steps->shift_rad[k];
		if (make_phase(field, set) < 0)
			return -1;
		measure_period(field, set);
	}
	steps_read(steps, &set->order);
	if (!is_plausible(set) || is_rough(field, set))
		return drop_set(sets, set);
	arrange(set);
	if (make_phase(field, set) < 0)
		return -1;
	for (size_t k = 0; k < steps->n; k++) {
		sets->kind[steps->image[k]] = KIND_FRINGE;
		sets->set[steps->image[k]] = sets->n;
	}
	sets->n++;
	return 1;
}

static bool
fits(const struct steps *steps, double worst)
{
	return steps->pixels >= PIXELS_LEAST && !(steps->residual > worst);
}

/* Takes images for a set, if they fit: 1 if they do, 0, -1 after fail(). */
static int
take_set(struct sets *sets, int axis, const struct steps *images)
{
	const struct field *field = &sets->field[axis];
	struct fringe_set *set = &sets->fringe[sets->n];
	struct steps *steps = &set->steps;

	if (sets->n == SETS_MOST || images->n < 3)
		return 0;
	*set = (struct fringe_set){ .axis = axis, .steps = *images };
	if (members_fit(field, images, steps) < 0)
		return -1;
	if (!fits(steps, FIT_WORST))
		return 0;
	if (members_settle(sets, field, steps) < 0)
		return -1;
	drop_twins(sets, steps);
	return steps_fit(field, steps) < 0 ? -1 : make_set(sets, field, set);
}

/* The same with the shifts as they are: a part of a fringe does not tell them. */
static int
take_wide_set(struct sets *sets, int axis, const struct steps *images)
{
	const struct field *field = &sets->field[axis];
	struct fringe_set *set = &sets->fringe[sets->n];

	if (sets->n == SETS_MOST)
		return 0;
	*set = (struct fringe_set){ .axis = axis, .steps = *images };
	if (steps_measure(field, &set->steps) < 0)
		return -1;
	return fits(&set->steps, FIT_COARSE) ? make_set(sets, field, set) : 0;
}

/* Sets of fringes that can be counted, along one axis. */
static int
find_fine(struct sets *sets, int axis)
{
	for (size_t i = 0; i < sets->images; i++) {
		struct steps steps = { .n = 1, .image = { i } };

		if (sets->kind[i] != KIND_UNKNOWN || sets_axis(sets, i) != axis ||
		    !is_fine(&sets->carrier[axis][i]))
			continue;
		for (size_t j = i + 1; j < sets->images && steps.n < STEPS_MOST; j++) {
			double shift = 0;
			int same = sets->kind[j] == KIND_UNKNOWN && sets_axis(sets, j) == axis ?
			    same_fringes(sets, axis, i, j, &shift) : 0;

			if (same < 0)
				return -1;
			if (same) {
				steps.shift_rad[steps.n] = shift;
				steps.image[steps.n++] = j;
			}
		}
		if (steps.n < 3)
			continue;
		drop_two_valued(sets, axis, &steps);
		if (take_set(sets, axis, &steps) < 0)
			return -1;
	}
	return 0;
}

/* The last set, which was taken for wide fringes, must have all n images in order and grow with the
 * finer ones; three images, which fit always, are none without them. */
static int
check_coarse(struct sets *sets, int axis, size_t n)
{
	struct fringe_set *set = &sets->fringe[sets->n - 1];
	const struct field *field = &sets->field[axis];
	struct growth growth = { .ratio = (double)NAN };

	for (size_t k = 0; k + 1 < sets->n; k++)
		if (sets->fringe[k].axis == axis && isnan(growth.ratio) &&
		    growth_find(field->lines, field->length, sets->fringe[k].phase, set->phase,
		    &growth) < 0)
			return -1;
	if (set->steps.n == n && set->order.ordered &&
	    (isnan(growth.ratio) ? n > 3 : growth.error < WANDERS * fabs(growth.ratio)))
		return 0;
	sets->n--;
	return drop_set(sets, set);
}

/* May it show fringes that are too wide to be counted? */
static bool
is_wide(const struct sets *sets, int axis, size_t i)
{
	return sets->kind[i] == KIND_UNKNOWN && !is_fine(&sets->carrier[axis][i]);
}

/* Images from the first one on, of one group of names; as many as other sets have, if any. */
static void
gather_wide(const struct sets *sets, int axis, size_t first, struct steps *steps)
{
	size_t n = sets->n ? sets->fringe[0].steps.n : STEPS_MOST;

	*steps = (struct steps){ 0 };
	for (size_t i = first; i < sets->images && steps->n < n; i++)
		if (is_wide(sets, axis, i) &&
		    names_same_group(sets->image[first]->name, sets->image[i]->name))
			steps->image[steps->n++] = i;
	for (size_t k = 0; k < steps->n; k++)
		steps->shift_rad[k] = 2 * M_PI * (double)k / (double)steps->n;
}

/* Are they no Gray planes: do half of them have much between bright and dark? */
static bool
are_sinusoids(const struct sets *sets, int axis, const struct steps *steps)
{
	size_t n = 0;

	for (size_t k = 0; k < steps->n; k++)
		n += sets->carrier[axis][steps->image[k]].between > SINUSOID;
	return 2 * n >= steps->n && steps->n >= 3 &&
	    (sets->n == 0 || steps->n == sets->fringe[0].steps.n);
}

/* Sets of fringes that are wider than the view. Their shifts are taken to be equal steps at
 * first. */
static int
find_coarse(struct sets *sets, int axis)
{
	for (size_t i = 0; i < sets->images; i++) {
		struct steps steps;
		int taken;

		if (!is_wide(sets, axis, i))
			continue;
		gather_wide(sets, axis, i, &steps);
		if (!are_sinusoids(sets, axis, &steps))
			continue;
		taken = take_wide_set(sets, axis, &steps);
		if (taken < 0 || (taken && check_coarse(sets, axis, steps.n) < 0))
			return -1;
	}
	return 0;
}

int
sets_find(struct image *const *image, size_t n, struct sets *sets)
{
	size_t along[2] = { 0 };

	*sets = (struct sets){ .images = n, .image = image };
	sets->kind = calloc(n, sizeof(*sets->kind));
	sets->set = malloc(n * sizeof(*sets->set));
	sets->other = calloc(n, sizeof(*sets->other));
	sets->carrier[0] = calloc(n, sizeof(struct carrier));
	sets->carrier[1] = calloc(n, sizeof(struct carrier));
	if (!sets->kind || !sets->set || !sets->other || !sets->carrier[0] || !sets->carrier[1])
		return fail_memory();
	for (size_t i = 0; i < n; i++)
		sets->set[i] = SIZE_MAX;
	for (int axis = 0; axis < 2; axis++) {
		if (field_new(image, n, axis, &sets->field[axis]) < 0)
			return -1;
		for (size_t i = 0; i < n; i++)
			if (carrier_find(&sets->field[axis], i, &sets->carrier[axis][i]) < 0)
				return -1;
	}
	for (int axis = 0; axis < 2; axis++)
		if (find_fine(sets, axis) < 0)
			return -1;
	for (size_t k = 0; k < sets->n; k++)
		along[sets->fringe[k].axis]++;
	return find_coarse(sets, along[1] > along[0]);
}

void
sets_free(struct sets *sets)
{
	for (size_t i = 0; i < sets->images; i++)
		for (int axis = 0; axis < 2; axis++)
			if (sets->carrier[axis])
				carrier_free(&sets->carrier[axis][i]);
	for (int axis = 0; axis < 2; axis++) {
		field_free(&sets->field[axis]);
		free(sets->carrier[axis]);
	}
	for (size_t k = 0; k < SETS_MOST; k++) {
		free(sets->fringe[k].phase);
		free(sets->fringe[k].mean);
	}
	free(sets->kind);
	free(sets->set);
	free(sets->other);
	*sets = (struct sets){ 0 };
}
