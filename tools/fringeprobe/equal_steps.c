/* Sets of equal steps among images whose fringes could not be counted. */
#include "equal_steps.h"

#include <math.h>
#include <stdlib.h>

#include "fringe_set.h"
#include "names.h"

#define SINUSOID 0.18		/* of pixels lies between bright and dark, of 0.33 */
#define FIT_COARSE 0.25
#define FIT_AMONG 0.1		/* of equal steps with other images behind them */
#define BLOCK_PIXELS 0.5	/* of the lit ones have the fringes of a block of images, */
#define BLOCK_AMPLITUDE 0.4	/* and another block's amplitude is at least that part of it */
#define WANDERS 0.05		/* of the ratio of two frequencies: its error from line to line */
#define PIXELS_LEAST 50
#define WEAK 0.6		/* of the amplitude of finer fringes: wider ones have more */
#define SAME_MEAN 0.2		/* of the amplitude: difference of two sets' means, rms */

/* The rms difference of two means, over pixels that have both; NaN: too few have. */
static double
mean_difference(const struct field *field, const float *a, const float *b)
{
	double squares = 0, n = 0;

	for (size_t p = 0; p < field->lines * field->length; p++)
		if (!isnan(a[p]) && !isnan(b[p])) {
			squares += (double)((a[p] - b[p]) * (a[p] - b[p]));
			n++;
		}
	return n >= PIXELS_LEAST ? sqrt(squares / n) : (double)NAN;
}

int
equal_steps_set(struct sets *sets, int axis, const struct steps *images)
{
	const struct field *field = &sets->field[axis];
	struct fringe_set *set = &sets->fringe[sets->n];

	if (sets->n == SETS_MOST)
		return 0;
	*set = (struct fringe_set){ .axis = axis, .steps = *images };
	if (steps_measure(field, &set->steps) < 0)
		return -1;
	return fringe_set_fits(&set->steps, FIT_COARSE) ? fringe_set_make(sets, field, set) : 0;
}

/* The last set, which was taken for equal steps, must have all n images in order, and have the mean
 * of others or grow with them; three images, which fit always, are none without them, unless they
 * are `known`. */
static int
check_equal(struct sets *sets, int axis, size_t n, bool known)
{
	struct fringe_set *set = &sets->fringe[sets->n - 1];
	const struct field *field = &sets->field[axis];
	struct growth growth = { .ratio = (double)NAN };
	bool weak = false;		/* blurred Gray planes */

	for (size_t k = 0; k + 1 < sets->n; k++) {
		const struct fringe_set *other = &sets->fringe[k];

		if (other->axis != axis)
			continue;
		weak = weak || (set->period_px > other->period_px &&
		    set->steps.amplitude < WEAK * other->steps.amplitude);
		known = known || mean_difference(field, other->mean, set->mean) <
		    SAME_MEAN * other->steps.amplitude;
		if (isnan(growth.ratio) && growth_find(field->lines, field->length, other->phase,
		    set->phase, &growth) < 0)
			return -1;
	}
	known = known || (isnan(growth.ratio) ? n > 3 :
	    growth.error < WANDERS * fabs(growth.ratio));
	if (set->steps.n == n && set->order.ordered && !weak && known)
		return 0;
	sets->n--;
	return fringe_set_drop(sets, set);
}

/* Images from the first one on that are left, of one group of names, `most` at most; as equal
 * steps. */
static void
gather_left(const struct sets *sets, size_t first, size_t most, struct steps *steps)
{
	struct steps left = { 0 };

	for (size_t i = first; i < sets->images && left.n < most; i++)
		if (sets->kind[i] == KIND_UNKNOWN &&
		    names_same_group(sets->image[first]->name, sets->image[i]->name))
			left.image[left.n++] = i;
	equal_steps_take(&left, 0, left.n, steps);
}

/* Are they no Gray planes: do half of them have much between bright and dark? */
static bool
are_sinusoids(const struct sets *sets, const struct steps *steps)
{
	size_t n = 0;

	for (size_t k = 0; k < steps->n; k++)
		n += sets->carrier[0][steps->image[k]].between > SINUSOID;
	return 2 * n >= steps->n && steps->n >= 3 &&
	    (sets->n == 0 || steps->n == sets->fringe[0].steps.n);
}

void
equal_steps_take(const struct steps *images, size_t from, size_t n, struct steps *block)
{
	*block = (struct steps){ .n = n };
	for (size_t k = 0; k < n; k++) {
		block->image[k] = images->image[from + k];
		block->shift_rad[k] = 2 * M_PI * (double)k / (double)n;
	}
}

int
equal_steps_blocks(const struct field *field, const struct steps *images, size_t n, double worst)
{
	size_t pixels = field->lines * field->length;
	float *mean = malloc(2 * pixels * sizeof(*mean));
	double amplitude = 0;
	int status = mean ? 1 : fail_memory();

	for (size_t from = 0; from < images->n && status == 1; from += n) {
		struct steps block;

		equal_steps_take(images, from, n, &block);
		if (steps_measure(field, &block) < 0 ||
		    steps_phase(field, &block, NULL, mean + (from ? pixels : 0)) < 0)
			status = -1;
		else if (!fringe_set_fits(&block, worst) ||
		    (double)block.pixels < BLOCK_PIXELS * (double)field->lit_pixels ||
		    (from && (block.amplitude < BLOCK_AMPLITUDE * amplitude ||
		    amplitude < BLOCK_AMPLITUDE * block.amplitude ||
		    !(mean_difference(field, mean, mean + pixels) < SAME_MEAN * amplitude))))
			status = 0;
		amplitude = block.amplitude;
	}
	free(mean);
	return status;
}

/* How many steps have the images that are left from the first one on, where no set is known? 0:
 * nothing tells. *several: they are several sets of so many. -1 after fail(). */
static int
count_steps(const struct sets *sets, size_t first, size_t *steps, bool *several)
{
	struct steps left;
	int status = 0;

	gather_left(sets, first, STEPS_MOST, &left);
	*steps = 0;
	for (size_t n = first ? 4 : 3; 2 * n <= left.n && status == 0; n++)
		if (left.n % n == 0 &&
		    (status = equal_steps_blocks(&sets->field[0], &left, n, FIT_COARSE)) > 0)
			*steps = n;
	*several = status > 0;
	while (left.n > 4 && status == 0) {
		left.n--;
		if ((status = equal_steps_blocks(&sets->field[0], &left, left.n, FIT_AMONG)) > 0)
			*steps = left.n;
	}
	return status < 0 ? -1 : 0;
}

/* Along which axis does the phase of equal steps grow more? -1 after fail(). */
static int
find_axis(const struct sets *sets, const struct steps *images)
{
	double period[2];

	for (int axis = 0; axis < 2; axis++) {
		struct fringe_set set = { .axis = axis, .steps = *images };
		int status = steps_measure(&sets->field[axis], &set.steps);

		if (status == 0)
			status = fringe_set_phase(&sets->field[axis], &set);
		if (status == 0)
			fringe_set_period(&sets->field[axis], &set);
		period[axis] = set.period_px;
		free(set.phase);
		free(set.mean);
		if (status < 0)
			return -1;
	}
	return period[1] < period[0];
}

/* Sets of fringes that could not be counted, as there are too few of them in a line, or they run
 * back and forth. Their shifts are taken to be equal steps at first. */
int
equal_steps_find(struct sets *sets)
{
	size_t block = 0;
	bool several = false;

	for (size_t i = 0; i < sets->images; i++) {
		struct steps steps;
		int taken, axis;

		if (sets->kind[i] != KIND_UNKNOWN)
			continue;
		if (sets->n == 0 && count_steps(sets, i, &block, &several) < 0)
			return -1;
		gather_left(sets, i, sets->n ? sets->fringe[0].steps.n :
		    block ? block : STEPS_MOST, &steps);
		if (!(several && block == steps.n) && !are_sinusoids(sets, &steps))
			continue;
		axis = find_axis(sets, &steps);
		taken = axis < 0 ? -1 : equal_steps_set(sets, axis, &steps);
		if (taken < 0 || (taken && check_equal(sets, axis, steps.n,
		    several && block == steps.n) < 0))
			return -1;
	}
	return 0;
}
