#define _GNU_SOURCE
#include "unwrap_sequence.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define PHASES_MOST UNWRAP_PHASES_MOST
#define SIGNALS_MOST (PHASES_MOST * PHASES_MOST)
#define NO_SIGNAL SIZE_MAX
/* Of an unknown field's sequence: with a scatter of the phases of 0.01 rad, pi is three deviations.
 */
#define NOISE_MOST 100.0
/* The cost of a sequence is the sum of noise^8 over its steps: the worst one counts, then their
 * number. */
#define COST_POWER 8
/* Where the first signal spans no more than the field, its scatter brings pixels near one end to
 * the other. They are few: a step of this noise makes as many wrong orders, at a scatter of
 * 0.04 rad. */
#define SEAM_NOISE_MOST 30.0

struct graph {
	size_t phases, n;
	struct unwrap_signal signal[SIGNALS_MOST];
	double cost[SIGNALS_MOST];	/* from here down to the target */
	size_t next[SIGNALS_MOST];	/* the next step on that way */
};

static int
compare_periods(const void *a, const void *b)
{
	const struct unwrap_signal *left = a, *right = b;

	return (left->period_px > right->period_px) - (left->period_px < right->period_px);
}

/* Shorter minus longer; false where the two are equal but for rounding. */
static bool
beat(const struct unwrap_signal *shorter, const struct unwrap_signal *longer,
    struct unwrap_signal *out)
{
	double frequency = 1 / shorter->period_px - 1 / longer->period_px;

	if (frequency * shorter->period_px < 1e-7)
		return false;
	out->period_px = 1 / frequency;
	for (size_t i = 0; i < PHASES_MOST; i++)
		out->weight[i] = shorter->weight[i] - longer->weight[i];
	return true;
}

static bool
is_known(const struct graph *graph, const struct unwrap_signal *signal)
{
	for (size_t i = 0; i < graph->n; i++)
		if (!memcmp(graph->signal[i].weight, signal->weight, sizeof(signal->weight)))
			return true;
	return false;
}

static void
add(struct graph *graph, const struct unwrap_signal *signal)
{
	if (graph->n < SIGNALS_MOST && !is_known(graph, signal))
		graph->signal[graph->n++] = *signal;
}

/* Beats of all pairs of phases; of neighbours in that row, of neighbours among these, and so on. */
static void
add_beats(struct graph *graph)
{
	struct unwrap_signal level[PHASES_MOST], found;
	size_t n = graph->phases, beats;

	memcpy(level, graph->signal, n * sizeof(*level));
	qsort(level, n, sizeof(*level), compare_periods);
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
		qsort(level, beats, sizeof(*level), compare_periods);
	}
}

/* Scatter of what is rounded to the fringe order, for independent phases of scatter 1. */
static double
step_noise(const struct unwrap_signal *coarse, const struct unwrap_signal *fine)
{
	double ratio = coarse->period_px / fine->period_px, sum = 0;

	for (size_t i = 0; i < PHASES_MOST; i++) {
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

static void
build(struct graph *graph, const double *period_px, size_t n, unsigned signals)
{
	memset(graph, 0, sizeof(*graph));
	graph->phases = n;
	for (size_t i = 0; i < n; i++) {
		struct unwrap_signal phase = { .period_px = period_px[i] };

		phase.weight[i] = 1;
		graph->signal[graph->n++] = phase;
	}
	if (signals & UNWRAP_BEATS)
		add_beats(graph);
}

static int
follow(const struct graph *graph, size_t first, struct unwrap_sequence *out)
{
	out->n = 0;
	out->noise = 0;
	for (size_t at = first; at != NO_SIGNAL; at = graph->next[at]) {
		if (out->n == sizeof(out->signal) / sizeof(*out->signal))
			return fail(NULL, "unwrapping takes more than %zu steps from beat to beat",
			    out->n);
		out->signal[out->n++] = graph->signal[at];
		if (graph->next[at] != NO_SIGNAL)
			out->noise = fmax(out->noise,
			    step_noise(&graph->signal[at], &graph->signal[graph->next[at]]));
	}
	return 0;
}

static bool
is_wanted(const struct graph *graph, size_t i, unsigned signals)
{
	return signals & (i < graph->phases ? UNWRAP_PHASES : UNWRAP_BEATS);
}

/* A start spans the field but for one pixel: phases are those of columns' centres. */
static bool
can_start(const struct graph *graph, size_t i, double field_px, unsigned signals)
{
	if (!is_wanted(graph, i, signals) || !isfinite(graph->cost[i]))
		return false;
	if (field_px > 0)
		return graph->signal[i].period_px >= field_px - 1;
	return graph->phases <= 2 || graph->cost[i] <= pow(NOISE_MOST, COST_POWER);
}

/* Scatter of a start over what it has to spare on each side of the field, as of a step, whose
 * scatter may reach pi. */
static double
seam_noise(const struct unwrap_signal *start, double field_px)
{
	double sum = 0, spare_px = fmax(start->period_px - field_px + 1, 1e-3);

	for (size_t i = 0; i < PHASES_MOST; i++)
		sum += start->weight[i] * start->weight[i];
	return fmin(sqrt(sum) * start->period_px / spare_px, SEAM_NOISE_MOST);
}

static double
start_cost(const struct graph *graph, size_t i, double field_px)
{
	return graph->cost[i] + pow(seam_noise(&graph->signal[i], field_px), COST_POWER);
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

int
unwrap_sequence_find(const double *period_px, size_t n, size_t target, double field_px,
    unsigned signals, struct unwrap_sequence *out)
{
	struct graph *graph = malloc(sizeof(*graph));
	size_t best = NO_SIGNAL, longest = NO_SIGNAL;
	int status;

	if (!graph)
		return fail_memory();
	build(graph, period_px, n, signals);
	find_ways(graph, target);
	for (size_t i = 0; i < graph->n; i++) {
		if (is_wanted(graph, i, signals) && (longest == NO_SIGNAL ||
		    graph->signal[i].period_px > graph->signal[longest].period_px))
			longest = i;
		if (can_start(graph, i, field_px, signals) &&
		    is_better_start(graph, i, best, field_px))
			best = i;
	}
	if (best != NO_SIGNAL)
		status = follow(graph, best, out);
	else
		status = fail(NULL,
		    "no %s spans the field of %g px, the longest %.6g px: say --field "
		    "where less of it is seen, or --line",
		    signals == UNWRAP_PHASES      ? "phase"
			: signals == UNWRAP_BEATS ? "beat"
						  : "phase or beat",
		    field_px, graph->signal[longest == NO_SIGNAL ? target : longest].period_px);
	free(graph);
	return status;
}

int
unwrap_sequence_find_from(const double *period_px, size_t n, size_t target, size_t first,
    struct unwrap_sequence *out)
{
	struct graph *graph = malloc(sizeof(*graph));
	int status;

	if (!graph)
		return fail_memory();
	build(graph, period_px, n, UNWRAP_BEATS);
	find_ways(graph, target);
	if (isfinite(graph->cost[first]))
		status = follow(graph, first, out);
	else
		status =
		    fail(NULL, "no way from the period of %g px to that of %g px, which is longer",
			period_px[first], period_px[target]);
	free(graph);
	return status;
}
