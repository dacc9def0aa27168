/*
 * Plans for unwrap2f how the phases of a frame order each other: what its metadata tells of the
 * phases, the sequence of signals that leads from one that is unambiguous over the field to the
 * phase that is to be unwrapped, and the orders of all other phases (methods §5).
 */
#include "unwrap2f.h"

#include <limits.h>
#include <stdio.h>

#include "fringe/capture_set.h"
#include "fringe/phase_steps.h"

/* ---- metadata: the phases along one axis, their periods, the field and the Gray code ---- */

/* Word i of a list with a word for each phase, or one word for all of them. */
static char
axis_of(const char *list, size_t i)
{
	char word[8];

	if (!list || !meta_word(list, meta_words(list) == 1 ? 0 : i, word, sizeof(word)))
		return 'x';
	return word[0] == 'y' ? 'y' : 'x';
}

static int
check_axes(const char *list, size_t phases)
{
	char word[8];
	size_t n = list ? meta_words(list) : 1;

	if (n != 1 && n != phases)
		return fail("axis", "%zu words for %zu phases", n, phases);
	for (size_t i = 0; list && i < n; i++)
		if (!meta_word(list, i, word, sizeof(word)) ||
		    (strcmp(word, "x") && strcmp(word, "y")))
			return fail("axis", "must be x or y, not '%.60s'", list);
	return 0;
}

static int
read_field(const struct frame_head *head, const struct temporal_options *options,
    struct temporal *out)
{
	struct numbers projector;
	int status = 0;

	out->field_px = 0;
	if (!isnan(options->field_px)) {
		out->field_px = options->field_px;
		return 0;
	}
	/* one number for both axes, of phasewrap --field; a projector has two */
	if (!meta_get(&head->meta, "projector_px") && meta_get(&head->meta, "field_px")) {
		if (meta_number(&head->meta, "field_px", 0, &out->field_px) < 0)
			return -1;
		return out->field_px >= 1 && out->field_px <= 1e6 ? 0 :
		    fail("field_px", "%g is no width of a field", out->field_px);
	}
	if (meta_numbers(&head->meta, "projector_px", &projector) < 0)
		return -1;
	if (projector.n == 2)
		out->field_px = projector.v[out->axis == 'y'];
	else if (projector.n)
		status =
		    fail("projector_px", "wants width and height, not %zu numbers", projector.n);
	if (status == 0 && projector.n && !(out->field_px >= 1 && out->field_px <= 1e6))
		status = fail("projector_px", "%g is no width of a projector", out->field_px);
	numbers_free(&projector);
	return status;
}

/* The periods of all phase channels, whichever axis. */
static int
read_periods(const struct frame_head *head, const struct temporal_options *options,
    size_t phases, double field_px, double *period_px)
{
	const struct numbers *list = &options->period_px;
	struct numbers stored = { 0 };
	int status = 0;

	if (options->count.n) {
		if (list->n)
			return fail_usage(NULL, "give --period or --count, not both");
		if (field_px == 0)
			return fail(NULL, "--count needs the width of the field: give --field");
		list = &options->count;
	}
	if (list->n == 0) {
		if (meta_numbers(&head->meta, "period_px", &stored) < 0)
			return -1;
		list = &stored;
	}
	if (list->n == 0)
		status = fail(NULL, "the input has no key period_px: give --period, or --count "
		    "and --field");
	else if (list->n != phases)
		status = fail(NULL, "%zu %s for %zu phases", list->n,
		    options->count.n ? "counts" : "periods", phases);
	for (size_t i = 0; status == 0 && i < phases; i++) {
		period_px[i] = options->count.n ? field_px / list->v[i] : list->v[i];
		if (!(period_px[i] >= 1e-3 && period_px[i] <= 1e6))
			status = fail("period_px", "%g is no fringe period", list->v[i]);
	}
	numbers_free(&stored);
	return status;
}

/* The phase of the shortest period, the first of several. */
size_t
temporal_shortest(const struct temporal *temporal)
{
	size_t shortest = 0;

	for (size_t i = 1; i < temporal->phases; i++)
		if (temporal->period_px[i] < temporal->period_px[shortest])
			shortest = i;
	return shortest;
}

/* Phase i (from 0) of a list that begins with phase `base` and continues with the others in
 * order. */
size_t
temporal_from_base(size_t base, size_t i)
{
	return i == 0 ? base : i <= base ? i - 1 : i;
}

static int
choose_target(const struct temporal_options *options, struct temporal *out)
{
	out->target = temporal_shortest(out);
	if (options->unwrap == LONG_MIN)
		return 0;
	for (size_t i = 0; i < out->phases; i++)
		if (out->number[i] == (size_t)options->unwrap) {
			out->target = i;
			return 0;
		}
	return fail(
	    NULL, "--unwrap %ld: there is no such phase along %c", options->unwrap, out->axis);
}

/* The phase whose periods the code counts: --gray-of, else the one whose key period_px is the
 * code's gray_period_px, else the first. `number` of the code, from 1. -1 after fail(). */
static int
choose_coded_phase(const struct frame_head *head, const struct temporal_options *options,
    size_t number, struct temporal *out)
{
	const bool given = options->gray_of != LONG_MIN;
	struct numbers code = { 0 }, own = { 0 };
	bool found = false;
	int status = 0;

	if (!given && (meta_numbers(&head->meta, "gray_period_px", &code) < 0 ||
	    meta_numbers(&head->meta, "period_px", &own) < 0))
		status = -1;
	for (size_t i = 0; i < out->phases && !found; i++) {
		size_t at = out->number[i] - 1;

		found = given ? out->number[i] == (size_t)options->gray_of : number <= code.n &&
		    at < own.n && fabs(own.v[at] / code.v[number - 1] - 1) < SAME_PERIOD;
		out->gray_of = found ? i : 0;
	}
	numbers_free(&code);
	numbers_free(&own);
	return status < 0 || found || !given ? status : fail(NULL, "--gray-of %ld: there is no "
	    "such phase along %c", options->gray_of, out->axis);
}

/* `index`, or index1 for x and index2 for y. */
static int
read_index(const struct frame_head *head, const struct temporal_options *options,
    struct temporal *out)
{
	static const char *const cells[] = { "column", "period", "half" };
	size_t number = head_channel(head, "index2") != NO_CHANNEL && out->axis == 'y' ? 2 : 1;
	const char *cell = meta_get(&head->meta, "gray_cell");

	out->index = head_numbered_channel(head, "index", number);
	if (out->index == NO_CHANNEL)
		return options->gray_of == LONG_MIN ? 0 :
		    fail("--gray-of", "the input has no channel index");
	if (out->phases && choose_coded_phase(head, options, number, out) < 0)
		return -1;
	if (options->gray_cell >= 0) {
		out->cell = (enum temporal_cell)options->gray_cell;
		if (cell && strcmp(cell, cells[out->cell]))
			warn("--gray-cell", "%s, but the input's key gray_cell is %.60s",
			    cells[out->cell], cell);
		return 0;
	}
	if (!cell)
		return fail(NULL, "the input has an index, but no key gray_cell: give --gray-cell");
	for (size_t i = 0; i < 3; i++)
		if (!strcmp(cell, cells[i])) {
			out->cell = (enum temporal_cell)i;
			return 0;
		}
	return fail("gray_cell", "must be column, period or half, not '%.60s'", cell);
}

/* A Gray code without a phase: the size of its cells. -1 after fail(). */
static int
read_code_alone(const struct frame_head *head, const struct temporal_options *options,
    struct temporal *out)
{
	const struct numbers *given = &options->period_px;
	struct numbers known = { 0 };
	double period_px = NAN;

	out->axis = options->axis ? "xy"[options->axis - 1] :
	    axis_of(meta_get(&head->meta, "axis"), 0);
	if (options->unwrap != LONG_MIN || options->gray_of != LONG_MIN || options->count.n)
		return fail(options->count.n ? "--count" : options->unwrap != LONG_MIN ?
		    "--unwrap" : "--gray-of", "the input has a Gray code and no phase");
	if (read_field(head, options, out) < 0 || read_index(head, options, out) < 0)
		return -1;
	if (head_channel(head, "index1") != NO_CHANNEL && out->axis == 'y' &&
	    head_channel(head, "index2") == NO_CHANNEL)
		return fail(NULL, "no Gray code runs along y");
	if (out->cell == GRAY_COLUMN && given->n)
		return fail("--period", "the cells of a code of columns are 1 px wide: of wider "
		    "ones say --gray-cell period, too");
	if (meta_numbers(&head->meta, "gray_period_px", &known) < 0)
		return -1;
	if (known.n)
		period_px = known.v[known.n > 1 && out->axis == 'y'];
	numbers_free(&known);
	if (out->cell != GRAY_COLUMN && given->n != 1 && (given->n || isnan(period_px)))
		return fail(NULL, "the input has a Gray code of %s and no phase: --period says how "
		    "many projector px these are, one number", out->cell == GRAY_HALF ?
		    "half periods" : "periods");
	if (given->n && given->v[0] != period_px && !isnan(period_px))
		warn("--period", "%g px, but the input's key gray_period_px is %g", given->v[0],
		    period_px);
	if (given->n)
		period_px = given->v[0];
	out->cell_px = out->cell == GRAY_COLUMN ? 1 :
	    period_px / (out->cell == GRAY_HALF ? 2 : 1);
	return 0;
}

/* -1 after fail() where the head is wrong or incomplete. */
int
temporal_read(const struct frame_head *head, const struct temporal_options *options,
    struct temporal *out)
{
	size_t all = head_count_channels(head, "phase");
	double period_px[UNWRAP_PHASES_MOST];
	const char *axis = meta_get(&head->meta, "axis");
	size_t c;
	char names[300];

	memset(out, 0, sizeof(*out));
	if (all == 0 && head_numbered_channel(head, "index", 1) != NO_CHANNEL)
		return read_code_alone(head, options, out);
	if (all == 0)
		return fail(NULL, "input has no channel phase or phase1, only: %s",
		    head_channels_hint(head, names));
	if (all > UNWRAP_PHASES_MOST)
		return fail(NULL, "%zu phases, at most %d", all, UNWRAP_PHASES_MOST);
	if (check_axes(axis, all) < 0)
		return -1;
	out->axis = options->axis ? "xy"[options->axis - 1] : axis_of(axis, 0);
	if (read_field(head, options, out) < 0 ||
	    read_periods(head, options, all, out->field_px, period_px) < 0)
		return -1;
	for (size_t i = 0; i < all; i++) {
		if (axis_of(axis, i) != out->axis)
			continue;
		c = head_numbered_channel(head, "phase", i + 1);
		out->channel[out->phases] = c;
		out->period_px[out->phases] = period_px[i];
		out->number[out->phases++] = i + 1;
	}
	if (out->phases == 0)
		return fail(NULL, "no phase runs along %c", out->axis);
	if (choose_target(options, out) < 0)
		return -1;
	return read_index(head, options, out);
}

/* Is it the standard deviation of a phase? With `all`, those of every absphaseN stay. */
static bool
is_replaced(const struct temporal *temporal, bool all, const struct frame_head *in, size_t c)
{
	const char *name = in->channel[c];
	char own[CHANNEL_NAME_SIZE];

	for (size_t i = 0; i < temporal->phases && all; i++) {
		snprintf(own, sizeof(own), "sigma%zu", temporal->number[i]);
		if (!strcmp(name, own))
			return false;
	}
	return !strcmp(name, "p_order") || channel_number(name, "sigma");
}

/*
 * The output of unwrapping: channels absphase, residual (of phases), with `all` one absphase of
 * every phase, the words of `more`, and all input channels that are not a phase, index or sigma,
 * nor one of those; period_px and axis of the unwrapped phase. -1 after fail().
 */
int
temporal_output(struct run *run, const struct temporal *temporal, bool all, const char *more,
    const struct frame_head *in, struct frame_head *out)
{
	static const char *const consumed[] = { "phase", "index", "edge", "edge_sigma", NULL };
	const char axis[2] = { temporal->axis };
	/* `out` is a copy of the input's own channels; those of second inputs follow in `in` */
	size_t n = temporal->phases ? 2 : 1, made = n + (all ? temporal->phases : 0), own = out->c;
	double period_px = temporal->phases ? temporal->period_px[temporal->target] :
	    temporal->cell_px;
	char (*names)[CHANNEL_NAME_SIZE] = must_alloc(own + made + meta_words(more),
	    sizeof(*names));
	bool labels = false;

	strcpy(names[0], "absphase");
	if (temporal->phases)
		strcpy(names[1], "residual");
	while (n < made) {
		snprintf(names[n], sizeof(*names), "absphase%zu", temporal->number[n - 2]);
		n++;
	}
	for (size_t i = 0; meta_word(more, i, names[n], sizeof(*names)); i++)
		labels |= !strcmp(names[n++], "label");
	for (size_t c = 0; c < own; c++)
		if (!channel_is_named(in->channel[c], consumed) &&
		    !is_replaced(temporal, all, in, c) &&
		    !(labels && !strcmp(in->channel[c], "label"))) {
			memcpy(names[n], in->channel[c], sizeof(*names));
			run_pass(run, n++, c);
		}
	free(out->channel);
	out->channel = names;
	out->c = n;
	meta_remove(&out->meta, "gray_cell");
	meta_remove(&out->meta, "gray_planes");
	meta_remove(&out->meta, "gray_period_px");
	if (meta_get(&in->meta, "axis") && *meta_get(&in->meta, "axis") != temporal->axis)
		period_keys_remove(&out->meta);	/* they are of the other axis */
	if (temporal->phases && temporal->channel[0] == head_numbered_channel(in, "phase", 1) &&
	    period_keys_convert(&out->meta, temporal->period_px[0], period_px) < 0)
		return -1;
	meta_set_number(&out->meta, "period_px", period_px);
	if (all)
		meta_set_numbers(&out->meta, "absphase_period_px", temporal->period_px,
		    temporal->phases);
	meta_set(&out->meta, "axis", axis);
	return 0;
}

/* Column 0 (row 0, for axis y) of the image in pixels of the sensor, and the number of these per
 * pixel. */
int
temporal_first_px(const struct temporal *temporal, const struct frame_head *head, double *first_px,
    double *bin)
{
	struct numbers origin;

	if (meta_number(&head->meta, "bin", 1, bin) < 0 ||
	    meta_numbers(&head->meta, "origin_px", &origin) < 0)
		return -1;
	*first_px = (*bin - 1) / 2 + (origin.n == 2 ? origin.v[temporal->axis == 'y'] : 0);
	numbers_free(&origin);
	return 0;
}

/*
 * ---- sequences: which beats of the measured phases order which (Liu 2015 eq 4-5) ----
 *
 * A *signal* is a phase, or a sum of phases with whole weights (a beat: shorter minus longer
 * period). Its period follows from theirs. A *sequence* leads from a signal that is unambiguous
 * over the field down to the phase that is to be unwrapped: every signal's absolute phase gives the
 * fringe order of the next.
 */

struct unwrap_signal {
	double period_px;		/* first, to sort by it */
	int weight[UNWRAP_PHASES_MOST];	/* of every phase */
};

struct unwrap_sequence {
	size_t n;
	struct unwrap_signal signal[UNWRAP_PHASES_MOST + 1];	/* the unambiguous one first */
};

#define SIGNALS_MOST (UNWRAP_PHASES_MOST * UNWRAP_PHASES_MOST)
#define NO_SIGNAL SIZE_MAX
/* The largest noise of a step where the field is not known: with phases that scatter by 0.01 rad,
 * pi is three deviations. */
#define NOISE_MOST 100.0
/* The cost of a sequence is the sum of noise^8 over its steps, so that the worst one counts, then
 * their number. */
#define COST_POWER 8
/* Where the first signal spans no more than the field, its scatter moves pixels near one end to the
 * other. They are few: a step of this noise gives as many wrong orders, at a scatter of 0.04
 * rad. */
#define SEAM_NOISE_MOST 30.0

struct graph {
	size_t phases, n;
	struct unwrap_signal signal[SIGNALS_MOST];
	double cost[SIGNALS_MOST];	/* of the best way from here down to the target */
	size_t next[SIGNALS_MOST];	/* the next signal on it */
};

/* Shorter minus longer; false where the two are equal but for rounding. */
static bool
beat(const struct unwrap_signal *shorter, const struct unwrap_signal *longer,
    struct unwrap_signal *out)
{
	double frequency = 1 / shorter->period_px - 1 / longer->period_px;

	if (frequency * shorter->period_px < 1e-7)
		return false;
	out->period_px = 1 / frequency;
	for (size_t i = 0; i < UNWRAP_PHASES_MOST; i++)
		out->weight[i] = shorter->weight[i] - longer->weight[i];
	return true;
}

/* Adds a signal unless it is known. */
static void
add(struct graph *graph, const struct unwrap_signal *signal)
{
	for (size_t i = 0; i < graph->n; i++)
		if (!memcmp(graph->signal[i].weight, signal->weight, sizeof(signal->weight)))
			return;
	if (graph->n < SIGNALS_MOST)
		graph->signal[graph->n++] = *signal;
}

/* Adds the beats of all pairs of phases; then of those with successive periods, of successive ones
 * among these, and so on. */
static void
add_beats(struct graph *graph)
{
	struct unwrap_signal level[UNWRAP_PHASES_MOST], found;
	size_t n = graph->phases, beats;

	memcpy(level, graph->signal, n * sizeof(*level));
	qsort(level, n, sizeof(*level), numbers_compare_doubles);
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			if (beat(&level[i], &level[k], &found))
				add(graph, &found);
	for (; n > 1; n = beats) {
		beats = 0;
		for (size_t i = 0; i + 1 < n; i++)
			if (beat(&level[i], &level[i + 1], &found)) {
				add(graph, &found);
				level[beats++] = found;
			}
		qsort(level, beats, sizeof(*level), numbers_compare_doubles);
	}
}

/* Scatter of the estimate that is rounded to the fringe order; independent phases scatter by 1. */
static double
step_noise(const struct unwrap_signal *coarse, const struct unwrap_signal *fine)
{
	double ratio = coarse->period_px / fine->period_px, sum = 0;

	for (size_t i = 0; i < UNWRAP_PHASES_MOST; i++) {
		double share = ratio * coarse->weight[i] - fine->weight[i];

		sum += share * share;
	}
	return sqrt(sum);
}

/* Dijkstra's shortest ways to the target, from every signal of a longer period. */
static void
find_ways(struct graph *graph, size_t target)
{
	bool done[SIGNALS_MOST] = { false };

	for (size_t i = 0; i < graph->n; i++) {
		graph->cost[i] = i == target ? 0 : INFINITY;
		graph->next[i] = NO_SIGNAL;
	}
	for (;;) {
		size_t fine = NO_SIGNAL;

		for (size_t i = 0; i < graph->n; i++)
			if (!done[i] && isfinite(graph->cost[i]) &&
			    (fine == NO_SIGNAL || graph->cost[i] < graph->cost[fine]))
				fine = i;
		if (fine == NO_SIGNAL)
			return;
		done[fine] = true;
		for (size_t i = 0; i < graph->n; i++) {
			double cost;

			if (done[i] || graph->signal[i].period_px <= graph->signal[fine].period_px)
				continue;
			cost = graph->cost[fine] +
			    pow(step_noise(&graph->signal[i], &graph->signal[fine]), COST_POWER);
			if (cost < graph->cost[i]) {
				graph->cost[i] = cost;
				graph->next[i] = fine;
			}
		}
	}
}

/* The phases and, if wanted, their beats, with the ways from each to phase `target`. */
static void
build(struct graph *graph, const struct temporal *temporal, unsigned signals)
{
	*graph = (struct graph){ .phases = temporal->phases, .n = temporal->phases };
	for (size_t i = 0; i < temporal->phases; i++) {
		graph->signal[i].period_px = temporal->period_px[i];
		graph->signal[i].weight[i] = 1;
	}
	if (signals & UNWRAP_BEATS)
		add_beats(graph);
	find_ways(graph, temporal->target);
}

static int
follow(const struct graph *graph, size_t first, struct unwrap_sequence *out)
{
	out->n = 0;
	for (size_t at = first; at != NO_SIGNAL; at = graph->next[at]) {
		if (out->n == sizeof(out->signal) / sizeof(*out->signal))
			return fail(NULL, "unwrapping takes more than %zu steps from beat to beat",
			    out->n);
		out->signal[out->n++] = graph->signal[at];
	}
	return 0;
}

/* The first signal spans the field, less one pixel: phases are those at the centres of columns. */
static bool
can_start(const struct graph *graph, size_t i, double field_px)
{
	if (!isfinite(graph->cost[i]))
		return false;
	if (field_px > 0)
		return graph->signal[i].period_px >= field_px - 1;
	return graph->phases <= 2 || graph->cost[i] <= pow(NOISE_MOST, COST_POWER);
}

/* The cost of a sequence that begins with a signal. Its noise counts as that of a step, whose
 * scatter may reach pi: its scatter over what it has to spare on each side of the field. */
static double
start_cost(const struct graph *graph, size_t i, double field_px)
{
	const struct unwrap_signal *start = &graph->signal[i];
	double sum = 0, spare_px = fmax(start->period_px - field_px + 1, 1e-3);

	for (size_t k = 0; k < UNWRAP_PHASES_MOST; k++)
		sum += start->weight[k] * start->weight[k];
	return graph->cost[i] + pow(fmin(sqrt(sum) * start->period_px / spare_px, SEAM_NOISE_MOST),
	    COST_POWER);
}

static bool
is_better_start(const struct graph *graph, size_t i, size_t best, double field_px)
{
	if (best == NO_SIGNAL)
		return true;
	if (field_px > 0)
		return start_cost(graph, i, field_px) < start_cost(graph, best, field_px);
	return graph->signal[i].period_px > graph->signal[best].period_px;
}

/*
 * The sequence with the least scatter of its worst step that ends in the target. field_px: what the
 * first signal must span; 0: not known, the longest period that is still of use is taken. signals:
 * enum unwrap_signals that it may begin with, and beats go over. -1 after fail() if there is none.
 */
static int
unwrap_sequence_find(const struct temporal *temporal, double field_px, unsigned signals,
    struct unwrap_sequence *out)
{
	struct graph *graph = must_alloc(1, sizeof(*graph));
	size_t best = NO_SIGNAL, longest = NO_SIGNAL;
	int status;

	build(graph, temporal, signals);
	for (size_t i = 0; i < graph->n; i++) {
		if (!(signals & (i < graph->phases ? UNWRAP_PHASES : UNWRAP_BEATS)))
			continue;
		if (longest == NO_SIGNAL ||
		    graph->signal[i].period_px > graph->signal[longest].period_px)
			longest = i;
		if (can_start(graph, i, field_px) && is_better_start(graph, i, best, field_px))
			best = i;
	}
	if (best != NO_SIGNAL)
		status = follow(graph, best, out);
	else
		status = fail(NULL, "no %s spans the field of %g px, the longest %.6g px: say "
		    "--field where less of it is seen, --coarse spatial where the surface is "
		    "continuous, or --line",
		    signals == UNWRAP_PHASES ? "phase" : signals == UNWRAP_BEATS ? "beat" :
		    "phase or beat", field_px, graph->signal[longest == NO_SIGNAL ?
		    temporal->target : longest].period_px);
	free(graph);
	return status;
}

/* ---- steps: a sequence ready for pixels ---- */

/* The field lies in the middle of the turn that the first signal covers, so that its scatter does
 * not reach either end. */
static void
set_steps(const struct temporal *temporal, const struct unwrap_sequence *sequence, bool field,
    struct unwrap_steps *steps)
{
	double period_px = sequence->signal[0].period_px;
	double field_px = temporal->field_px > 0 ? temporal->field_px : period_px;
	double end_px = (field_px + period_px - 1) / 2;	/* of the first signal's turn */

	steps->n = sequence->n;
	steps->field_px = field_px;
	steps->period_px = period_px;
	for (size_t r = 0; r < sequence->n; r++) {
		const struct unwrap_signal *signal = &sequence->signal[r];
		struct unwrap_step *step = &steps->step[r];

		*step = (struct unwrap_step){ .lo = -INFINITY, .hi = INFINITY };
		for (size_t i = 0; i < temporal->phases; i++)
			if (signal->weight[i]) {
				step->channel[step->n] = temporal->channel[i];
				step->weight[step->n++] = (float)signal->weight[i];
			}
		if (r > 0)
			step->ratio =
			    (float)(sequence->signal[r - 1].period_px / signal->period_px);
		if (!field)
			continue;
		step->lo = (float)(r > 0 ? -0.5 / signal->period_px :
			2 * M_PI / period_px * (end_px - period_px));
		step->hi = (float)((field_px - 0.5) / signal->period_px);
		step->span = (float)(period_px / signal->period_px);
	}
}

/* By phases alone; signals: enum unwrap_signals. -1 after fail() where they do not span the
 * field. */
int
unwrap_steps_by_phases(const struct temporal *temporal, unsigned signals, struct unwrap_steps *out)
{
	struct unwrap_sequence sequence;

	*out = (struct unwrap_steps){ .start = START_FIELD };
	if (temporal->phases == 1 && temporal->field_px == 0)
		return fail(NULL, "one phase of %g px in a field of unknown width: give --field, "
		    "or --coarse spatial where the phase repeats in the picture",
		    temporal->period_px[0]);
	if (unwrap_sequence_find(temporal, temporal->field_px, signals, &sequence) < 0)
		return -1;
	set_steps(temporal, &sequence, true, out);
	return 0;
}

/* By phases alone, the first signal unwrapped across the image: that of the longest period of use.
 * -1 after fail(). */
int
unwrap_steps_by_space(const struct temporal *temporal, unsigned signals, struct unwrap_steps *out)
{
	struct unwrap_sequence sequence;

	*out = (struct unwrap_steps){ .start = START_SPATIAL };
	if (unwrap_sequence_find(temporal, 0, signals, &sequence) < 0)
		return -1;
	set_steps(temporal, &sequence, false, out);
	return 0;
}

/* By the Gray code, whose edges lie where its phase is -offset_rad; NaN: half a projector pixel
 * before a fringe begins, as in the patterns of fringegen. The code orders temporal->gray_of, and
 * that phase the others. -1 after fail(). */
int
unwrap_steps_by_gray(const struct temporal *temporal, double offset_rad, struct unwrap_steps *out)
{
	size_t first = temporal->gray_of;
	double period_px = temporal->period_px[first];
	double offset = isnan(offset_rad) ? M_PI / period_px : offset_rad;
	struct graph *graph = must_alloc(1, sizeof(*graph));
	struct unwrap_sequence sequence;
	int status;

	*out = (struct unwrap_steps){ .index = temporal->index, .gray_offset = (float)offset,
		.start = temporal->cell == GRAY_PERIOD ? START_COUNTED : START_PREDICTED };
	if (temporal->cell == GRAY_HALF) {
		out->gray_step = (float)M_PI;
		out->gray_offset = (float)(M_PI / 2 - offset);
	} else if (temporal->cell == GRAY_COLUMN) {
		out->gray_step = (float)(2 * M_PI / period_px);
		out->gray_offset = 0;
	}
	build(graph, temporal, UNWRAP_BEATS);
	status = isfinite(graph->cost[first]) ? follow(graph, first, &sequence) : fail(NULL,
	    "no way from the period of %g px to that of %g px, which is longer", period_px,
	    temporal->period_px[temporal->target]);
	free(graph);
	if (status == 0)
		set_steps(temporal, &sequence, false, out);
	return status;
}

/* By the beat of two phases above the line 2 pi x/period + offset, x in pixels of the sensor. -1
 * after fail(). */
int
unwrap_steps_by_line(const struct temporal *temporal, const struct frame_head *head,
    double line_period_px, double line_offset_rad, struct unwrap_steps *out)
{
	double first_px, bin, slope = 2 * M_PI / line_period_px;
	struct unwrap_sequence sequence;

	*out = (struct unwrap_steps){ .start = START_LINE };
	if (temporal_first_px(temporal, head, &first_px, &bin) < 0 ||
	    unwrap_sequence_find(temporal, 0, UNWRAP_BEATS, &sequence) < 0)
		return -1;
	out->line_slope[temporal->axis == 'y'] = (float)(slope * bin);
	out->line_offset = (float)(line_offset_rad + slope * first_px);
	set_steps(temporal, &sequence, false, out);
	return 0;
}

/* ---- every phase with its own order: the base, of the shortest period, orders all others; they
 * then measure one coordinate, u = T PHI/2 pi, with a scatter of T sigma/2 pi ---- */

/* Where it is not given, a phase's scatter is proportional to 1/sqrt(its number of steps) (methods
 * §2). */
static int
read_scatter(const struct temporal *temporal, const struct frame_head *head,
    const struct numbers *given, double *scatter)
{
	size_t all = head_count_channels(head, "phase");
	struct numbers steps;

	if (given->n && given->n != all)
		return fail("--sigma", "%zu numbers for %zu phases", given->n, all);
	if (meta_numbers(&head->meta, "steps", &steps) < 0)
		return -1;
	for (size_t i = 0; i < temporal->phases; i++) {
		size_t at = temporal->number[i] - 1;

		scatter[i] = given->n                           ? given->v[at]
		    : steps.n == all && steps.v[at] >= 1 ? 1 / sqrt(steps.v[at])
							 : 1;
	}
	numbers_free(&steps);
	return 0;
}

/* given: the scatter of every phase channel of the head; n = 0: not given. -1 after fail(). */
int
phase_orders_plan(const struct temporal *temporal, const struct frame_head *head,
    const struct numbers *given, struct phase_orders *orders)
{
	double weight[UNWRAP_PHASES_MOST], scatter[UNWRAP_PHASES_MOST];
	size_t base = temporal_shortest(temporal);

	if (read_scatter(temporal, head, given, scatter) < 0)
		return -1;
	phase_mean_weights(temporal->period_px, scatter, temporal->phases, weight);
	orders->phases = temporal->phases;
	for (size_t i = 0; i < temporal->phases; i++) {
		size_t from = temporal_from_base(base, i);

		orders->channel[i] = temporal->channel[from];
		orders->own[i] = 2 + from;
		orders->ratio[i] = (float)(temporal->period_px[base] / temporal->period_px[from]);
		orders->scale[i] = (float)(temporal->period_px[from] / temporal->period_px[base]);
		orders->weight[i] = (float)weight[from];
		if (from == temporal->target)
			orders->target = i;
	}
	orders->wanted = orders->fuse || orders->all;
	return 0;
}
