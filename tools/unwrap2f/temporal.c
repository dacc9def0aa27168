#define _GNU_SOURCE
#include "temporal.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/px.h"

/* Word i of a list that runs parallel to the phases, or the only word for all of them. */
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
		status = fail(NULL, "the input has no key period_px: give --period");
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

static int
choose_target(const struct temporal_options *options, const size_t *number, struct temporal *out)
{
	out->target = 0;
	if (options->unwrap == LONG_MIN) {
		for (size_t i = 1; i < out->phases; i++)
			if (out->period_px[i] < out->period_px[out->target])
				out->target = i;
		return 0;
	}
	for (size_t i = 0; i < out->phases; i++)
		if (number[i] == (size_t)options->unwrap) {
			out->target = i;
			return 0;
		}
	return fail(
	    NULL, "--unwrap %ld: there is no such phase along %c", options->unwrap, out->axis);
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
		return 0;
	if (options->gray_cell >= 0) {
		out->cell = (enum temporal_cell)options->gray_cell;
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

int
temporal_read(const struct frame_head *head, const struct temporal_options *options,
    struct temporal *out)
{
	size_t all = head_count_channels(head, "phase"), number[LADDER_PHASES_MOST];
	double period_px[LADDER_PHASES_MOST];
	const char *axis = meta_get(&head->meta, "axis");
	size_t c;
	char *names;

	memset(out, 0, sizeof(*out));
	if (all == 0) {
		names = head_channels(head);
		fail(NULL, "input has no channel phase or phase1, only: %.200s",
		    names ? names : "?");
		free(names);
		return -1;
	}
	if (all > LADDER_PHASES_MOST)
		return fail(NULL, "%zu phases, at most %d", all, LADDER_PHASES_MOST);
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
		number[out->phases++] = i + 1;
	}
	if (out->phases == 0)
		return fail(NULL, "no phase runs along %c", out->axis);
	if (choose_target(options, number, out) < 0)
		return -1;
	return read_index(head, options, out);
}

static bool
is_consumed(const char *name)
{
	static const char *const bases[] = { "phase", "index" };

	for (size_t i = 0; i < 2; i++) {
		size_t n = strlen(bases[i]);

		if (!strncmp(name, bases[i], n) &&
		    strspn(name + n, "0123456789") == strlen(name + n))
			return true;
	}
	return false;
}

int
temporal_output(const struct temporal *temporal, const struct frame_head *in,
    struct frame_head *out, size_t **passed)
{
	const char axis[2] = { temporal->axis };
	size_t n = 2, *list = calloc(in->c + 2, sizeof(*list));
	char (*names)[CHANNEL_NAME_SIZE] = calloc(in->c + 2, sizeof(*names));

	if (!list || !names) {
		free(list);
		free(names);
		return fail_memory();
	}
	strcpy(names[0], "absphase");
	strcpy(names[1], "residual");
	for (size_t c = 0; c < in->c; c++)
		if (!is_consumed(in->channel[c])) {
			memcpy(names[n], in->channel[c], sizeof(*names));
			list[n++] = c;
		}
	free(out->channel);
	out->channel = names;
	out->c = n;
	*passed = list;
	meta_remove(&out->meta, "gray_cell");
	meta_remove(&out->meta, "gray_planes");
	if (meta_set_number(&out->meta, "period_px", temporal->period_px[temporal->target]) < 0)
		return -1;
	return meta_set(&out->meta, "axis", axis);
}

/* ---- ways ---- */

/* The field lies in the middle of the turn that the first signal covers, so that its scatter
 * reaches neither end of what is not used. */
static void
set_rungs(const struct temporal *temporal, const struct ladder *ladder, bool field,
    struct temporal_way *way)
{
	double period_px = ladder->signal[0].period_px;
	double field_px = temporal->field_px > 0 ? temporal->field_px : period_px;
	double end_px = (field_px + period_px - 1) / 2;

	way->rungs = ladder->n;
	for (size_t r = 0; r < ladder->n; r++) {
		const struct ladder_signal *signal = &ladder->signal[r];
		double rad_per_px = 2 * M_PI / signal->period_px;
		struct temporal_rung *rung = &way->rung[r];

		*rung = (struct temporal_rung){ .lo = -INFINITY, .hi = INFINITY };
		for (size_t i = 0; i < temporal->phases; i++)
			if (signal->weight[i]) {
				rung->channel[rung->n] = temporal->channel[i];
				rung->weight[rung->n++] = (float)signal->weight[i];
			}
		if (r > 0)
			rung->ratio = (float)(ladder->signal[r - 1].period_px / signal->period_px);
		if (!field)
			continue;
		rung->lo = (float)(rad_per_px * (end_px - period_px));
		rung->hi = (float)(rad_per_px * end_px);
		rung->span = (float)(period_px / signal->period_px);
	}
}

int
temporal_way_ladder(const struct temporal *temporal, unsigned signals, struct temporal_way *out)
{
	struct ladder ladder;

	memset(out, 0, sizeof(*out));
	if (temporal->phases == 1 && temporal->field_px == 0)
		return fail(NULL, "one phase of %g px in a field of unknown width: give --field",
		    temporal->period_px[0]);
	if (ladder_find(temporal->period_px, temporal->phases, temporal->target, temporal->field_px,
	    signals, &ladder) < 0)
		return -1;
	out->start = START_FIELD;
	set_rungs(temporal, &ladder, true, out);
	return 0;
}

int
temporal_way_gray(const struct temporal *temporal, double offset_rad, struct temporal_way *out)
{
	double period_px = temporal->period_px[0];
	double offset = isnan(offset_rad) ? M_PI / period_px : offset_rad;
	struct ladder ladder;

	memset(out, 0, sizeof(*out));
	out->start = temporal->cell == GRAY_PERIOD ? START_COUNTED : START_PREDICTED;
	out->index = temporal->index;
	out->gray_offset = (float)offset;
	if (temporal->cell == GRAY_HALF) {
		out->gray_step = (float)M_PI;
		out->gray_offset = (float)(M_PI / 2 - offset);
	} else if (temporal->cell == GRAY_COLUMN) {
		out->gray_step = (float)(2 * M_PI / period_px);
		out->gray_offset = 0;
	}
	if (ladder_find_from(temporal->period_px, temporal->phases, temporal->target, 0, &ladder) <
	    0)
		return -1;
	set_rungs(temporal, &ladder, false, out);
	return 0;
}

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

int
temporal_way_line(const struct temporal *temporal, const struct frame_head *head,
    double line_period_px, double line_offset_rad, struct temporal_way *out)
{
	double first_px, bin, slope = 2 * M_PI / line_period_px;
	struct ladder ladder;

	memset(out, 0, sizeof(*out));
	if (temporal_first_px(temporal, head, &first_px, &bin) < 0 ||
	    ladder_find(temporal->period_px, temporal->phases, temporal->target, 0, LADDER_BEATS,
	    &ladder) < 0)
		return -1;
	out->start = START_LINE;
	out->line_slope[temporal->axis == 'y'] = (float)(slope * bin);
	out->line_offset = (float)(line_offset_rad + slope * first_px);
	set_rungs(temporal, &ladder, false, out);
	return 0;
}

#define ALIKE_TURNS 0.005	/* root mean square: smaller than what is left of any scatter */

/* Within the field, no other order may fit all phases as well as the right one does. */
static int
check_search(const struct temporal *temporal, const struct temporal_search *search)
{
	double period_px = temporal->period_px[temporal->target];

	for (double k = 1; k * period_px <= temporal->field_px - 1; k++) {
		double square = 0, shift = 0;

		for (size_t i = 1; i < search->phases; i++) {
			double e = remainder(search->ratio[i] * k, 1);

			square += e * e;
			shift += search->ratio[i] * e;
		}
		square = (square - shift * shift * search->norm) * search->mean;
		if (square < ALIKE_TURNS * ALIKE_TURNS)
			return fail(NULL,
			    "all phases repeat after %.6g px of the field of %g px: say "
			    "--field where less of it is seen",
			    k * period_px, temporal->field_px);
	}
	return 0;
}

/* What the best order leaves of the phases of chance i, mean square. */
static float
chance_cost(const struct temporal_search *search, uint i)
{
	float least = 1e30f;

	for (long k = search->first; k <= search->last; k++) {
		float square = 0, shift = 0, cost;

		for (size_t p = 1; p < search->phases; p++) {
			float e = search->ratio[p] * (float)k -
			    px_uniform(px_hash(i * LADDER_PHASES_MOST + (uint)p));

			e -= px_round(e);
			square += e * e;
			shift += search->ratio[p] * e;
		}
		cost = square - shift * shift * search->norm;
		least = cost < least ? cost : least;
	}
	return px_max(least, 0) * search->mean;
}

#define CHANCES 127

static float
chance_residual(const struct temporal_search *search)
{
	float cost[CHANCES];

	for (uint i = 0; i < CHANCES; i++)
		cost[i] = chance_cost(search, i);
	qsort(cost, CHANCES, sizeof(*cost), numbers_compare);
	return sqrtf(cost[CHANCES / 2]);
}

int
temporal_search_plan(const struct temporal *temporal, struct temporal_search *out)
{
	double period_px = temporal->period_px[temporal->target], sum = 0;

	if (temporal->phases < 2)
		return fail(NULL, "--method=best is for several phases, the input has one");
	if (temporal->field_px == 0)
		return fail(NULL, "--method=best needs the width of the field: give --field");
	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < temporal->phases; i++) {
		size_t from = i == 0 ? temporal->target : i <= temporal->target ? i - 1 : i;
		double ratio = period_px / temporal->period_px[from];

		out->channel[i] = temporal->channel[from];
		out->ratio[i] = (float)ratio;
		sum += ratio * ratio;
	}
	out->phases = temporal->phases;
	out->norm = (float)(1 / sum);
	out->mean = (float)(1 / (double)temporal->phases);
	out->lo = (float)(-0.5 / period_px);
	out->hi = (float)((temporal->field_px - 0.5) / period_px);
	out->slack = 0.25f;
	out->first = -1;
	out->last = (long)ceil(temporal->field_px / period_px) + 1;
	if (out->last > TEMPORAL_ORDERS_MOST)
		return fail(NULL, "--method=best: %ld fringes in the field, at most %d",
		    out->last - 1, TEMPORAL_ORDERS_MOST);
	if (check_search(temporal, out) < 0)
		return -1;
	out->chance = chance_residual(out);
	return 0;
}
