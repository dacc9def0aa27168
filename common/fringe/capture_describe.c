/* The head of what a measurement becomes: its channels, and the keys that describe them. */
#define _GNU_SOURCE
#include "fringe/capture_set.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/text.h"

/* Prints " word" of all words, with the number behind each unless it is 0. */
static void
print_numbered(FILE *to, const char *words, size_t number)
{
	char word[CHANNEL_NAME_SIZE];

	for (size_t i = 0; meta_word(words, i, word, sizeof(word)); i++)
		if (number)
			fprintf(to, " %s%zu", word, number);
		else
			fprintf(to, " %s", word);
}

static int
name_channels(const struct capture_set *set, const char *forms, const char *qualities,
    struct frame_head *head)
{
	struct text text;
	FILE *to = text_open(&text);
	char *names;
	int status = -1;

	if (!to)
		return -1;
	for (size_t k = 0; k < set->fringes; k++)
		print_numbered(to, forms, set->fringes > 1 ? k + 1 : 0);
	if (set->fringes)
		fprintf(to, " %s", qualities);
	for (size_t i = 0; i < set->markers; i++)
		print_numbered(to, "marker", set->markers > 1 ? i + 1 : 0);
	for (size_t i = 0; i < set->codes; i++)
		print_numbered(to, "index", set->codes > 1 ? i + 1 : 0);
	names = text_close(&text, NULL);
	if (set->fringes + set->codes == 0)
		fail(NULL, "the measurement has neither fringe images nor Gray planes of that "
		    "kind");
	else if (names)
		status = head_set_channels(head, names + 1);
	free(names);
	return status;
}

static int
describe_sets(const struct capture_set *set, struct meta *meta)
{
	size_t n = set->fringes;
	char axes[2 * n + 1];
	double period_px[n], steps[n];
	bool known = true, equal = true;

	for (size_t k = 0; k < n; k++) {
		axes[2 * k] = set->fringe[k].axis;
		axes[2 * k + 1] = k + 1 < n ? ' ' : '\0';
		period_px[k] = set->fringe[k].period_px;
		steps[k] = (double)set->fringe[k].n;
		known = known && !isnan(period_px[k]);
		equal = equal && steps[k] == steps[0];
	}
	if (known && meta_set_numbers(meta, "period_px", period_px, n) < 0)
		return -1;
	if (!known)
		meta_remove(meta, "period_px");
	return meta_set(meta, "axis", axes) < 0 ? -1 :
	    meta_set_numbers(meta, "steps", steps, equal ? 1 : n);
}

static int
describe_codes(const struct capture_set *set, struct meta *meta)
{
	double planes[2];

	for (size_t i = 0; i < set->codes; i++)
		planes[i] = (double)set->code[i].n;
	if (set->cell == CELL_NONE)
		meta_remove(meta, "gray_cell");
	else if (meta_set(meta, "gray_cell", manifest_cells[set->cell]) < 0)
		return -1;
	return meta_set_numbers(meta, "gray_planes", planes, set->codes);
}

/* Where it is known where a marker is. */
static int
describe_markers(const struct capture_set *set, struct meta *meta)
{
	double px[2], width_px[2];
	bool known = set->markers > 0;

	for (size_t i = 0; i < set->markers; i++) {
		px[i] = set->marker[i].px;
		width_px[i] = set->marker[i].width_px;
		known = known && !isnan(px[i]) && !isnan(width_px[i]);
	}
	meta_remove(meta, "marker_px");
	meta_remove(meta, "marker_width_px");
	if (!known)
		return 0;
	if (meta_set_numbers(meta, "marker_px", px, set->markers) < 0 ||
	    meta_set_numbers(meta, "marker_width_px", width_px, set->markers) < 0)
		return -1;
	return meta_set(meta, "marker_axis", set->markers > 1 ? "x y" :
	    set->marker[0].axis == 'y' ? "y" : "x");
}

int
capture_set_describe(const struct capture_set *set, const char *forms, const char *qualities,
    struct frame_head *head)
{
	static const char *const single[] = { "role", "step", "shift_rad", "bit", "name",
		"set_images", "phase_sign", "phase_origin_rad" };
	struct meta *meta = &head->meta;
	static const char codes[][4] = { "x", "y", "x y" };

	if (name_channels(set, forms, qualities, head) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(single) / sizeof(*single); i++)
		meta_remove(meta, single[i]);
	if (set->fringes) {
		if (describe_sets(set, meta) < 0)
			return -1;
	} else {
		meta_remove(meta, "period_px");
		meta_remove(meta, "steps");
		if (meta_set(meta, "axis", codes[set->codes > 1 ? 2 :
		    set->code[0].axis == 'y']) < 0)
			return -1;
	}
	if (describe_markers(set, meta) < 0)
		return -1;
	if (set->codes)
		return describe_codes(set, meta);
	meta_remove(meta, "gray_cell");
	return 0;
}
