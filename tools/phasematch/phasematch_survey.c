/*
 * What phasematch learns from a whole frame before it matches rows: which way the phase runs, how
 * large a step from pixel to pixel usually is, and whether there is anything to match at all. Of
 * the first frame it also checks whether a phase is still wrapped, whether the matched points look
 * alike, and whether they are in front of the cameras.
 */
#include "phasematch.h"

#include "base/px.h"
#include "base/text.h"
#include "image/statistics.h"

/* ---- is a phase that should be absolute a wrapped one? ---- */

#define WRAP_ROWS 97		/* that are sampled */
#define JUMPS_LEAST 2		/* a phase of one fringe may begin anywhere and jump once */

static int
check_channel(const char *path, const struct frame *in, size_t c, size_t w)
{
	size_t step = in->head.h / WRAP_ROWS + 1, rows = 0, wrapped = 0, sum = 0;
	const char *name = in->head.channel[c], *own = strchr(name, '.');
	long jumps;

	for (size_t y = 0; y < in->head.h; y += step) {
		if (!phasematch_rows()->row_jumps(frame_row(in, c, y), w, &jumps))
			continue;
		rows++;
		wrapped += labs(jumps) >= JUMPS_LEAST;
		sum += labs(jumps) >= JUMPS_LEAST ? (size_t)labs(jumps) : 0;
	}
	if (2 * wrapped <= rows)
		return 0;
	return fail(path, "%s stays within one turn and jumps by one %.0f times along a row: it is "
	    "a wrapped phase (unwrap2f makes it absolute)", own ? own + 1 : name,
	    (double)sum / (double)wrapped);
}

/* Fails if a phase of either side stays within one turn in most rows and falls, or rises, by a turn
 * at least twice along each of them. path: that of --right. */
static int
wrap_check(const char *path, const struct frame *in, const struct matching *matching)
{
	for (size_t k = 0; k < matching->maps; k++) {
		const struct value_map *left = &matching->left[k], *right = &matching->right[k];

		for (size_t i = 0; i < left->phases; i++)
			if (check_channel(NULL, in, left->channel[i], matching->w) < 0)
				return -1;
		for (size_t i = 0; i < right->phases; i++)
			if (check_channel(path, in, right->channel[i], matching->right_w) < 0)
				return -1;
	}
	return 0;
}

/* ---- do matched points look alike? Blocks of the left texture are compared with the pixels they
 * match, shifted up and down and to either side (common/checks/geometry.c judges) ---- */

#define TEXTURE_PIXELS 400000	/* that are compared, about */

/* Compares strips of blocks that are spread evenly over the rows. */
static void
add_strips(struct texture_comparison *check, const struct matching *matching,
    struct match_memory *memory)
{
	size_t room = check->in->head.h - 2 * REACH - BLOCK;
	size_t strips = TEXTURE_PIXELS / (BLOCK * matching->w) + 1;

	if (strips > room / BLOCK + 1)
		strips = room / BLOCK + 1;
	for (size_t i = 0; i < strips; i++)
		phasematch_rows()->add_strip(check, matching, memory,
		    REACH + room * (2 * i + 1) / (2 * strips));
}

/* Not of frames without textures, or with flat ones. */
static void
compare_textures(struct phasematch *priv, const struct frame *in, struct match_memory *memory)
{
	const struct matching *matching = &priv->matching;
	struct texture_comparison check = { in, head_channel(&in->head, "texture"),
		head_channel(&in->head, "right.texture"), matching->right_w, matching->w / BLOCK };

	if (check.left == NO_CHANNEL || check.right == NO_CHANNEL || check.blocks == 0 ||
	    in->head.h < BLOCK + 2 * REACH || matching->right_w < 2)
		return;
	check.block = must_alloc(check.blocks, sizeof(*check.block));
	check.aside = must_alloc(check.blocks, sizeof(*check.aside));
	check.disparity = must_alloc(matching->w, sizeof(*check.disparity));
	add_strips(&check, matching, memory);
	free_all(check.block, check.aside, check.disparity);
	priv->pair.rows = check.rows;
	priv->pair.columns = check.columns;
}

/* ---- are matched points in front of the cameras? ---- */

#define DEPTH_ROWS 61		/* that are sampled */

static void
count_behind(struct phasematch *priv, const struct frame *in, struct match_memory *memory)
{
	size_t step = in->head.h / DEPTH_ROWS + 1, w = priv->matching.w;
	float *disparity = must_alloc(w, sizeof(*disparity));
	struct match_counts counts = { 0 };

	for (size_t y = step / 2; y < in->head.h && priv->rig.known; y += step) {
		phasematch_rows()->match_row(&priv->matching, memory, in, y, disparity, NULL,
		    &counts);
		phasematch_rows()->count_row(&priv->rig, disparity, w, &priv->pair);
	}
	free(disparity);
}

/* ---- the survey ---- */

#define STEPS_ENOUGH 4000	/* for a median */
#define STEPS_APART 7		/* columns from one to the next, to sample many rows */
/* Without --max-step a bracket spans at most the larger of these: radians of the shortest period,
 * or so many median steps. */
#define STEP_RAD 1.0
#define USUAL_STEPS 3

/* Row i of h in an order that soon covers all parts of the image. */
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
	/* a is their greatest common divisor: the order is a cycles, one after another */
	return (i % (h / a) * stride + i / (h / a)) % h;
}

static void
sample_steps(const struct value_map *map, const struct frame *in, size_t w, size_t apart,
    float *values, struct steps *steps)
{
	size_t inconsistent;

	steps->n = 0;
	for (size_t i = 0; i < in->head.h && steps->n < steps->most; i++) {
		size_t y = spread_row(i, in->head.h);

		phasematch_rows()->value_map_row(map, in, y, w, 1, values, NULL, &inconsistent);
		phasematch_rows()->add_steps(steps, values, w, y % apart, apart);
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

/* Has --right the same phase as the input everywhere, as the same file given twice? */
static bool
is_same(const struct matching *matching, const struct frame *in, struct match_memory *m)
{
	struct same_values same = { 0 };
	size_t inconsistent;

	for (size_t i = 0; matching->w == matching->right_w && i < in->head.h && !same.differ;
	    i++) {
		size_t y = spread_row(i, in->head.h);

		phasematch_rows()->value_map_row(&matching->left[0], in, y, matching->w, 1,
		    m->left, NULL, &inconsistent);
		phasematch_rows()->value_map_row(&matching->right[0], in, y, matching->w, 1,
		    m->right, NULL, &inconsistent);
		same_values_add(&same, m->left, m->right, matching->w);
	}
	return !same.differ && same_values_found(&same);
}

/* Fails if no pixel of the frame has a match. */
static int
find_match(const struct matching *matching, const char *path, const struct frame *in,
    struct match_memory *m)
{
	struct reach reach = { 0 };
	double share;

	for (size_t i = 0; i < in->head.h; i++) {
		if (phasematch_rows()->has_match(matching, m, in, spread_row(i, in->head.h)))
			return 0;
		phasematch_rows()->add_reach(matching, m, &reach);
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
	struct steps steps = { must_alloc(STEPS_ENOUGH, sizeof(*steps.step)), 0, STEPS_ENOUGH };
	void *place = must_aligned(1, phasematch_rows()->match_memory_bytes(&priv->matching));
	struct match_memory memory;
	int status;

	phasematch_note_losses(run);
	phasematch_rows()->match_memory_place(&memory, &priv->matching, place);
	status = priv->checked_rows ? 0 : wrap_check(priv->right, in, &priv->matching);
	if (status == 0)
		status = find_steps(priv, priv->right, in, &memory, &steps);
	priv->pair.same = status == 0 && is_same(&priv->matching, in, &memory);
	if (status == 0)
		status = find_match(&priv->matching, priv->right, in, &memory);
	if (status == 0 && !priv->checked_rows) {
		compare_textures(priv, in, &memory);
		count_behind(priv, in, &memory);
	}
	priv->checked_rows = true;
	free(steps.step);
	free(place);
	return status;
}
