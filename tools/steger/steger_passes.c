/* Points on the device: every pixel is filtered there, candidates are listed by prefix sums and
 * refined; the processor links them to lines. */
#include "run/passes.h"

#include <string.h>

#include "feature/line_finder.h"
#include "steger.block.h"
#include "steger.h"

_Static_assert(STEGER_STEPS == LINE_STEPS && STEGER_LANES == LINE_LANES, "as in the shaders");

/* A workgroup per row, one for all, and as many invocations as pixels. */
#define PASS_ROWS .tile = { INT32_MAX, 1 }, .local = { STEGER_GROUP, 1 }
#define PASS_ONE .tile = { INT32_MAX, INT32_MAX }, .local = { STEGER_GROUP, 1 }
#define PASS_LIST .tile = { STEGER_GROUP, 1 }, .local = { STEGER_GROUP, 1 }

/* Of kernels between pixels: Mesa's llvmpipe counts the rounds of all loops of a shader together
 * and leaves a loop, without an error, after 65535 of them (LP_MAX_TGSI_LOOP_ITERATIONS); a
 * candidate may take 23 points of taps^2/2. */
#define TAPS_MOST 73

static void
describe(const struct priv *priv, const struct parameters *parameters, struct steger_block *to)
{
	const struct line_filter *f = &priv->finder->filter;
	const size_t *roi = f->options.roi;
	double sigma = f->kernels.sigma;

	*to = (struct steger_block){ .image = (uint)priv->channel,
		.background =
		    priv->background == NO_CHANNEL ? STEGER_NONE : (uint)priv->background,
		.dark = parameters->dark, .plain = f->options.plain,
		.radius = (uint)f->kernels.radius, .taps = (uint)f->taps, .room = (uint)f->room,
		.low = f->low, .limit = f->limit, .sigma = (float)sigma,
		.variance = (float)(sigma * sigma), .near_reach = (float)f->near_reach,
		.reach = (float)f->reach, .roi_x = (uint)roi[0], .roi_y = (uint)roi[1],
		.roi_w = (uint)roi[2], .roi_h = (uint)roi[3] };
}

static int
list_tables(struct passes *passes, const struct line_filter *f)
{
	size_t n = f->kernels.radius + 1;
	float kernels[3 * (DERIVATIVES_RADIUS_MOST + 1)];

	for (size_t order = 0; order < 3; order++)
		memcpy(kernels + order * n, f->kernels.weight[order], n * sizeof(*kernels));
	if (passes_constant(passes, kernels, 3 * n * sizeof(*kernels)) < 0)
		return -1;
	return passes_constant(passes, f->weight,
	    (LINE_STEPS + 1) * 3 * f->room * sizeof(*f->weight));
}

int
steger_passes(struct run *run, struct passes *passes)
{
	const struct priv *priv = run->priv;
	struct steger_block block;
	const struct pass pass[] = {
		{ SHADER(steger_columns), &block, sizeof(block), PASS_FOURS },
		{ SHADER(steger_rows), &block, sizeof(block), PASS_ROWS },
		{ SHADER(steger_offsets), &block, sizeof(block), PASS_ONE },
		{ SHADER(steger_compact), &block, sizeof(block), PASS_ROWS },
		{ SHADER(steger_refine), &block, sizeof(block), PASS_LIST },
	};

	if (priv->finder->filter.taps > TAPS_MOST)
		return passes_refuse(passes, "its sigma is above 8.75 px");
	describe(priv, run->parameters, &block);
	passes_read(passes, priv->channel);
	if (priv->background != NO_CHANNEL)
		passes_read(passes, priv->background);
	passes_scratch(passes, STEGER_SCRATCHES);
	if (list_tables(passes, &priv->finder->filter) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(pass) / sizeof(*pass); i++) {
		if (passes_add(passes, &pass[i]) < 0)
			return -1;
	}
	return 0;
}

/* ---- what comes back ---- */

/* A list's record as a candidate; false where the device dropped it. */
static bool
candidate_of(const struct line_filter *f, const uint32_t *record, struct line_candidate *c)
{
	float v[STEGER_RECORD];

	memcpy(v, record, sizeof(v));
	*c = (struct line_candidate){ record[0], record[1], v[2], v[3], v[4], v[5], v[6], v[7] };
	if (!(c->response > 0))
		return false;
	line_asymmetry_correct(f, c, v[STEGER_HALF], v[STEGER_LEFT], v[STEGER_RIGHT]);
	return true;
}

/* All tiles' candidates, in the order of rows and columns. *whole: false where a tile had no room
 * for its own. -1 after fail(). */
static int
take_lists(const struct frame *lists, struct line_finder *finder, bool *whole)
{
	struct line_candidates *all = &finder->all;
	size_t stride = lists->plane[0].stride;

	all->n = 0;
	*whole = true;
	for (size_t y = 0, rows; y < lists->head.h; y += rows) {
		const uint32_t *list = frame_row(lists, 0, y);

		rows = list[1];
		if (rows == 0 || rows > lists->head.h - y)
			return fail(NULL, "the GPU made no list of the rows from %zu on", y);
		if (list[0] >
		    (rows * stride / sizeof(*list) - STEGER_HEADER) / STEGER_RECORD) {
			*whole = false;
			return 0;
		}
		if (line_candidates_room(all, all->n + list[0]) < 0)
			return -1;
		for (size_t i = 0; i < list[0]; i++) {
			all->n += candidate_of(&finder->filter,
			    list + STEGER_HEADER + i * STEGER_RECORD, &all->v[all->n]);
		}
	}
	return 0;
}

/* The lists as a frame of the image's size; NULL: the processor is to do it. */
static int
make_lists(struct run *run, struct frame *in, enum sample type, struct frame **lists)
{
	struct frame_head head;
	int status;

	if (head_init(&head, in->head.w, in->head.h, 1, type) < 0)
		return -1;
	status = run_passes(run, in, &head, lists);
	head_free(&head);
	return status;
}

/*
 * The lists come in bytes, of which 44 pixels hold a candidate and which take no longer to bring
 * back than the image took to the device; from the first image on that needs more, in floats.
 */
int
steger_find_on_device(struct run *run, struct frame *in, const struct line_image *image,
    struct line_points *points, bool *made)
{
	struct priv *priv = run->priv;
	const struct line_filter *f = &priv->finder->filter;
	struct frame *lists;

	*made = false;
	if (!run_wants_device(run))
		return 0;
	run->halo = f->kernels.radius + f->reach + 4;
	for (;;) {
		enum sample type = priv->many ? SAMPLE_FLOAT : SAMPLE_UCHAR;
		int status = make_lists(run, in, type, &lists);

		if (status < 0 || !lists)
			return status;
		status = take_lists(lists, priv->finder, made);
		frame_free(lists);
		if (status < 0)
			return -1;
		if (*made)
			return line_find_listed(priv->finder, image, points);
		if (priv->many)
			return 0;
		priv->many = true;
	}
}
