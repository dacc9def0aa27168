#include "phase_steps.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"

#define PIXELS 2048		/* looked at, about */
#define LEAST 100		/* phases that a warning needs */
#define DISTINCT 4		/* and so many different ones */
#define EQUAL 0.1		/* of the neighbours: measured phases none, behind median some */
#define ZEROS 0.02		/* right captures 0 */
#define APART 1.0f		/* rad: so near to 0 */
#define MARKS 3			/* times as many are exactly 0 */
#define ROUNDED 1e-6		/* of the largest phase: two numbers that close are the same */
#define COARSE 100		/* times that: steps */
#define OFF 0.02		/* of a step, between phases; measured ones are any */

int
phase_steps_plan(struct phase_steps *steps, const struct frame_head *head)
{
	steps->grid = coarse_grid(head->w, head->h, PIXELS);
	phase_steps_free(steps);
	steps->value = malloc(coarse_grid_pixels(&steps->grid) * sizeof(*steps->value));
	steps->next = malloc(coarse_grid_pixels(&steps->grid) * sizeof(*steps->next));
	if (!steps->value || !steps->next)
		return fail_memory();
	for (size_t i = 0; i < coarse_grid_pixels(&steps->grid); i++)
		steps->value[i] = steps->next[i] = NAN;
	return 0;
}

void
phase_steps_free(struct phase_steps *steps)
{
	free(steps->value);
	free(steps->next);
	steps->value = steps->next = NULL;
}

int
phase_steps_frame_memory(struct phase_steps *steps, struct run *run)
{
	size_t bytes = coarse_grid_pixels(&steps->grid) * sizeof(*steps->value);

	return run_frame_memory(run, &steps->value, bytes) < 0 ? -1 :
	    run_frame_memory(run, &steps->next, bytes);
}

/* Bands may share rows: both store the same. */
void
phase_steps_row(const struct phase_steps *steps, const float *phase, size_t w, size_t y)
{
	size_t i = coarse_grid_row(&steps->grid, y), last = i + steps->grid.columns - 1;
	size_t x = coarse_grid_shift(&steps->grid, y);	/* column 0 alone may be 0 */

	if (steps->off || y % steps->grid.step)
		return;
	for (; i < last; x += steps->grid.step, i++) {
		__atomic_store(&steps->value[i], &phase[x], __ATOMIC_RELAXED);
		__atomic_store(&steps->next[i], &phase[x + 1], __ATOMIC_RELAXED);
	}
	__atomic_store(&steps->value[i], &phase[x < w ? x : w - 1], __ATOMIC_RELAXED);
}

static int
by_value(const void *a, const void *b)
{
	float left = *(const float *)a, right = *(const float *)b;

	return (left > right) - (left < right);
}

/* The step of which all gaps between sorted phases are whole multiples; 0: there is none. */
static double
find_step(const float *value, size_t n)
{
	double same = ROUNDED * fmax(fabs((double)value[0]), fabs((double)value[n - 1]));
	double least = INFINITY, step = 0;
	size_t gaps = 0;

	for (size_t i = 1; i < n; i++) {
		double gap = (double)value[i] - (double)value[i - 1];

		if (gap > same)
			least = fmin(least, gap);
	}
	if (!(least < INFINITY) || least < COARSE * same)
		return 0;
	for (size_t i = 1; i < n; i++) {	/* the mean of the gaps of one step */
		double gap = (double)value[i] - (double)value[i - 1];

		if (gap > same && gap < 1.5 * least)
			step = (step * (double)gaps + gap) / (double)(gaps + 1), gaps++;
	}
	for (size_t i = 1; i < n; i++) {
		double gap = (double)value[i] - (double)value[i - 1];

		if (fabs(gap / step - round(gap / step)) > OFF + 2 * same / step)
			return 0;
	}
	return gaps >= DISTINCT ? step : 0;
}

/* Are the zeros more than the phases next to zero, as marks are? */
static bool
zeros_apart(const float *value, size_t n, size_t zeros)
{
	size_t near = 0;

	for (size_t i = 0; i < n; i++)
		near += value[i] != 0 && fabsf(value[i]) < APART;
	return zeros > MARKS * near;
}

struct phase_steps_counts {
	size_t n, zeros, whole, pairs, equal;
};

/* The right neighbours of a row's pixels; NaN where the row does not vary. */
static void
drop_flat(const struct phase_steps *steps, size_t row)
{
	const float *value = steps->value + row * steps->grid.columns;
	float *next = steps->next + row * steps->grid.columns;

#pragma omp simd
	for (size_t i = 0; i < steps->grid.columns - 1; i++)
		next[i] = value[i + 1] != value[i] ? next[i] : NAN;
	next[steps->grid.columns - 1] = NAN;
}

/* All but `whole`, over all pixels that have a phase. */
static struct phase_steps_counts
count(const struct phase_steps *steps)
{
	const float *value = steps->value, *next = steps->next;
	uint32_t n = 0, zeros = 0, pairs = 0, equal = 0;

	for (size_t y = 0; y < steps->grid.rows; y++)
		drop_flat(steps, y);
#pragma omp simd reduction(+ : n, zeros, pairs, equal)
	for (size_t i = 0; i < coarse_grid_pixels(&steps->grid); i++) {
		bool valid = fabsf(value[i]) < INFINITY;

		n += valid;
		zeros += value[i] == 0;
		pairs += valid & !isnan(next[i]);
		equal += valid & (value[i] == next[i]);
	}
	return (struct phase_steps_counts){ .n = n, .zeros = zeros, .pairs = pairs,
	    .equal = equal };
}

/* How many phases are whole numbers from the first one on, up to one that is not. */
static size_t
count_whole(const struct phase_steps *steps)
{
	size_t n = 0;

	for (size_t i = 0; i < coarse_grid_pixels(&steps->grid); i++) {
		float value = steps->value[i], next = steps->next[i];

		if (!isfinite(value))
			continue;
		if (value != floorf(value) || next > floorf(next))
			break;
		n++;
	}
	return n;
}

/* Moves the valid phases to the front. */
static void
gather(const struct phase_steps *steps)
{
	size_t n = 0;

	for (size_t i = 0; i < coarse_grid_pixels(&steps->grid); i++)
		if (isfinite(steps->value[i]))
			steps->value[n++] = steps->value[i];
}

bool
phase_steps_warn(struct phase_steps *steps)
{
	struct phase_steps_counts c;
	size_t distinct = 1;
	double step;
	bool equal, zeros;

	if (steps->off)
		return false;
	c = count(steps);
	c.whole = count_whole(steps);
	equal = c.equal > EQUAL * c.pairs && c.pairs > LEAST;
	zeros = (double)c.zeros > ZEROS * (double)c.n;
	if (c.n < LEAST || c.zeros == c.n || !(c.whole == c.n || equal || zeros))
		return false;		/* as of nearly every frame: nothing to sort for */
	gather(steps);
	qsort(steps->value, c.n, sizeof(*steps->value), by_value);
	for (size_t i = 1; i < c.n; i++)
		distinct += steps->value[i] > steps->value[i - 1];
	step = equal ? find_step(steps->value, c.n) : 0;
	steps->off = true;
	if (c.whole == c.n && distinct >= DISTINCT)
		warn("the phase", "holds whole numbers only, as pictures do: wanted is the phase "
		    "in radians as unwrap2f writes it, stored as float (.nrrd, .tif)");
	else if (step > 0)
		warn("the phase", "has steps of %.3g rad, as of a picture of few bits, and depth "
		    "gets steps with it: store phases as float (.nrrd, .tif)", step);
	else if (zeros && zeros_apart(steps->value, c.n, c.zeros))
		warn("the phase", "is exactly 0 at %.0f %% of the pixels that have one: if that "
		    "marks holes, framecat --invalid 0 makes them NaN", 100.0 * (double)c.zeros /
		    (double)c.n);
	else
		steps->off = false;
	return steps->off;
}
