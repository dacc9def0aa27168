#define _GNU_SOURCE
#include "temporal.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/px.h"
#include "fringe/period_keys.h"

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

size_t
temporal_shortest(const struct temporal *temporal)
{
	size_t shortest = 0;

	for (size_t i = 1; i < temporal->phases; i++)
		if (temporal->period_px[i] < temporal->period_px[shortest])
			shortest = i;
	return shortest;
}

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
	size_t all = head_count_channels(head, "phase");
	double period_px[UNWRAP_PHASES_MOST];
	const char *axis = meta_get(&head->meta, "axis");
	size_t c;
	char names[300];

	memset(out, 0, sizeof(*out));
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

/* The standard deviation of a phase; with `all`, those that go with an absphaseN stay. */
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
	return !strcmp(name, "p_order") ||
	    (!strncmp(name, "sigma", 5) && name[5 + strspn(name + 5, "0123456789")] == '\0');
}

int
temporal_output(const struct temporal *temporal, bool all, const char *more,
    const struct frame_head *in, struct frame_head *out, size_t **source_channel)
{
	const char axis[2] = { temporal->axis };
	/* second inputs stand behind the input's own channels, of which `out` is a copy */
	size_t n = 2, made = 2 + (all ? temporal->phases : 0), own = out->c;
	size_t channels = own + made + meta_words(more);
	size_t *list = calloc(channels, sizeof(*list));
	char (*names)[CHANNEL_NAME_SIZE] = calloc(channels, sizeof(*names));
	bool labels = false;

	if (!list || !names) {
		free(list);
		free(names);
		return fail_memory();
	}
	strcpy(names[0], "absphase");
	strcpy(names[1], "residual");
	while (n < made) {
		snprintf(names[n], sizeof(*names), "absphase%zu", temporal->number[n - 2]);
		n++;
	}
	for (size_t i = 0; meta_word(more, i, names[n], sizeof(*names)); i++)
		labels |= !strcmp(names[n++], "label");
	for (size_t c = 0; c < own; c++)
		if (!is_consumed(in->channel[c]) && !is_replaced(temporal, all, in, c) &&
		    !(labels && !strcmp(in->channel[c], "label"))) {
			memcpy(names[n], in->channel[c], sizeof(*names));
			list[n++] = c;
		}
	free(out->channel);
	out->channel = names;
	out->c = n;
	*source_channel = list;
	meta_remove(&out->meta, "gray_cell");
	meta_remove(&out->meta, "gray_planes");
	if (meta_get(&in->meta, "axis") && *meta_get(&in->meta, "axis") != temporal->axis)
		period_keys_remove(&out->meta);	/* they are of the other axis */
	if (temporal->channel[0] == head_numbered_channel(in, "phase", 1) &&
	    period_keys_convert(&out->meta, temporal->period_px[0],
		temporal->period_px[temporal->target]) < 0)
		return -1;
	if (meta_set_number(&out->meta, "period_px", temporal->period_px[temporal->target]) < 0)
		return -1;
	if (all && meta_set_numbers(&out->meta, "absphase_period_px", temporal->period_px,
	    temporal->phases) < 0)
		return -1;
	return meta_set(&out->meta, "axis", axis);
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
