/* What each plane is, before sorting: from the manifest, the metadata, or the options. */
#define _GNU_SOURCE
#include "fringe/capture_roles.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/opt_suggest.h"

/* The order of the images that --order declares. */
struct order {
	const char *group[3];		/* "phase", "gray", "flat" in the order of the images */
	bool by_step, pairs, lsb_first;
};

static const struct manifest_row undescribed = {
	.period_px = NAN, .step = MANIFEST_NO_STEP, .shift_rad = NAN, .bit = MANIFEST_NO_BIT,
	.gray_cell = CELL_NONE, .marker_px = NAN, .marker_width_px = NAN
};

/* ---- options ---- */

static bool
word_is(const char *word, size_t n, const char *what)
{
	return strlen(what) == n && !memcmp(word, what, n);
}

static int
take_order_word(const char *word, size_t n, struct order *out, size_t *groups)
{
	static const char *const group[] = { "phase", "gray", "flat" };
	static const char *const words[] = {
		"phase", "gray", "flat", "by-step", "pairs", "lsb-first", NULL
	};
	char near[120];

	for (size_t i = 0; i < 3; i++)
		if (word_is(word, n, group[i])) {
			for (size_t k = 0; k < *groups; k++)
				if (out->group[k] == group[i])
					return fail_usage("--order", "names %s twice", group[i]);
			out->group[(*groups)++] = group[i];
			return 0;
		}
	if (word_is(word, n, "by-step"))
		out->by_step = true;
	else if (word_is(word, n, "pairs"))
		out->pairs = true;
	else if (word_is(word, n, "lsb-first"))
		out->lsb_first = true;
	else
		return fail_usage("--order", "must be made of phase gray flat by-step pairs "
		    "lsb-first, not '%.*s'%s", (int)n, word,
		    opt_suggest_word(word, n, "", words, near, sizeof(near)));
	return 0;
}

/* Parses --order; groups that it does not name follow in their usual order. */
static int
parse_order(const char *text, struct order *out)
{
	static const char *const usual[] = { "phase", "gray", "flat" };
	size_t groups = 0;

	*out = (struct order){ 0 };
	for (const char *word = text; word; word = strchr(word, ',')) {
		word += word != text;
		if (take_order_word(word, strcspn(word, ","), out, &groups) < 0)
			return -1;
	}
	for (size_t i = 0; i < 3; i++) {
		bool there = false;

		for (size_t k = 0; k < groups; k++)
			there = there || !strcmp(out->group[k], usual[i]);
		if (!there)
			out->group[groups++] = usual[i];
	}
	return 0;
}

char
capture_roles_axis(const char *list, size_t i)
{
	size_t n = list ? (strlen(list) + 1) / 2 : 0;

	return n == 0 ? 0 : n == 1 ? list[0] : i < n ? list[2 * i] : 0;
}

static int
check_axis(const char *list)
{
	for (size_t i = 0; list && (i == 0 || list[i - 1]); i++) {
		bool comma = i % 2;

		if (comma ? list[i] && list[i] != ',' : list[i] != 'x' && list[i] != 'y')
			return fail_usage("--axis", "must be x or y, or one per period, "
			    "not '%.60s'", list);
	}
	return 0;
}

static int
check_gray(const struct capture_options *options)
{
	if (options->gray.n > 2)
		return fail_usage("--gray", "wants the planes of one axis or two, not of %zu",
		    options->gray.n);
	for (size_t i = 0; i < options->gray.n; i++)
		if (options->gray.v[i] != floor(options->gray.v[i]))
			return fail_usage("--gray", "%g is no number of planes",
			    options->gray.v[i]);
	if (options->inverse && options->gray.n == 0)
		return fail_usage("--inverse", "needs the number of planes: give --gray");
	return 0;
}

int
capture_set_check(const struct capture_options *options)
{
	struct order order;

	if (parse_order(options->order, &order) < 0 || check_axis(options->axis) < 0 ||
	    check_gray(options) < 0)
		return -1;
	if (options->shift_rad.n && capture_roles_given(options->steps) &&
	    options->shift_rad.n != (size_t)options->steps)
		return fail_usage("--shift", "%zu values for %ld steps", options->shift_rad.n,
		    options->steps);
	if (options->kind == CAPTURES_FOURIER)
		return capture_roles_given(options->steps)
		    ? fail_usage("--steps", "--kind fourier takes one image of each period")
		    : 0;
	if (options->kind == CAPTURES_DOUBLE && capture_roles_given(options->steps) &&
	    options->steps != 6)
		return fail_usage("--steps", "double three-step images are 6, not %ld",
		    options->steps);
	if (options->kind == CAPTURES_DOUBLE && options->shift_rad.n && options->shift_rad.n != 6)
		return fail_usage("--shift", "double three-step images are 6, not %zu",
		    options->shift_rad.n);
	if (options->shift_rad.n == 1 || options->shift_rad.n == 2)
		return fail_usage("--shift", "three or more shifts give a phase, not %zu",
		    options->shift_rad.n);
	if (options->kind == CAPTURES_TWO_PLUS_ONE && capture_roles_given(options->steps) &&
	    options->steps != 3)
		return fail_usage("--steps", "2+1 images are 3, not %ld", options->steps);
	if (options->kind == CAPTURES_TWO_PLUS_ONE && options->shift_rad.n)
		return fail_usage("--shift", "2+1 images are a sine, a cosine and a flat one");
	if (options->kind == CAPTURES_GRAY &&
	    (capture_roles_given(options->steps) || options->shift_rad.n))
		return fail_usage(capture_roles_given(options->steps) ? "--steps" : "--shift",
		    "a Gray code alone has no steps");
	if (options->flat != FLAT_DESCRIBED && options->kind != CAPTURES_TWO_PLUS_ONE)
		return fail_usage("--flat", "is for --kind 2+1");
	return 0;
}

/* ---- how many planes ---- */

static bool
has_roles(const struct capture_options *options, const struct frame_head *head)
{
	return meta_get(&head->meta, "role") && !options->order;
}

int
capture_roles_number(const struct frame_head *head, size_t plane, const char *key, double *out)
{
	const char *value = meta_get(&head->meta, key);
	char word[256];

	*out = 0;
	if (!value)
		return 0;
	if (head->c > 1 && meta_words(value) == head->c) {
		if (!meta_word(value, plane, word, sizeof(word)))
			return fail(key, "list cannot be divided");
		value = word;
	}
	if (strcmp(value, "-") != 0 && number_parse(value, out) < 0)
		return fail(key, "is not a number: %.60s", value);
	return 0;
}

/* Numbers from the options, or from the metadata of images without roles; 0 steps: unknown. */
struct counts {
	size_t periods, steps, gray[2], axes, flats;
	bool inverse;
};

static int
count(const struct capture_options *options, const struct frame_head *head, struct counts *out)
{
	bool whole = meta_get(&head->meta, "role") == NULL;
	double steps = 0;
	struct numbers period_px = { 0 };

	*out = (struct counts){ .periods = options->period_px.n, .axes = options->gray.n,
		.inverse = options->inverse, .flats = capture_roles_given(options->flats) ?
		(size_t)options->flats : 0 };
	for (size_t i = 0; i < options->gray.n; i++)
		out->gray[i] = (size_t)options->gray.v[i];
	if (options->kind == CAPTURES_GRAY) {
		out->periods = 0;
		return 0;
	}
	if (out->periods == 0 && whole && meta_numbers(&head->meta, "period_px", &period_px) < 0)
		return -1;
	if (out->periods == 0)
		out->periods = period_px.n ? period_px.n : 1;
	numbers_free(&period_px);
	if (options->kind == CAPTURES_FOURIER) {
		out->steps = 1;
		return 0;
	}
	if (options->kind == CAPTURES_TWO_PLUS_ONE || options->rgb)
		out->steps = 3;
	if (options->kind == CAPTURES_DOUBLE)
		out->steps = 6;
	if (options->shift_rad.n)
		out->steps = options->shift_rad.n;
	if (capture_roles_given(options->steps))
		out->steps = (size_t)options->steps;
	if (out->steps == 0 && capture_roles_number(head, 0, "steps", &steps) < 0)
		return -1;
	if (out->steps == 0 && steps >= 3 && steps <= 1e6)
		out->steps = (size_t)steps;
	return 0;
}

static size_t
total(const struct counts *counts)
{
	return counts->periods * counts->steps +
	    (counts->gray[0] + counts->gray[1]) * (counts->inverse ? 2 : 1) + counts->flats;
}

int
capture_set_count(const struct capture_options *options, const struct manifest *manifest,
    const struct frame_head *head, size_t *planes)
{
	bool counted = capture_roles_given(options->steps) ||
	    (options->kind == CAPTURES_GRAY && options->gray.n);
	struct counts counts;
	double images;

	if (head_count_channels(head, "phase") || head_count_channels(head, "cos"))
		return fail(NULL, "input holds phases already, captured images are wanted");
	if (manifest) {
		*planes = manifest->n;
		return 0;
	}
	if (count(options, head, &counts) < 0 ||
	    capture_roles_number(head, 0, "set_images", &images) < 0)
		return -1;
	if (images < 0 || images > 1e6 || images != floor(images))
		return fail("set_images", "%g is no number of images", images);
	if (images > 0 && options->rgb)
		images *= 3;
	*planes = total(&counts);
	if (options->kind == CAPTURES_FOURIER) {
		/* of a set the roles choose; but some images of it may be given alone */
		if (images > 0 && (*planes > 1 || meta_get(&head->meta, "marker_px")) &&
		    has_roles(options, head) &&
		    (options->operands < 2 || options->operands % (size_t)images == 0))
			*planes = (size_t)images;
		return 0;
	}
	if (counted && images > 0 && *planes != (size_t)images && options->period_px.n == 0 &&
	    options->kind != CAPTURES_GRAY)
		return fail(NULL, "a measurement is %zu images by the options and %.0f by the key "
		    "set_images: give --period too", *planes, images);
	if (!counted && images > 0) {
		*planes = (size_t)images;
		return 0;
	}
	if (options->kind == CAPTURES_GRAY && options->gray.n == 0)
		return fail(NULL, "nothing says how many Gray planes there are: give --gray");
	if (options->kind != CAPTURES_GRAY && counts.steps == 0)
		return fail(NULL, "nothing says how many steps there are: give --steps, or "
		    "--manifest");
	return 0;
}

/* ---- what each plane is ---- */

static int
describe_from_manifest(const struct manifest *manifest, struct capture *capture, size_t n)
{
	if (manifest->n != n)
		return fail(NULL, "the manifest describes %zu images, a measurement has %zu",
		    manifest->n, n);
	for (size_t i = 0; i < n; i++)
		capture[i].described = manifest->row[i];
	return 0;
}

/* The keys of image i of n alone. */
static int
describe_one(const struct frame_head *head, size_t i, size_t n, struct manifest_row *row,
    bool *has_role)
{
	struct meta own = { 0 };
	char name[32];
	const char *role;
	int status;

	meta_copy(&own, &head->meta);
	snprintf(name, sizeof(name), "image %zu", i + 1);
	status = meta_slice(&own, n, i, 1);
	role = meta_get(&own, "role");
	*has_role = role && strcmp(role, "-") != 0;
	if (status == 0 && *has_role)
		status = manifest_row_from_meta(&own, name, row);
	free(row->file);
	row->file = NULL;
	meta_free(&own);
	return status;
}

/* Images without a key among others that have it are the flat ones that --flats counts. */
static int
describe_from_meta(const struct capture_options *options, const struct frame_head *head,
    struct capture *capture, size_t n)
{
	static const enum manifest_role role[] = { ROLE_FLAT, ROLE_WHITE, ROLE_BLACK };
	size_t flats = capture_roles_given(options->flats) ? (size_t)options->flats : 0, found = 0;

	for (size_t i = 0; i < n; i++) {
		bool has_role;

		if (describe_one(head, i, n, &capture[i].described, &has_role) < 0)
			return -1;
		if (has_role)
			continue;
		if (found == flats)
			return fail(NULL, "image %zu has no key role, which others have: give "
			    "--flats if it is a flat one, or --order", i + 1);
		capture[i].described.role = role[flats == 1 ? 0 : 1 + found];
		found++;
	}
	return 0;
}

static void
describe_phases(const struct capture_options *options, const struct counts *counts, bool by_step,
    struct capture *capture)
{
	static const enum manifest_role role[] = { ROLE_SIN, ROLE_COS, ROLE_FLAT };
	size_t flat = options->flat == FLAT_1 || options->flat == FLAT_2 ?
	    (size_t)options->flat : 2;

	for (size_t k = 0; k < counts->periods; k++)
		for (size_t step = 0; step < counts->steps; step++) {
			struct capture *own = &capture[by_step ? step * counts->periods + k :
			    k * counts->steps + step];

			own->set = k;
			own->described.step = (long)step;
			own->described.role = options->kind != CAPTURES_TWO_PLUS_ONE ? ROLE_PHASE :
			    role[(step + 2 - flat) % 3];
		}
}

static void
describe_gray(const struct counts *counts, const struct order *order, const char *axes,
    struct capture *capture)
{
	for (size_t a = 0; a < counts->axes; a++) {
		size_t n = counts->gray[a], all = counts->inverse ? 2 * n : n;

		for (size_t i = 0; i < all; i++) {
			size_t place = order->pairs && counts->inverse ? i / 2 : i % n;
			bool inverse = order->pairs && counts->inverse ? i % 2 : i >= n;

			capture[i].described.role = inverse ? ROLE_GRAY_INVERSE : ROLE_GRAY;
			capture[i].described.bit = (long)(order->lsb_first ? place : n - 1 - place);
			capture[i].described.axis = counts->axes == 2 ? "xy"[a] :
			    capture_roles_axis(axes, 0);
		}
		capture += all;
	}
}

static int
describe_from_options(const struct capture_options *options, const struct frame_head *head,
    struct capture *capture, size_t n)
{
	struct counts counts;
	struct order order;

	if (count(options, head, &counts) < 0 || parse_order(options->order, &order) < 0)
		return -1;
	if (total(&counts) != n)
		return fail(NULL, "%zu images are given a place by the options, a measurement "
		    "has %zu", total(&counts), n);
	for (size_t i = 0; i < 3; i++) {
		if (!strcmp(order.group[i], "phase")) {
			describe_phases(options, &counts, order.by_step, capture);
			capture += counts.periods * counts.steps;
		} else if (!strcmp(order.group[i], "gray")) {
			describe_gray(&counts, &order, options->axis, capture);
			capture += (counts.gray[0] + counts.gray[1]) * (counts.inverse ? 2 : 1);
		} else {
			for (size_t k = 0; k < counts.flats; k++)
				capture[k].described.role = counts.flats == 1 ? ROLE_FLAT :
				    k == 0 ? ROLE_WHITE : ROLE_BLACK;
			capture += counts.flats;
		}
	}
	return 0;
}

int
capture_roles_describe(const struct capture_options *options, const struct manifest *manifest,
    const struct frame_head *head, struct capture *capture)
{
	for (size_t i = 0; i < head->c; i++)
		capture[i] = (struct capture){ undescribed, SET_UNKNOWN };
	if (manifest)
		return describe_from_manifest(manifest, capture, head->c);
	if (has_roles(options, head))
		return describe_from_meta(options, head, capture, head->c);
	return describe_from_options(options, head, capture, head->c);
}
