/* Temporal phase unwrapping: absolute phase out of wrapped phases of several periods, or a Gray
 * code. */
#define _GNU_SOURCE
#include "unwrap2f.h"
#include "run/stage.h"

#include <math.h>
#include <stdlib.h>

struct parameters {
	struct temporal_options head;
	struct numbers line;
	bool fit_line, fuse, all;
	struct numbers sigma;
	int method;
	double gray_offset, max_residual;
	int coarse;
	struct absolute_options absolute;
};

enum coarse { COARSE_FIELD, COARSE_SPATIAL };

#define AT(field) offsetof(struct parameters, field)

static const char *const methods[] = {
	"auto", "two", "heterodyne", "hierarchical", "gray", "best", NULL
};
static const char *const axes[] = { "auto", "x", "y", NULL };
static const char *const coarse[] = { "field", "spatial", NULL };	/* enum coarse */
static const char *const cells[] = { "column", "period", "half", NULL };

static const struct opt options[] = {
	{ 'm', "method", "WORD", OPT_WORD, AT(method), "auto", 0, 0, NULL,
	    "how to find the fringe order", methods },
	{ 'p', "period", "PX,...", OPT_NUMBERS, AT(head.period_px), NULL, 1e-3, 1e6, "projector px",
	    "period of every phase", NULL },
	{ 0, "count", "N,...", OPT_NUMBERS, AT(head.count), NULL, 1e-3, 1e6, "fringes",
	    "instead of the periods: fringes over the field, of every phase", NULL },
	{ 0, "field", "PX", OPT_NUMBER, AT(head.field_px), NULL, 1, 1e6, "projector px",
	    "width of the field along the axis", NULL },
	{ 'a', "axis", "WORD", OPT_WORD, AT(head.axis), "auto", 0, 0, NULL,
	    "phases to use; auto: those with the first one's axis", axes },
	{ 'u', "unwrap", "K", OPT_INTEGER, AT(head.unwrap), NULL, 1, 1000, NULL,
	    "unwrap phase K; if not given, the one of the shortest period", NULL },
	{ 0, "gray-cell", "WORD", OPT_WORD, AT(head.gray_cell), NULL, 0, 0, NULL,
	    "what the Gray code counts", cells },
	{ 0, "gray-offset", "DEG", OPT_ANGLE, AT(gray_offset), NULL, -360, 360, "degrees",
	    "edges of the Gray code lie at minus this phase; half a projector px if not given",
	    NULL },
	{ 'l', "line", "PX,DEG", OPT_NUMBERS, AT(line), NULL, 0, 0, NULL,
	    "a beat that repeats: its period in camera px, the offset of the lowest phase",
	    NULL },
	{ 0, "fit-line", NULL, OPT_FLAG, AT(fit_line), NULL, 0, 0, NULL,
	    "print --line from captures of a plane at the near and at the far end", NULL },
	{ 0, "fuse", NULL, OPT_FLAG, AT(fuse), NULL, 0, 0, NULL,
	    "the weighted mean of all phases, each with its own order", NULL },
	{ 0, "sigma", "RAD,...", OPT_NUMBERS, AT(sigma), NULL, 1e-9, 1e9, "rad",
	    "scatter of every phase, for --fuse; only their ratios count", NULL },
	{ 0, "all", NULL, OPT_FLAG, AT(all), NULL, 0, 0, NULL,
	    "every phase, each with its own order: absphase1, absphase2, ...", NULL },
	{ 0, "coarse", "WORD", OPT_WORD, AT(coarse), "field", 0, 0, NULL,
	    "the coarsest phase spans the field, or is unwrapped from neighbour to neighbour",
	    coarse },
	ABSOLUTE_OPTIONS(AT(absolute)),
	{ 'r', "max-residual", "TURNS", OPT_NUMBER, AT(max_residual), "0.5", 0, 0.5, "periods",
	    "larger residuals make a pixel invalid", NULL },
	{ 0 },
};

static const struct body body = { .rows = unwrap2f_rows, .after = unwrap2f_after,
	.passes = unwrap2f_passes };

static int
survey(struct run *run, const struct frame *in)
{
	struct unwrap2f *unwrap = run->priv;

	return spatial_find(run, &unwrap->spatial, in, &unwrap->steps);
}

static const struct body body_spatial = { .survey = survey, .rows = unwrap2f_rows,
	.after = unwrap2f_after,
	.no_passes = "the coarsest phase is unwrapped across the whole image" };

/* ---- fitting the line: a plane per frame, text at the end ---- */

static int
fit_line(struct run *run, struct frame *in)
{
	struct unwrap2f *unwrap = run->priv;
	int status = fringe_line_add(&unwrap->line, in);

	frame_free(in);
	return status;
}

static int
print_line(struct run *run)
{
	struct unwrap2f *unwrap = run->priv;

	return fringe_line_print(&unwrap->line, run->output);
}

static const struct body body_line = { .frame = fit_line, .end = print_line };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	const struct numbers *line = &parameters->line;
	struct unwrap2f *unwrap = run->priv;

	run->body = parameters->fit_line ? &body_line : &body;
	run->sink = parameters->fit_line;
	if (line->n && parameters->fit_line)
		return fail_usage(NULL, "give --line or --fit-line, not both");
	if (line->n && (line->n != 2 || line->v[0] == 0))
		return fail_usage("--line", "wants a period in camera px and an offset in degrees");
	if (parameters->fit_line && (parameters->fuse || parameters->all))
		return fail_usage(NULL, "give --fit-line or --%s, not both",
		    parameters->fuse ? "fuse" : "all");
	if (parameters->sigma.n && !parameters->fuse)
		return fail_usage("--sigma", "is for --fuse");
	unwrap->spatial.on = parameters->coarse == COARSE_SPATIAL;
	if (unwrap->spatial.on)
		run->body = &body_spatial;
	return spatial_check(&unwrap->spatial, &parameters->absolute,
	    line->n ? "--line" : parameters->fit_line ? "--fit-line" :
	    parameters->method == METHOD_GRAY ? "--method=gray" :
	    parameters->method == METHOD_BEST ? "--method=best" : NULL);
}

/* ---- planning ---- */

static int
choose_steps(struct run *run, const struct frame_head *in, const struct temporal *temporal,
    struct unwrap2f *unwrap)
{
	const struct parameters *parameters = run->parameters;
	static const unsigned signals[] = {
		[METHOD_AUTO] = UNWRAP_PHASES | UNWRAP_BEATS, [METHOD_TWO] = UNWRAP_BEATS,
		[METHOD_HETERODYNE] = UNWRAP_BEATS, [METHOD_HIERARCHICAL] = UNWRAP_PHASES
	};
	const struct numbers *line = &parameters->line;

	if ((unwrap->method == METHOD_TWO || line->n || parameters->fit_line) &&
	    temporal->phases != 2)
		return fail(NULL, "%s is for two phases, the input has %zu",
		    parameters->fit_line ? "--fit-line" : line->n ? "--line" : "--method=two",
		    temporal->phases);
	if (parameters->fit_line)
		return fringe_line_plan(&unwrap->line, in, temporal);
	if (unwrap->spatial.on)
		return unwrap_steps_by_space(temporal, signals[unwrap->method], &unwrap->steps);
	if (line->n)
		return unwrap_steps_by_line(temporal, in, line->v[0], line->v[1] * M_PI / 180,
		    &unwrap->steps);
	if (unwrap->method == METHOD_GRAY)
		return unwrap_steps_by_gray(temporal, parameters->gray_offset, &unwrap->steps);
	if (unwrap->method == METHOD_BEST)
		return unwrap2f_plan_best(temporal, unwrap);
	if (unwrap->method == METHOD_AUTO && temporal->phases > 2)
		return unwrap2f_plan_auto(run, temporal, unwrap);
	return unwrap_steps_by_phases(temporal, signals[unwrap->method], &unwrap->steps);
}

/* The orders of all phases, if they are wanted: then the sequence or search goes to the base. */
static int
plan_orders(const struct run *run, const struct frame_head *in, const struct temporal *temporal,
    struct unwrap2f *unwrap)
{
	const struct parameters *parameters = run->parameters;

	unwrap->orders.fuse = parameters->fuse;
	unwrap->orders.all = parameters->all;
	unwrap->made = 2 + (parameters->all ? temporal->phases : 0);
	if (phase_orders_plan(temporal, in, &parameters->sigma, &unwrap->orders) < 0 ||
	    unwrap_sigma_plan(temporal, in, &unwrap->orders, parameters->sigma.n > 0,
	    &unwrap->sigma) < 0)
		return -1;
	if (parameters->fuse && temporal->phases == 1 && !unwrap->noted)
		warn("--fuse", "there is one phase along %c: nothing to fuse", temporal->axis);
	return 0;
}

/* A code of periods leaves residuals of any size, however right it is; so does nothing at all. */
static int
plan_check(const struct temporal *temporal, const struct frame_head *in, struct unwrap2f *unwrap)
{
	bool best = unwrap->method == METHOD_BEST;

	if (unwrap->method == METHOD_GRAY && temporal->cell == GRAY_PERIOD)
		unwrap->check.off = true;
	unwrap->check.cell = 0;
	if (unwrap->method == METHOD_GRAY && temporal->cell != GRAY_PERIOD)
		unwrap->check.cell = temporal->cell == GRAY_HALF ? 0.5 :
		    1 / temporal->period_px[temporal->target];
	return residual_check_plan(&unwrap->check, in->w, in->h, best ? unwrap->search.chance : 0);
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct unwrap2f *unwrap = run->priv;
	struct temporal temporal, ordered;

	free(unwrap->source_channel);
	unwrap->source_channel = NULL;
	unwrap->method = (enum unwrap2f_method)parameters->method;
	unwrap->max_residual = (float)parameters->max_residual;
	if (temporal_read(in, &parameters->head, &temporal) < 0 ||
	    period_conflict_find(&unwrap->conflict, &parameters->head, &temporal, in) < 0)
		return -1;
	if (unwrap->method == METHOD_GRAY && temporal.index == NO_CHANNEL)
		return run_channel(run, in, "index", &temporal.index);
	if (unwrap->method == METHOD_AUTO && temporal.index != NO_CHANNEL &&
	    parameters->line.n == 0 && !unwrap->spatial.on)
		unwrap->method = METHOD_GRAY;
	if (plan_orders(run, in, &temporal, unwrap) < 0)
		return -1;
	ordered = temporal;
	if (unwrap->orders.wanted)
		ordered.target = temporal_shortest(&temporal);
	unwrap->steps.n = 0;
	unwrap->search.complete = true;
	if (choose_steps(run, in, &ordered, unwrap) < 0)
		return -1;
	unwrap->orders.wanted |= unwrap->method == METHOD_BEST && unwrap->orders.target > 0;
	if (plan_check(&temporal, in, unwrap) < 0 ||
	    unwrap2f_plan_beat(&temporal, &ordered, in, unwrap) < 0 ||
	    jump_check_plan(&unwrap->jumps, in, temporal.axis) < 0 ||
	    unwrap2f_plan_offset(&temporal, in, unwrap) < 0 ||
	    unwrap2f_plan_memory(run, unwrap) < 0)
		return -1;
	if (run->verbose && !unwrap->noted && unwrap->method != METHOD_GRAY)
		note(NULL, "nothing in these phases tells whether they are mirrored (phasewrap "
		    "--sign): a Gray code would, or phase2depth --calib");
	unwrap->noted = true;
	if (temporal_output(&temporal, parameters->all, unwrap2f_plan_more(&temporal, unwrap), in,
	    out, &unwrap->source_channel) < 0)
		return -1;
	if (unwrap->spatial.on && spatial_plan(run, &parameters->absolute, in, &temporal,
	    &unwrap->steps, out, &unwrap->spatial) < 0)
		return -1;
	for (size_t c = unwrap->made; c < out->c; c++)
		if (run_pass(run, c, unwrap->source_channel[c]) < 0)
			return -1;
	return 0;
}

static void
end(struct run *run)
{
	struct unwrap2f *unwrap = run->priv;

	free(unwrap->source_channel);
	order_search_free(&unwrap->search);
	residual_check_free(&unwrap->check);
	jump_check_free(&unwrap->jumps);
	beat_check_free(&unwrap->beat);
	offset_check_free(&unwrap->offset);
	fringe_line_free(&unwrap->line);
	spatial_free(&unwrap->spatial);
}

STAGE(unwrap2f) = {
	.name = "unwrap2f",
	.summary = "absolute phase out of wrapped phases of several periods, or a Gray code",
	.operands = "[FILE ...]",
	.hint = "--max-residual",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct unwrap2f),
	.traits = STAGE_UNITS | STAGE_CONCURRENT,
	.agree = AGREE_EXACT,
	.example = { "unwrap2f", "filtered", "absolute" },
	.init = init,
	.plan = plan,
	.release = end,
};
