/*
 * Temporal phase unwrapping: absolute phase out of wrapped phases of several periods, or a Gray
 * code (methods §5). Options, plan and bodies; --coarse spatial, --fit-line, and the passes of the
 * device. unwrap_sequence.c and order_search.c plan how fringe orders are found, unwrap2f_rows.c
 * computes them.
 */
#include "unwrap2f.h"

#include <stdio.h>

#include "checks/checks.h"
#include "io/safe_file.h"
#include "run/passes.h"
#include "run/stage.h"
#include "unwrap2f.block.h"
#include "unwrap2f.px.h"

BODY_ROWS(unwrap2f, compute)

/* ---- --coarse spatial: the first signal of a sequence, where it repeats within the field, is
 * unwrapped from neighbour to neighbour and orders the finer ones ---- */

/* For init. excluded: an option that was given and excludes it, or NULL. -1 after fail_usage(). */
static int
spatial_check(const struct spatial *spatial, const struct absolute_options *options,
    const char *excluded)
{
	const char *given = absolute_given(options);

	if (!spatial->on)
		return given ? fail_usage(given, "is for --coarse spatial") : 0;
	if (excluded)
		return fail_usage("--coarse", "spatial unwraps a phase or a beat, which %s does "
		    "without", excluded);
	return absolute_check(options);
}

#define WHOLE_RATIO 2e-3	/* relative: how far a ratio may be from a whole number */

/* Without an anchor a component may be off by any number of the first signal's turns. It then
 * orders only signals that make a whole number of turns in each of these. */
static int
check_ratios(const struct unwrap_steps *steps)
{
	double ratio = 1;

	for (size_t r = 1; r < steps->n; r++) {
		ratio *= (double)steps->step[r].ratio;
		if (fabs(ratio - round(ratio)) > WHOLE_RATIO * ratio)
			return fail(NULL, "the coarsest phase repeats every %.6g px, which are "
			    "%.4g periods of the next: give --anchor, --ref or a marker, which "
			    "tell its turns", steps->period_px, ratio);
	}
	return 0;
}

/* Plans for steps that begin with START_SPATIAL; out: the head of the result, with its keys. -1
 * after fail(). */
static int
spatial_plan(struct run *run, const struct absolute_options *options, const struct frame_head *in,
    const struct temporal *temporal, const struct unwrap_steps *steps, struct frame_head *out,
    struct spatial *spatial)
{
	spatial->ratio = steps->period_px / temporal->period_px[temporal->target];
	if (absolute_plan(run, options, in, steps->period_px, &out->meta, &spatial->absolute) < 0)
		return -1;
	if (phase_anchor_is_relative(&out->meta) && check_ratios(steps) < 0)
		return -1;
	meta_set(&out->meta, "components", "0");
	if (((spatial->unwrapping.patches.w != in->w || spatial->unwrapping.patches.h != in->h) &&
	    unwrapping_begin(&spatial->unwrapping, unwrap2f_rows()->cut_patches, in->w, in->h) < 0))
		return -1;
	head_free(&spatial->head);
	head_init(&spatial->head, in->w, in->h, 2, SAMPLE_FLOAT);
	return 0;
}

static size_t
count_kept(const struct components *components)
{
	size_t kept = 0;

	for (size_t i = 0; i < components->n; i++)
		kept += components->component[i].label > 0;
	return kept;
}

/* Finds the absolute phase of the first step's signal in a frame: steps->coarse. */
static int
spatial_survey(struct run *run, const struct frame *in)
{
	struct unwrap2f *unwrap = run->priv;
	struct spatial *spatial = &unwrap->spatial;
	struct unwrap_steps *steps = &unwrap->steps;
	struct spatial_job job = { in, &steps->step[0], NULL, NULL };
	struct phase_plane phase = { NULL, 0, (float)(0.5 / M_PI) };
	struct components components = { 0 };
	int status = -1;

	frame_free(spatial->found);
	spatial->found = NULL;
	if (frame_new(&spatial->head, &spatial->found) < 0)
		return -1;
	phase.frame = job.found = spatial->found;
	run_for(run, in->head.h, unwrap2f_rows()->spatial_sum, &job);
	components_unwrap(run, &spatial->unwrapping, &phase, NULL, &components);
	if (absolute_place(&spatial->absolute, &components, in, spatial->ratio) == 0) {
		job.components = &components;
		run_for(run, in->head.h, unwrap2f_rows()->spatial_place, &job);
		steps->coarse = spatial->found;
		status = meta_setf(&run_output(run)->meta, "components", "%zu",
		    count_kept(&components));
	}
	components_free(&components);
	return status;
}

/*
 * ---- --fit-line: the line that orders a beat which repeats within the field (methods §5;
 * Karpinsky 2014 eq 14; thesis fig 4.3) ----
 *
 * It is 2 pi x/P + b, x in pixels of the sensor along the fringe axis. It lies half a turn below
 * the mean of the beats of two planes, at the near and at the far end of the working volume.
 */

#define LINE_PAIRS_LEAST 16		/* fewer pairs of pixels show no plane */
#define LINE_COHERENCE_LEAST 0.3

/* Begins with neighbours; pairs ever further apart make the slope more exact, while they agree. */
static int
find_slope(const struct beat_field *field, double *slope)
{
	double turn, coherence;
	size_t n = unwrap2f_rows()->beat_turn(field, 1, 0, slope, &coherence);

	if (n < LINE_PAIRS_LEAST || coherence < LINE_COHERENCE_LEAST)
		return fail(NULL, "no plane to be seen: %zu pairs of pixels, coherence %.2f", n,
		    coherence);
	for (size_t lag = 2; lag < field->w; lag *= 2) {
		n = unwrap2f_rows()->beat_turn(field, lag, *slope * (double)lag, &turn, &coherence);
		if (n < LINE_PAIRS_LEAST || coherence < LINE_COHERENCE_LEAST)
			break;
		*slope += turn / (double)lag;
	}
	return 0;
}

static int
add_plane(struct fringe_line *line, const struct beat_field *field)
{
	double slope;

	if (find_slope(field, &slope) < 0)
		return -1;
	line->plane = must_resize(line->plane, line->n + 1, sizeof(*line->plane));
	line->plane[line->n++] = (struct fringe_line_plane){ .slope = slope / line->bin,
		.middle_rad = unwrap2f_rows()->beat_middle(field, slope),
		.first_px = line->first_px,
		.last_px = line->first_px + line->bin * (double)(field->w - 1) };
	return 0;
}

/* struct body's `frame`: adds the plane that it shows. */
static int
fit_line(struct run *run, struct frame *in)
{
	struct unwrap2f *unwrap = run->priv;
	struct fringe_line *line = &unwrap->line;
	size_t w = in->head.w, h = in->head.h;
	bool along_y = line->temporal.axis == 'y';
	struct beat_field field = { .w = along_y ? h : w, .h = along_y ? w : h };
	int status;

	field.re = must_alloc(w * h, sizeof(float));
	field.im = must_alloc(w * h, sizeof(float));
	unwrap2f_rows()->beat_load(line, in, &field);
	status = add_plane(line, &field);
	free(field.re);
	free(field.im);
	frame_free(in);
	return status;
}

/*
 * The line for the planes seen, of which successive ones are less than half a turn apart and all
 * lie within one turn. The offset gets the whole turns with which the beat is not negative anywhere
 * in the image.
 */
static int
fringe_line_fit(const struct fringe_line *line, double *period_px, double *offset_rad)
{
	const struct fringe_line_plane *first = line->plane;
	double slope = 0, phase, least, most, offset, lowest;

	if (line->n < 2)
		return fail(NULL,
		    "--fit-line wants a plane at both ends of the working volume, got %zu",
		    line->n);
	for (size_t i = 0; i < line->n; i++)
		slope += line->plane[i].slope / (double)line->n;
	phase = least = most = first->middle_rad;
	for (size_t i = 1; i < line->n; i++) {
		if (line->plane[i].first_px != first->first_px ||
		    line->plane[i].last_px != first->last_px)
			return fail(
			    NULL, "--fit-line: plane %zu lies elsewhere on the sensor", i + 1);
		phase += remainder(line->plane[i].middle_rad - phase, 2 * M_PI);
		least = fmin(least, phase);
		most = fmax(most, phase);
	}
	if (most - least >= 2 * M_PI)
		return fail(NULL,
		    "--fit-line: the planes are %.0f degrees of the beat apart, a line "
		    "orders less than 360",
		    (most - least) * 180 / M_PI);
	offset = -slope * (first->first_px + first->last_px) / 2;
	lowest = least + offset + fmin(slope * first->first_px, slope * first->last_px);
	offset -= 2 * M_PI * floor((lowest + M_PI / 8) / (2 * M_PI));
	*period_px = 2 * M_PI / slope;
	*offset_rad = (least + most) / 2 + offset - M_PI;
	return 0;
}

/* struct body's `end`: writes the line as the option --line=P,DEG. */
static int
print_line(struct run *run)
{
	const struct unwrap2f *unwrap = run->priv;
	const char *path = run->output;
	double period_px = 0, offset_rad = 0;
	struct safe_file *temporary = NULL;
	FILE *file = stdout;
	int n;

	if (fringe_line_fit(&unwrap->line, &period_px, &offset_rad) < 0)
		return -1;
	if (path && strcmp(path, "-")) {
		file = safe_file_open(path, &temporary);
		if (!file)
			return -1;
	}
	n = fprintf(file, "--line=%.8g,%.8g\n", period_px, offset_rad * 180 / M_PI);
	if (file != stdout)
		return safe_file_close(file, path, temporary, n > 0);
	return n > 0 ? 0 : fail_errno("standard output", "could not be written");
}

/* ---- the device: one pass, and another one for standard deviations ---- */

_Static_assert(UNWRAP2F_PHASES == UNWRAP_PHASES_MOST && UNWRAP2F_RIVALS == 2 * UNWRAP_RIVALS,
    "as many in the shaders");

static void
sigma_passes(const struct unwrap_sigma *sigma, const struct phase_orders *orders,
    struct passes *passes)
{
	struct unwrap2f_sigma_block block = { .phases = (uint)sigma->phases,
		.target = (uint)orders->target, .mean = sigma->mean,
		.sigma = (uint)sigma->sigma, .p_order = (uint)sigma->p_order,
		.orders = sigma->p_order != NO_CHANNEL, .rivals = (uint)sigma->rivals,
		.lo = sigma->lo, .hi = sigma->hi, .seam = sigma->seam, .first = sigma->first,
		.last = sigma->last };
	struct pass pass = { PASS_OF(unwrap2f_sigma, block), PASS_FOURS };

	for (size_t p = 0; p < sigma->phases; p++) {
		block.channel[p] = (uint)orders->channel[p];
		block.deviation[p] = (uint)sigma->channel[p];
		block.ratio[p] = orders->ratio[p];
		block.scale[p] = orders->scale[p];
		block.weight[p] = orders->weight[p];
		passes_read(passes, block.channel[p]);
		passes_read(passes, block.deviation[p]);
	}
	memcpy(block.rival, sigma->rival, sizeof(block.rival));
	passes_add(passes, &pass);
}

/* The search lists the same phases as the orders, and in the same order. */
static void
pack_lists(const struct unwrap_steps *steps, const struct phase_orders *orders,
    struct unwrap2f_block *block)
{
	for (size_t r = 0; r < steps->n; r++) {
		const struct unwrap_step *step = &steps->step[r];
		struct unwrap2f_step *packed = &block->step[r];

		*packed = (struct unwrap2f_step){ .n = (uint)step->n, .ratio = step->ratio,
			.lo = step->lo, .hi = step->hi, .span = step->span };
		for (size_t i = 0; i < step->n; i++) {
			packed->channel[i] = (uint)step->channel[i];
			packed->weight[i] = step->weight[i];
		}
	}
	for (size_t p = 0; p < orders->phases; p++) {
		block->channel[p] = (uint)orders->channel[p];
		block->own[p] = (uint)orders->own[p];
		block->ratio[p] = orders->ratio[p];
		block->scale[p] = orders->scale[p];
		block->weight[p] = orders->weight[p];
	}
}

static void
cells_pass(const struct gray_cells *cells, struct passes *passes)
{
	struct unwrap2f_cells_block block = { .along_y = cells->along_y,
		.edges = cells->edge != NO_CHANNEL, .index = (uint)cells->index,
		.edge = (uint)cells->edge, .edge_sigma = (uint)cells->edge_sigma,
		.offset = cells->offset, .most = cells->most };
	struct pass pass = { PASS_OF(unwrap2f_cells, block), PASS_PIXELS };

	passes_read(passes, cells->index);
	if (block.edges) {
		passes_read(passes, cells->edge);
		passes_read(passes, cells->edge_sigma);
	}
	passes_add(passes, &pass);
}

static int
unwrap2f_passes(struct run *run, struct passes *passes)
{
	const struct unwrap2f *unwrap = run->priv;
	const struct unwrap_steps *steps = &unwrap->steps;
	const struct phase_orders *orders = &unwrap->orders;
	const struct order_search *search = &unwrap->search;
	struct unwrap2f_block block = { .most = unwrap->max_residual, .start = steps->start,
		.steps = (uint)steps->n, .index = (uint)steps->index,
		.gray_step = steps->gray_step, .gray_offset = steps->gray_offset,
		.line_offset = steps->line_offset, .line_slope_x = steps->line_slope[0],
		.line_slope_y = steps->line_slope[1], .orders = orders->wanted,
		.fuse = orders->fuse, .all = orders->all, .target = (uint)orders->target,
		.phases = (uint)orders->phases, .best = unwrap->method == METHOD_BEST,
		.complete = search->complete, .norm = search->norm, .lo = search->lo,
		.hi = search->hi, .slack = search->slack, .sure = search->sure,
		.inner_sure = search->inner_sure, .inner_lo = search->inner_lo,
		.inner_hi = search->inner_hi,
		.per_distance = search->distance > 0 ? 1 / search->distance : 0,
		.first = (int)search->first, .last = (int)search->last };
	struct pass pass = { PASS_OF(unwrap2f, block), PASS_FOURS };

	if (unwrap->cells.on) {
		cells_pass(&unwrap->cells, passes);
		return 0;
	}
	pack_lists(steps, orders, &block);
	for (size_t p = 0; (block.best || block.orders) && p < orders->phases; p++)
		passes_read(passes, block.channel[p]);
	for (size_t r = 0; r < steps->n; r++)
		for (size_t i = 0; i < steps->step[r].n; i++)
			passes_read(passes, steps->step[r].channel[i]);
	if (steps->n && (steps->start == START_PREDICTED || steps->start == START_COUNTED))
		passes_read(passes, steps->index);
	passes_add(passes, &pass);
	if (unwrap->sigma.phases)
		sigma_passes(&unwrap->sigma, orders, passes);
	return 0;
}

/* ---- options ---- */

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
	    "period of every phase" },
	{ 0, "count", "N,...", OPT_NUMBERS, AT(head.count), NULL, 1e-3, 1e6, "fringes",
	    "instead of the periods: fringes over the field, of every phase" },
	{ 0, "field", "PX", OPT_NUMBER, AT(head.field_px), NULL, 1, 1e6, "projector px",
	    "width of the field along the axis" },
	{ 'a', "axis", "WORD", OPT_WORD, AT(head.axis), "auto", 0, 0, NULL,
	    "phases to use; auto: those with the first one's axis", axes },
	{ 'u', "unwrap", "K", OPT_INTEGER, AT(head.unwrap), NULL, 1, 1000, NULL,
	    "unwrap phase K; if not given, the one of the shortest period" },
	{ 0, "gray-cell", "WORD", OPT_WORD, AT(head.gray_cell), NULL, 0, 0, NULL,
	    "what the Gray code counts", cells },
	{ 0, "gray-of", "K", OPT_INTEGER, AT(head.gray_of), NULL, 1, 1000, NULL,
	    "the Gray code belongs to phase K; if not given, to the one of its period" },
	{ 0, "gray-offset", "DEG", OPT_ANGLE, AT(gray_offset), NULL, -360, 360, "degrees",
	    "edges of the Gray code lie at minus this phase; half a projector px if not given" },
	{ 'l', "line", "PX,DEG", OPT_NUMBERS, AT(line), NULL, 0, 0, NULL,
	    "a beat that repeats: its period in camera px, the offset of the lowest phase" },
	FLAG_ROW(0, "fit-line", fit_line,
	    "print --line from captures of a plane at the near and at the far end"),
	FLAG_ROW(0, "fuse", fuse, "the weighted mean of all phases, each with its own order"),
	{ 0, "sigma", "RAD,...", OPT_NUMBERS, AT(sigma), NULL, 1e-9, 1e9, "rad",
	    "scatter of every phase, for --fuse; only their ratios count" },
	FLAG_ROW(0, "all", all, "every phase, each with its own order: absphase1, absphase2, ..."),
	{ 0, "coarse", "WORD", OPT_WORD, AT(coarse), "field", 0, 0, NULL,
	    "the coarsest phase spans the field, or is unwrapped from neighbour to neighbour",
	    coarse },
	ABSOLUTE_OPTIONS(AT(absolute)),
	{ 'r', "max-residual", "TURNS", OPT_NUMBER, AT(max_residual), "0.5", 0, 0.5, "periods",
	    "larger residuals make a pixel invalid" },
	{ 0 },
};

static const struct body body = { .rows = unwrap2f_compute, .passes = unwrap2f_passes };

static const struct body body_spatial = { .survey = spatial_survey, .rows = unwrap2f_compute,
	.no_passes = "the coarsest phase is unwrapped across the whole image" };

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
	if (line->n && line->v[0] == 0)
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

/* The search, after a sequence if there is one. Where the width of the field is not known, the
 * sequence gives it. */
static int
plan_best(const struct temporal *temporal, struct unwrap2f *unwrap)
{
	struct temporal base = *temporal;
	double field_px = temporal->field_px;

	base.target = temporal_shortest(temporal);
	if (temporal->phases > 1 && (field_px > 0 || !unwrap->search.complete) &&
	    unwrap_steps_by_phases(&base, UNWRAP_PHASES | UNWRAP_BEATS, &unwrap->steps) < 0) {
		if (field_px == 0)
			return -1;
		fail_clear();
		unwrap->steps.n = 0;
	}
	if (field_px == 0)
		field_px = unwrap->steps.field_px;
	return order_search_plan(temporal, field_px, &unwrap->search);
}

/* By the best orders, or by the sequence alone where several orders fit all phases equally. */
static int
plan_auto(const struct run *run, const struct temporal *temporal, struct unwrap2f *unwrap)
{
	unwrap->search.complete = false;
	if (plan_best(temporal, unwrap) == 0) {
		unwrap->method = METHOD_BEST;
		return 0;
	}
	if (unwrap->steps.n == 0)
		return -1;
	if (run->verbose && !unwrap->noted)
		note(NULL, "by beats, not by the best orders: %s", fail_message());
	fail_clear();
	return unwrap_steps_by_phases(temporal, UNWRAP_PHASES | UNWRAP_BEATS, &unwrap->steps);
}

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
	if (parameters->fit_line) {
		unwrap->line.temporal = *temporal;
		return temporal_first_px(temporal, in, &unwrap->line.first_px, &unwrap->line.bin);
	}
	if (unwrap->spatial.on)
		return unwrap_steps_by_space(temporal, signals[unwrap->method], &unwrap->steps);
	if (line->n)
		return unwrap_steps_by_line(temporal, in, line->v[0], line->v[1] * M_PI / 180,
		    &unwrap->steps);
	if (unwrap->method == METHOD_GRAY)
		return unwrap_steps_by_gray(temporal, parameters->gray_offset, &unwrap->steps);
	if (unwrap->method == METHOD_BEST)
		return plan_best(temporal, unwrap);
	if (unwrap->method == METHOD_AUTO && temporal->phases > 2)
		return plan_auto(run, temporal, unwrap);
	return unwrap_steps_by_phases(temporal, signals[unwrap->method], &unwrap->steps);
}

/* The orders of all phases. If they are wanted, the sequence or search unwraps the base. */
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

/* The channels after absphase, residual and one absphase of every phase: sigma, p_order (not of a
 * Gray code, whose bits are wrong for other reasons), label. Counts them in unwrap->made. */
static const char *
plan_more_channels(const struct temporal *temporal, struct unwrap2f *unwrap)
{
	const struct unwrap_steps *steps = &unwrap->steps;
	double base_px = temporal->period_px[temporal_shortest(temporal)];
	double field_px = temporal->field_px > 0 ? temporal->field_px : steps->field_px;
	bool spatial = unwrap->spatial.on;
	/* a line, or neighbours, order the coarsest signal */
	bool turns = steps->n && (steps->start == START_LINE || spatial);

	if (unwrap->sigma.phases == 0) {
		unwrap->made += spatial;
		return spatial ? "label" : "";
	}
	unwrap->sigma.sigma = unwrap->made++;
	if (unwrap->method == METHOD_GRAY || (spatial && steps->n < 2)) {
		unwrap->made += spatial;
		return spatial ? "sigma label" : "sigma";
	}
	unwrap->sigma.p_order = unwrap->made++;
	unwrap_sigma_rivals(temporal, field_px, turns ? steps->period_px / base_px : 0,
	    &unwrap->sigma);
	unwrap->made += spatial;
	return spatial ? "sigma p_order label" : "sigma p_order";
}

/* The key steps, where it has one number for all phases; else 0. */
static size_t
read_steps(const struct frame_head *in)
{
	double n = 0;

	if (meta_get(&in->meta, "steps") && meta_number(&in->meta, "steps", 0, &n) < 0) {
		fail_clear();
		return 0;
	}
	return n >= 3 && n <= 1000 ? (size_t)n : 0;
}

/* Where --period or --count is not what the frame itself says. */
static void
state_periods(const struct temporal_options *options, const struct temporal *temporal,
    const struct frame_head *in, struct check_facts *facts)
{
	struct numbers own;

	if (!options->period_px.n && !options->count.n)
		return;
	if (meta_numbers(&in->meta, "period_px", &own) < 0) {
		fail_clear();		/* the option replaces it */
		return;
	}
	facts->period_option = options->count.n ? "--count" : "--period";
	for (size_t i = 0; i < temporal->phases; i++) {
		size_t at = temporal->number[i] - 1;

		while (facts->periods <= at)
			facts->key_px[facts->periods++] = NAN;
		facts->given_px[at] = temporal->period_px[i];
		if (at < own.n && fabs(temporal->period_px[i] / own.v[at] - 1) >= SAME_PERIOD)
			facts->key_px[at] = own.v[at];
	}
	numbers_free(&own);
}

/* Fills in what the checks know (run/check.h). ordered: the phase that the sequence or search
 * unwraps. */
static void
state_facts(struct run *run, const struct frame_head *in, const struct temporal *temporal,
    size_t ordered)
{
	const struct parameters *parameters = run->parameters;
	struct unwrap2f *unwrap = run->priv;
	const struct unwrap_steps *steps = &unwrap->steps;
	const struct order_search *search = &unwrap->search;
	struct fringe_orders *told = &unwrap->told;
	bool best = unwrap->method == METHOD_BEST, gray = unwrap->method == METHOD_GRAY;

	*told = (struct fringe_orders){ .axis = temporal->axis, .phases = temporal->phases,
		.steps = read_steps(in), .ordered = ordered, .target = temporal->target,
		.method = best ? ORDERS_BEST : gray ? ORDERS_BY_GRAY : ORDERS_BY_SEQUENCE,
		.averaged = unwrap->orders.fuse, .field_px = temporal->field_px,
		.max_residual = (double)unwrap->max_residual,
		.other_losses = gray || steps->start == START_SPATIAL };
	memcpy(told->channel, temporal->channel, sizeof(told->channel));
	memcpy(told->number, temporal->number, sizeof(told->number));
	memcpy(told->period_px, temporal->period_px, sizeof(told->period_px));
	if (steps->n && steps->start == START_FIELD)
		told->first_period_px = steps->period_px;
	if (temporal->phases == 2 && !best && !gray && steps->n == 2 && steps->step[0].n == 2 &&
	    steps->start != START_SPATIAL)
		told->beat_px = steps->period_px;
	if (steps->n && temporal->phases > 2 && temporal->field_px == 0)
		told->assumed_field_px = steps->field_px;
	if (gray && temporal->cell != GRAY_COLUMN) {
		told->index = temporal->index;
		told->gray_of = temporal->gray_of;
		told->code_turns = temporal->cell == GRAY_HALF ? 0.5 : 1;
	}
	if (gray)	/* a code of periods leaves residuals of any size, however right it is */
		told->gray_cell_turns = temporal->cell == GRAY_PERIOD ? NAN :
		    temporal->cell == GRAY_HALF ? 0.5 : 1 / temporal->period_px[temporal->target];
	if (best) {
		double base_px = temporal->period_px[temporal_shortest(temporal)];

		told->searched_px = (double)(search->hi - search->lo) * base_px;
		told->order_distance = (double)search->distance;
		told->random_residual = (double)search->chance;
	}
	run_check_facts(run)->orders = told;
	state_periods(&parameters->head, temporal, in, run_check_facts(run));
}

/* For a Gray code without a phase. -1 after fail(). */
static int
plan_cells(struct run *run, const struct frame_head *in, const struct temporal *temporal,
    struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct unwrap2f *unwrap = run->priv;
	struct gray_cells *cells = &unwrap->cells;
	size_t number = head_channel(in, "index2") == temporal->index ? 2 : 1;
	/* of the code's edges before phase 0, in cells */
	double offset = temporal->cell == GRAY_COLUMN || isnan(parameters->gray_offset) ?
	    0.5 / temporal->cell_px :
	    parameters->gray_offset / (temporal->cell == GRAY_HALF ? M_PI : 2 * M_PI);
	const char *lost = parameters->line.n ? "--line" : parameters->fit_line ? "--fit-line" :
	    parameters->fuse ? "--fuse" : parameters->all ? "--all" :
	    unwrap->spatial.on ? "--coarse" : unwrap->method != METHOD_AUTO &&
	    unwrap->method != METHOD_GRAY ? "--method" : NULL;

	if (lost)
		return fail(lost, "is for phases, and the input has a Gray code alone");
	*cells = (struct gray_cells){ .on = true, .along_y = temporal->axis == 'y',
		.index = temporal->index, .offset = (float)(-2 * M_PI * offset),
		.most = temporal->field_px > 0 ? (float)((temporal->field_px - 0.5) /
		    temporal->cell_px + offset) : INFINITY,
		.edge = head_numbered_channel(in, "edge", number),
		.edge_sigma = head_numbered_channel(in, "edge_sigma", number) };
	if (cells->edge_sigma == NO_CHANNEL)
		cells->edge = NO_CHANNEL;
	run->halo = cells->edge != NO_CHANNEL && cells->along_y ? UNWRAP2F_REACH : 0;
	run_check_facts(run)->orders = NULL;
	unwrap->made = 2;
	return temporal_output(run, temporal, false, "sigma", in, out);
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct unwrap2f *unwrap = run->priv;
	struct temporal temporal, ordered;

	unwrap->method = (enum unwrap2f_method)parameters->method;
	unwrap->max_residual = (float)parameters->max_residual;
	if (temporal_read(in, &parameters->head, &temporal) < 0)
		return -1;
	unwrap->cells.on = false;
	run->halo = 0;
	if (temporal.phases == 0)
		return plan_cells(run, in, &temporal, out);
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
	if (!parameters->fit_line)
		state_facts(run, in, &temporal, ordered.target);
	if (run->verbose && !unwrap->noted && unwrap->method != METHOD_GRAY)
		note(NULL, "nothing in these phases tells whether they are mirrored (phasewrap "
		    "--sign): a Gray code would, or phase2depth --calib");
	unwrap->noted = true;
	if (temporal_output(run, &temporal, parameters->all,
	    plan_more_channels(&temporal, unwrap), in, out) < 0)
		return -1;
	return unwrap->spatial.on ? spatial_plan(run, &parameters->absolute, in, &temporal,
	    &unwrap->steps, out, &unwrap->spatial) : 0;
}

static void
end(struct run *run)
{
	struct unwrap2f *unwrap = run->priv;

	order_search_free(&unwrap->search);
	free(unwrap->line.plane);
	frame_free(unwrap->spatial.found);
	unwrapping_free(&unwrap->spatial.unwrapping);
	head_free(&unwrap->spatial.head);
}

static const struct check *const checks[] = { &check_beat, &check_field, &check_residuals,
	&check_jumps, &check_gray_of, &check_offset, &check_period_key, NULL };

const struct stage stage_unwrap2f = {
	.name = "unwrap2f",
	.summary = "absolute phase out of wrapped phases of several periods, or a Gray code",
	.hint = "--max-residual",
	.options = options,
	.usual = "method period field axis unwrap max-residual fuse all coarse gray-cell",
	STAGE_MEMORY(unwrap2f),
	.checks = checks,
	.traits = STAGE_UNITS | STAGE_CONCURRENT,
	.example = { "unwrap2f", "filtered", "absolute" },
	.init = init,
	.plan = plan,
	.release = end,
};
