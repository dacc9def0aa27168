/* Images whose fringes have the same period and a fixed distance belong to one set. */
#define _GNU_SOURCE
#include "sets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "equal_steps.h"
#include "fringe_set.h"
#include "members.h"
#include "two_plus_one.h"

#define FINE_CROSSINGS 2.5	/* in a line, and */
#define FINE_KNOWN 0.3		/* of the lit pixels: the fringes are fine enough to count them */
#define SAME_RATIO 0.003	/* of the fringes in two images, and */
#define SAME_PHASE 0.08		/* rad, by which crossings may be off at the ends of a line */
#define SAME_COHERENCE 0.75
#define SAME_PIXELS 0.4
#define TWO_VALUED 0.5		/* of what the set's images have between bright and dark */
#define FEW_CROSSINGS 30		/* in a line, of which two periods may seem to be one */
#define FIT_WORST 0.5		/* of the amplitude: the residual of a set */

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
	if (!fringe_set_fits(steps, FIT_WORST))
		return 0;
	if (members_settle(sets, field, steps) < 0)
		return -1;
	drop_twins(sets, steps);
	return steps_fit(field, steps) < 0 ? -1 : fringe_set_make(sets, field, set);
}

/* Have the blocks of n images phases of different periods? -1 after fail(). */
static int
periods_differ(const struct field *field, const struct steps *images, size_t n)
{
	size_t pixels = field->lines * field->length;
	float *phase = malloc(2 * pixels * sizeof(*phase));
	int status = phase ? 0 : fail_memory();

	for (size_t from = 0; from < images->n && status == 0; from += n) {
		float *to = phase + (from ? pixels : 0);
		struct growth growth;
		struct steps block;

		equal_steps_take(images, from, n, &block);
		if (steps_measure(field, &block) < 0 || steps_phase(field, &block, to, NULL) < 0) {
			status = -1;
			continue;
		}
		field_unwrap(field->lines, field->length, FRINGE_SET_RUN_STEP, to);
		if (from == 0)
			continue;
		status = growth_find(field->lines, field->length, phase, to, &growth);
		if (status == 0 && fabs(growth.ratio - 1) >
		    SAME_RATIO + 3 * (growth.error + growth.wobble))
			status = 1;
	}
	free(phase);
	return status;
}

/* Where few fringes are in view, sets of nearly one period pass for one: the images of the first of
 * them; none: nothing tells that they are several. -1 after fail(). */
static int
find_block(const struct sets *sets, int axis, size_t first, struct steps *block)
{
	const struct field *field = &sets->field[axis];
	const struct carrier *carrier = sets->carrier[axis];
	struct steps images = { 0 };
	int status = 0;

	for (size_t i = first; i < sets->images && images.n < STEPS_MOST; i++)
		if (sets->kind[i] == KIND_UNKNOWN && sets_axis(sets, i) == axis &&
		    is_fine(&carrier[i]) && carrier[i].density < 1.5 * carrier[first].density &&
		    carrier[first].density < 1.5 * carrier[i].density)
			images.image[images.n++] = i;
	block->n = 0;
	for (size_t k = 3; 2 * k <= images.n && status == 0; k++) {
		if (images.n % k)
			continue;
		status = equal_steps_blocks(field, &images, k, FIT_WORST);
		if (status > 0)
			status = periods_differ(field, &images, k);
		if (status > 0)
			equal_steps_take(&images, 0, k, block);
	}
	return status < 0 ? -1 : 0;
}

/* Images that have the fringes of image i. */
static int
gather_same(const struct sets *sets, int axis, size_t i, struct steps *steps)
{
	*steps = (struct steps){ .n = 1, .image = { i } };
	for (size_t j = i + 1; j < sets->images && steps->n < STEPS_MOST; j++) {
		double shift = 0;
		int same = sets->kind[j] == KIND_UNKNOWN && sets_axis(sets, j) == axis ?
		    same_fringes(sets, axis, i, j, &shift) : 0;

		if (same < 0)
			return -1;
		if (same) {
			steps->shift_rad[steps->n] = shift;
			steps->image[steps->n++] = j;
		}
	}
	return 0;
}

/* Sets of fringes that can be counted, along one axis. */
static int
find_fine(struct sets *sets, int axis)
{
	for (size_t i = 0; i < sets->images; i++) {
		struct steps steps, block = { 0 };

		if (sets->kind[i] != KIND_UNKNOWN || sets_axis(sets, i) != axis ||
		    !is_fine(&sets->carrier[axis][i]))
			continue;
		if (gather_same(sets, axis, i, &steps) < 0)
			return -1;
		if (sets->carrier[axis][i].per_line < FEW_CROSSINGS && steps.n > 3 &&
		    find_block(sets, axis, i, &block) < 0)
			return -1;
		if (block.n && block.n < steps.n) {
			if (equal_steps_set(sets, axis, &block) < 0)
				return -1;
			continue;
		}
		if (steps.n < 3)
			continue;
		drop_two_valued(sets, axis, &steps);
		if (take_set(sets, axis, &steps) < 0)
			return -1;
	}
	return 0;
}

int
sets_find(struct image *const *image, size_t n, struct sets *sets)
{
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
	if (equal_steps_find(sets) < 0)
		return -1;
	return two_plus_one_find(sets);
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
