/*
 * Before the rows of a frame: which way its phase runs, how large a step from pixel to pixel
 * usually is, and whether there is anything to match at all.
 */
#include "phasematch.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/same_values.h"
#include "depth_check.h"
#include "image/statistics.h"
#include "phasematch.px.h"
#include "row_check.h"
#include "wrap_check.h"

#define STEPS_ENOUGH 4000	/* of which a median is taken */
#define STEPS_APART 7		/* columns from one to the next, so that many rows have some */
/* A bracket spans no more than so much of the shortest period, or so many usual steps. */
#define STEP_RAD 1.0
#define USUAL_STEPS 3

/* Rows in an order that soon has some from everywhere: row i of h. */
static size_t
spread_row(size_t i, size_t h)
{
	size_t stride = (size_t)((double)h * 0.6180339887) | 1;
	size_t a = stride, b = h;

	while (b != 0) {
		size_t rest = a % b;

		a = b;
		b = rest;
	}
	/* a is their common divisor: each part of the rows in its turn */
	return (i % (h / a) * stride + i / (h / a)) % h;
}

struct steps {
	double *step;
	size_t n, most;
};

static void
add_steps(struct steps *steps, const float *values, size_t w, size_t first, size_t apart)
{
	for (size_t x = first; x + 1 < w && steps->n < steps->most; x += apart)
		if (!px_isnan(values[x]) && !px_isnan(values[x + 1]))
			steps->step[steps->n++] = (double)values[x + 1] - (double)values[x];
}

static void
sample_steps(const struct value_map *map, const struct frame *in, size_t w, size_t apart,
    float *values, struct steps *steps)
{
	size_t inconsistent;

	steps->n = 0;
	for (size_t i = 0; i < in->head.h && steps->n < steps->most; i++) {
		size_t y = spread_row(i, in->head.h);

		value_map_row(map, in, y, w, 1, values, NULL, &inconsistent);
		add_steps(steps, values, w, y % apart, apart);
	}
}

/* The median step of one side's map; NaN where no two neighbours are valid. */
static double
median_step(const struct value_map *map, const struct frame *in, size_t w, float *values,
    struct steps *steps)
{
	sample_steps(map, in, w, STEPS_APART, values, steps);
	if (steps->n < STEPS_ENOUGH)
		sample_steps(map, in, w, 1, values, steps);
	return statistics_quantile(steps->step, steps->n, 0.5);
}

static const char *
direction(double step)
{
	return step < 0 ? "falls" : "rises";
}

static int
check_steps(const char *path, double left, double right)
{
	if (isnan(left) || isnan(right))
		return fail(isnan(left) ? NULL : path, "no two neighbours in a row have a phase: "
		    "nothing can be matched");
	if (left == 0 || right == 0)
		return fail(left == 0 ? NULL : path, "the phase is the same along a row: it must "
		    "vary along x");
	if ((left < 0) != (right < 0))
		return fail(path, "the phase %s from left to right, that of the input %s (by %g "
		    "and %g from pixel to pixel)", direction(right), direction(left), right, left);
	return 0;
}

/* Sets sign and the largest steps. */
static int
find_steps(struct phasematch *priv, const char *path, const struct frame *in,
    struct match_memory *memory, struct steps *steps)
{
	struct matching *matching = &priv->matching;

	for (size_t k = 0; k < matching->maps; k++) {
		double left = median_step(&matching->left[k], in, matching->w, memory->left, steps);
		double right = median_step(&matching->right[k], in, matching->right_w,
		    memory->right, steps);

		if (check_steps(path, left, right) < 0)
			return -1;
		matching->sign = left < 0 ? -1 : 1;
		matching->step_most[k] = (float)(isnan(priv->step_most_rad) ?
		    fmax(STEP_RAD * priv->radian[k], USUAL_STEPS * fabs(right)) :
		    priv->step_most_rad * priv->radian[k]);
	}
	return 0;
}

/* Does the row of --right reach from below the value to above it? */
struct reach {
	size_t pixels, outside;
};

static void
add_reach(const struct matching *matching, const struct match_memory *m, struct reach *reach)
{
	float low = INFINITY, high = -INFINITY;

	for (size_t x = 0; x < matching->right_w; x++) {
		low = m->right[x] < low ? m->right[x] : low;
		high = m->right[x] > high ? m->right[x] : high;
	}
	for (size_t x = 0; x < matching->w; x++) {
		reach->pixels += !px_isnan(m->left[x]);
		reach->outside += m->left[x] < low || m->left[x] > high;
	}
}

/* Is it one file given twice? */
static void
warn_same(struct phasematch *priv, const char *path, const struct frame *in,
    struct match_memory *m)
{
	const struct matching *matching = &priv->matching;
	struct same_values same = { 0 };
	size_t inconsistent;

	if (priv->warned_same || matching->w != matching->right_w)
		return;
	for (size_t i = 0; i < in->head.h && !same.differ; i++) {
		size_t y = spread_row(i, in->head.h);

		value_map_row(&matching->left[0], in, y, matching->w, 1, m->left, NULL,
		    &inconsistent);
		value_map_row(&matching->right[0], in, y, matching->w, 1, m->right, NULL,
		    &inconsistent);
		same_values_add(&same, m->left, m->right, matching->w);
	}
	if (same.differ)
		return;
	priv->warned_same = true;
	if (same_values_found(&same))
		warn(path, "has the same phase as the input in each pixel: is it the other "
		    "camera's?");
}

/* Has a row a match? A row of the last map is in memory then. */
static bool
has_match(const struct matching *matching, struct match_memory *m, const struct frame *in, size_t y)
{
	bool found = false;

	for (size_t k = 0; k < matching->maps && !found; k++) {
		struct row_cursor cursor = { 0 };
		size_t inconsistent;

		value_map_row(&matching->left[k], in, y, matching->w, matching->sign, m->left,
		    NULL, &inconsistent);
		match_right_row(matching, k, m, in, y);
		for (size_t x = 0; x < matching->w && !found; x++)
			found = !px_isnan(m->left[x]) &&
			    row_index_find(&m->right_index, &cursor, m->left[x]);
	}
	return found;
}

static int
find_match(const struct matching *matching, const char *path, const struct frame *in,
    struct match_memory *m)
{
	struct reach reach = { 0 };
	double share;

	for (size_t i = 0; i < in->head.h; i++) {
		if (has_match(matching, m, in, spread_row(i, in->head.h)))
			return 0;
		add_reach(matching, m, &reach);
	}
	share = 100.0 * (double)reach.outside / (double)(reach.pixels ? reach.pixels : 1);
	return fail(path, "no pixel matches: the phase of %.1f %% of the input's pixels is not in "
	    "the same row%s", share, share < 50 ? "; neighbours differ by more than --max-step" :
	    " (is it of the same measurement, are both rectified?)");
}

int
phasematch_survey(struct run *run, const struct frame *in)
{
	struct phasematch *priv = run->priv;
	struct steps steps = { calloc(STEPS_ENOUGH, sizeof(*steps.step)), 0, STEPS_ENOUGH };
	void *place = aligned_alloc(64, match_memory_bytes(&priv->matching));
	struct match_memory memory;
	int status = -1;

	if (!steps.step || !place) {
		fail_memory();
	} else {
		match_memory_place(&memory, &priv->matching, place);
		status = priv->checked_rows ? 0 : wrap_check(priv->right, in, &priv->matching);
		if (status == 0)
			status = find_steps(priv, priv->right, in, &memory, &steps);
		if (status == 0)
			warn_same(priv, priv->right, in, &memory);
		if (status == 0)
			status = find_match(&priv->matching, priv->right, in, &memory);
		if (status == 0 && !priv->checked_rows)
			status = row_check(priv->right, in, &priv->matching, &memory);
		if (status == 0 && !priv->checked_rows)
			status = depth_check(priv->right, priv, in, &memory);
		priv->checked_rows = true;
	}
	free(steps.step);
	free(place);
	return status;
}
