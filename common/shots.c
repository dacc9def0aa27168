#define _GNU_SOURCE
#include "shots.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"

/* One plane, as it is described. */
struct shot {
	struct manifest_row said;	/* file is not used */
	size_t set;			/* fringe images with the same number belong together */
};

#define SET_UNTOLD SIZE_MAX		/* axis and period tell the set */

/* How --order says that the images come. */
struct order {
	const char *group[3];		/* phase, gray, flat, as they follow one another */
	bool by_step, pairs, lsb_first;
};

static const struct manifest_row nothing_said = {
	.period_px = NAN, .step = MANIFEST_NO_STEP, .shift_rad = NAN, .bit = MANIFEST_NO_BIT,
	.gray_cell = CELL_NONE
};

/* ---- options ---- */

static bool
given(long v)
{
	return v != LONG_MIN;
}

static bool
word_is(const char *word, size_t n, const char *what)
{
	return strlen(what) == n && !memcmp(word, what, n);
}

static int
take_order_word(const char *word, size_t n, struct order *out, size_t *groups)
{
	static const char *const group[] = { "phase", "gray", "flat" };

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
		    "lsb-first, not '%.*s'", (int)n, word);
	return 0;
}

/* Groups that are not named follow in their usual order. */
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

/* Letter i of the list, or the only one. 0 where there is none. */
static char
axis_word(const char *list, size_t i)
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
			return fail_usage("--axis", "must be x or y, or one per period, not '%.60s'",
			    list);
	}
	return 0;
}

static int
check_gray(const struct shots_options *options)
{
	if (options->gray.n > 2)
		return fail_usage("--gray", "wants the planes of one axis or two, not of %zu",
		    options->gray.n);
	for (size_t i = 0; i < options->gray.n; i++)
		if (options->gray.v[i] != floor(options->gray.v[i]))
			return fail_usage("--gray", "%g is no number of planes", options->gray.v[i]);
	if (options->inverse && options->gray.n == 0)
		return fail_usage("--inverse", "needs the number of planes: give --gray");
	return 0;
}

int
shots_check(const struct shots_options *options)
{
	struct order order;

	if (parse_order(options->order, &order) < 0 || check_axis(options->axis) < 0 ||
	    check_gray(options) < 0)
		return -1;
	if (options->shift_rad.n && given(options->steps) &&
	    options->shift_rad.n != (size_t)options->steps)
		return fail_usage("--shift", "%zu values for %ld steps", options->shift_rad.n,
		    options->steps);
	if (options->shift_rad.n == 1 || options->shift_rad.n == 2)
		return fail_usage("--shift", "three or more shifts give a phase, not %zu",
		    options->shift_rad.n);
	if (options->kind == SHOTS_TWO_PLUS_ONE && given(options->steps) && options->steps != 3)
		return fail_usage("--steps", "2+1 images are 3, not %ld", options->steps);
	if (options->kind == SHOTS_TWO_PLUS_ONE && options->shift_rad.n)
		return fail_usage("--shift", "2+1 images are a sine, a cosine and a flat one");
	if (options->kind == SHOTS_GRAY && (given(options->steps) || options->shift_rad.n))
		return fail_usage(given(options->steps) ? "--steps" : "--shift",
		    "a Gray code alone has no steps");
	if (options->flat != FLAT_SAID && options->kind != SHOTS_TWO_PLUS_ONE)
		return fail_usage("--flat", "is for --kind 2+1");
	return 0;
}

/* ---- how many planes ---- */

static bool
says_roles(const struct shots_options *options, const struct frame_head *head)
{
	return meta_get(&head->meta, "role") && !options->order;
}

/* Numbers that the options say, or the metadata of images without roles; 0 steps: nobody says it. */
struct counts {
	size_t periods, steps, gray[2], axes, flats;
	bool inverse;
};

static int
count(const struct shots_options *options, const struct frame_head *head, struct counts *out)
{
	bool whole = meta_get(&head->meta, "role") == NULL;
	double steps = 0;
	struct numbers period_px = { 0 };

	*out = (struct counts){ .periods = options->period_px.n, .axes = options->gray.n,
		.inverse = options->inverse, .flats = given(options->flats) ?
		(size_t)options->flats : 0 };
	for (size_t i = 0; i < options->gray.n; i++)
		out->gray[i] = (size_t)options->gray.v[i];
	if (options->kind == SHOTS_GRAY) {
		out->periods = 0;
		return 0;
	}
	if (out->periods == 0 && whole && meta_numbers(&head->meta, "period_px", &period_px) < 0)
		return -1;
	if (out->periods == 0)
		out->periods = period_px.n ? period_px.n : 1;
	numbers_free(&period_px);
	if (options->kind == SHOTS_TWO_PLUS_ONE || options->rgb)
		out->steps = 3;
	if (options->shift_rad.n)
		out->steps = options->shift_rad.n;
	if (given(options->steps))
		out->steps = (size_t)options->steps;
	if (out->steps == 0 && meta_number(&head->meta, "steps", 0, &steps) < 0)
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
shots_count(const struct shots_options *options, const struct manifest *manifest,
    const struct frame_head *head, size_t *planes)
{
	bool said = given(options->steps) || (options->kind == SHOTS_GRAY && options->gray.n);
	struct counts counts;
	double images;

	if (head_channel(head, "phase") != NO_CHANNEL || head_channel(head, "phase1") != NO_CHANNEL ||
	    head_channel(head, "cos") != NO_CHANNEL || head_channel(head, "cos1") != NO_CHANNEL)
		return fail(NULL, "input holds phases already, captured images are wanted");
	if (manifest) {
		*planes = manifest->n;
		return 0;
	}
	if (count(options, head, &counts) < 0 ||
	    meta_number(&head->meta, "set_images", 0, &images) < 0)
		return -1;
	if (images < 0 || images > 1e6 || images != floor(images))
		return fail("set_images", "%g is no number of images", images);
	if (images > 0 && options->rgb)
		images *= 3;
	*planes = total(&counts);
	if (said && images > 0 && *planes != (size_t)images && options->period_px.n == 0 &&
	    options->kind != SHOTS_GRAY)
		return fail(NULL, "a measurement is %zu images by the options and %.0f by the key "
		    "set_images: give --period too", *planes, images);
	if (!said && images > 0) {
		*planes = (size_t)images;
		return 0;
	}
	if (options->kind == SHOTS_GRAY && options->gray.n == 0)
		return fail(NULL, "nothing says how many Gray planes there are: give --gray");
	if (options->kind != SHOTS_GRAY && counts.steps == 0)
		return fail(NULL, "nothing says how many steps there are: give --steps, or --manifest");
	return 0;
}

/* ---- what each plane is ---- */

static int
tell_from_manifest(const struct manifest *manifest, struct shot *shot, size_t n)
{
	if (manifest->n != n)
		return fail(NULL, "the manifest describes %zu images, a measurement has %zu",
		    manifest->n, n);
	for (size_t i = 0; i < n; i++)
		shot[i].said = manifest->row[i];
	return 0;
}

static int
tell_from_meta(const struct frame_head *head, struct shot *shot, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct meta own = { 0 };
		char name[32];
		int status = meta_copy(&own, &head->meta);

		snprintf(name, sizeof(name), "image %zu", i + 1);
		if (status == 0)
			status = meta_slice(&own, n, i, 1);
		if (status == 0)
			status = manifest_row_from_meta(&own, name, &shot[i].said);
		free(shot[i].said.file);
		meta_free(&own);
		if (status < 0)
			return -1;
	}
	return 0;
}

static void
tell_phases(const struct shots_options *options, const struct counts *counts, bool by_step,
    struct shot *shot)
{
	static const enum manifest_role role[] = { ROLE_SIN, ROLE_COS, ROLE_FLAT };
	size_t flat = options->flat == FLAT_1 || options->flat == FLAT_2 ?
	    (size_t)options->flat : 2;

	for (size_t k = 0; k < counts->periods; k++)
		for (size_t step = 0; step < counts->steps; step++) {
			struct shot *own = &shot[by_step ? step * counts->periods + k :
			    k * counts->steps + step];

			own->set = k;
			own->said.step = (long)step;
			own->said.role = options->kind != SHOTS_TWO_PLUS_ONE ? ROLE_PHASE :
			    role[(step + 2 - flat) % 3];
		}
}

static void
tell_gray(const struct counts *counts, const struct order *order, const char *axes,
    struct shot *shot)
{
	for (size_t a = 0; a < counts->axes; a++) {
		size_t n = counts->gray[a], all = counts->inverse ? 2 * n : n;

		for (size_t i = 0; i < all; i++) {
			size_t place = order->pairs && counts->inverse ? i / 2 : i % n;
			bool inverse = order->pairs && counts->inverse ? i % 2 : i >= n;

			shot[i].said.role = inverse ? ROLE_GRAY_INVERSE : ROLE_GRAY;
			shot[i].said.bit = (long)(order->lsb_first ? place : n - 1 - place);
			shot[i].said.axis = counts->axes == 2 ? "xy"[a] : axis_word(axes, 0);
		}
		shot += all;
	}
}

static int
tell_from_options(const struct shots_options *options, const struct frame_head *head,
    struct shot *shot, size_t n)
{
	struct counts counts;
	struct order order;

	if (count(options, head, &counts) < 0 || parse_order(options->order, &order) < 0)
		return -1;
	if (total(&counts) != n)
		return fail(NULL, "%zu images are given a place by the options, a measurement has %zu",
		    total(&counts), n);
	for (size_t i = 0; i < 3; i++) {
		if (!strcmp(order.group[i], "phase")) {
			tell_phases(options, &counts, order.by_step, shot);
			shot += counts.periods * counts.steps;
		} else if (!strcmp(order.group[i], "gray")) {
			tell_gray(&counts, &order, options->axis, shot);
			shot += (counts.gray[0] + counts.gray[1]) * (counts.inverse ? 2 : 1);
		} else {
			for (size_t k = 0; k < counts.flats; k++)
				shot[k].said.role = counts.flats == 1 ? ROLE_FLAT :
				    k == 0 ? ROLE_WHITE : ROLE_BLACK;
			shot += counts.flats;
		}
	}
	return 0;
}

/* ---- sorting ---- */

static bool
same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static char
axis_or_x(char axis)
{
	return axis ? axis : 'x';
}

/* Is it one of the fringe images that are wanted? With 2+1 the flat image is one. */
static bool
is_fringe(const struct shot *shot, const struct shots_options *options, bool two_plus_one)
{
	enum manifest_role role = shot->said.role;

	if (role == ROLE_PHASE)
		return options->kind == SHOTS_ALL || options->kind == SHOTS_STEP;
	if (role == ROLE_SIN || role == ROLE_COS || (role == ROLE_FLAT && two_plus_one))
		return options->kind == SHOTS_ALL || options->kind == SHOTS_TWO_PLUS_ONE;
	return false;
}

static bool
same_set(const struct shot *a, const struct shot *b)
{
	return a->set == b->set && a->said.axis == b->said.axis &&
	    same(a->said.period_px, b->said.period_px);
}

/* A flat image without a period serves all sets. */
static bool
shares_flat(const struct shot *shot)
{
	return shot->said.role == ROLE_FLAT && shot->set == SET_UNTOLD &&
	    isnan(shot->said.period_px) && !shot->said.axis;
}

static int
compare_steps(const void *a, const void *b, void *shots)
{
	const struct shot *shot = shots;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	long first = shot[i].said.step, second = shot[k].said.step;

	if (first != second)
		return first < second ? -1 : 1;
	return i < k ? -1 : i > k;
}

static double
usual_shift(size_t steps, size_t step)
{
	if (steps == 3)
		return 2 * M_PI / 3 * ((double)step - 1);
	return 2 * M_PI * (double)step / (double)steps;
}

/* Shifts of a set whose planes are in the order of their steps. */
static int
set_shifts(const struct shots_options *options, const struct frame_head *head,
    const struct shot *shot, struct shots_fringe *fringe)
{
	bool steps_said = true, shifts_said = true, steps_differ = true;
	double steps;

	if (meta_number(&head->meta, "steps", 0, &steps) < 0)
		return -1;
	for (size_t i = 0; i < fringe->n; i++) {
		const struct manifest_row *said = &shot[fringe->plane[i]].said;

		steps_said = steps_said && said->step != MANIFEST_NO_STEP;
		shifts_said = shifts_said && !isnan(said->shift_rad);
		if (i > 0 && said->step == shot[fringe->plane[i - 1]].said.step)
			steps_differ = false;
	}
	if (steps_said && !steps_differ && !options->rgb)
		return fail(NULL, "two images of the period %g px are the same step", fringe->period_px);
	if (options->rgb && !steps_differ)
		steps_said = shifts_said = false;
	if (!(steps > 0) || options->shift_rad.n || given(options->steps) || !steps_said)
		steps = (double)fringe->n;
	if (options->shift_rad.n && options->shift_rad.n != fringe->n)
		return fail(NULL, "%zu shifts for %zu images of the period %g px",
		    options->shift_rad.n, fringe->n, fringe->period_px);
	for (size_t i = 0; i < fringe->n; i++) {
		const struct manifest_row *said = &shot[fringe->plane[i]].said;
		size_t step = steps_said ? (size_t)said->step : i;

		if (options->shift_rad.n)
			fringe->shift_rad[i] = options->shift_rad.v[i];
		else if (shifts_said)
			fringe->shift_rad[i] = said->shift_rad;
		else if ((double)step < steps)
			fringe->shift_rad[i] = usual_shift((size_t)steps, step);
		else
			return fail(NULL, "step %zu of %.0f has no shift: give --shift", step, steps);
	}
	return 0;
}

/* Planes of a 2+1 set as sin, cos, flat. */
static int
set_two_plus_one(const struct shot *shot, struct shots_fringe *fringe)
{
	static const enum manifest_role role[] = { ROLE_SIN, ROLE_COS, ROLE_FLAT };
	size_t own[3], found = 0;

	for (size_t r = 0; r < 3; r++)
		for (size_t i = 0; i < fringe->n; i++)
			if (shot[fringe->plane[i]].said.role == role[r] && found == r)
				own[found++] = fringe->plane[i];
	if (fringe->n != 3 || found != 3)
		return fail(NULL, "2+1 images of the period %g px must be sin, cos and flat, there are %zu",
		    fringe->period_px, fringe->n);
	memcpy(fringe->plane, own, sizeof(own));
	fringe->two_plus_one = true;
	fringe->shift_rad[0] = -M_PI / 2;
	fringe->shift_rad[1] = fringe->shift_rad[2] = 0;
	return 0;
}

static int
complete_set(const struct shots_options *options, const struct frame_head *head,
    struct shot *shot, struct shots_fringe *fringe)
{
	bool two_plus_one = false;

	for (size_t i = 0; i < fringe->n; i++)
		two_plus_one = two_plus_one || shot[fringe->plane[i]].said.role != ROLE_PHASE;
	if (two_plus_one)
		return set_two_plus_one(shot, fringe);
	if (fringe->n < 3)
		return fail(NULL, "the period %g px has %zu images, a phase needs 3",
		    fringe->period_px, fringe->n);
	qsort_r(fringe->plane, fringe->n, sizeof(*fringe->plane), compare_steps, shot);
	return set_shifts(options, head, shot, fringe);
}

static int
add_set(struct shots *out, const struct shot *first, size_t room)
{
	struct shots_fringe *more = reallocarray(out->fringe, out->fringes + 1, sizeof(*more));

	if (!more)
		return fail_memory();
	out->fringe = more;
	more += out->fringes++;
	*more = (struct shots_fringe){ .axis = axis_or_x(first->said.axis),
		.period_px = first->said.period_px };
	more->plane = calloc(room, sizeof(*more->plane));
	more->shift_rad = calloc(room, sizeof(*more->shift_rad));
	return more->plane && more->shift_rad ? 0 : fail_memory();
}

/* Puts all images of the same set as the first one into a new set. */
static int
collect_set(const struct shot *shot, size_t n, size_t first, bool *fringe, struct shots *out)
{
	if (add_set(out, &shot[first], n) < 0)
		return -1;
	for (size_t k = 0; k < n; k++)
		if (fringe[k] && (same_set(&shot[k], &shot[first]) || shares_flat(&shot[k]))) {
			struct shots_fringe *set = &out->fringe[out->fringes - 1];

			set->plane[set->n++] = k;
			fringe[k] = shares_flat(&shot[k]);
		}
	return 0;
}

static int
sort_fringes(const struct shots_options *options, const struct frame_head *head,
    struct shot *shot, size_t n, struct shots *out)
{
	bool two_plus_one = false, *fringe = calloc(n, sizeof(*fringe));
	int status = fringe ? 0 : fail_memory();

	for (size_t i = 0; i < n; i++)
		two_plus_one = two_plus_one || shot[i].said.role == ROLE_SIN;
	for (size_t i = 0; status == 0 && i < n; i++)
		fringe[i] = is_fringe(&shot[i], options, two_plus_one);
	for (size_t i = 0; status == 0 && i < n; i++)
		if (fringe[i] && !shares_flat(&shot[i]))
			status = collect_set(shot, n, i, fringe, out);
	free(fringe);
	for (size_t s = 0; status == 0 && s < out->fringes; s++)
		status = complete_set(options, head, shot, &out->fringe[s]);
	return status;
}

static int
compare_bits(const void *a, const void *b, void *shots)
{
	const struct shot *shot = shots;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	long first = shot[i].said.bit, second = shot[k].said.bit;

	if (first != second)
		return first > second ? -1 : 1;
	return i < k ? -1 : i > k;
}

/* The planes of a role along an axis, most significant first; a new list. */
static int
sort_planes(struct shot *shot, size_t n, enum manifest_role role, char axis, size_t **list,
    size_t *planes)
{
	*list = calloc(n, sizeof(**list));
	*planes = 0;
	if (!*list)
		return fail_memory();
	for (size_t i = 0; i < n; i++)
		if (shot[i].said.role == role && axis_or_x(shot[i].said.axis) == axis)
			(*list)[(*planes)++] = i;
	qsort_r(*list, *planes, sizeof(**list), compare_bits, shot);
	return 0;
}

/* Where bits are said, each must be there once. */
static int
check_bits(const struct shot *shot, const struct shots_code *code)
{
	for (size_t i = 0; i < 2 * code->n; i++) {
		const size_t *list = i < code->n ? code->plane : code->inverse;
		long bit = list ? shot[list[i % code->n]].said.bit : MANIFEST_NO_BIT;

		if (bit != MANIFEST_NO_BIT && bit != (long)(code->n - 1 - i % code->n))
			return fail(NULL, "the Gray code along %c has %zu planes, one of them is bit %ld",
			    code->axis, code->n, bit);
	}
	return 0;
}

static int
sort_gray(const struct shots_options *options, struct shot *shot, size_t n, struct shots *out)
{
	for (size_t a = 0; a < 2; a++) {
		struct shots_code *code = &out->code[out->codes];
		size_t inverses;

		code->axis = "xy"[a];
		if (sort_planes(shot, n, ROLE_GRAY, code->axis, &code->plane, &code->n) < 0 ||
		    sort_planes(shot, n, ROLE_GRAY_INVERSE, code->axis, &code->inverse,
		    &inverses) < 0)
			return -1;
		if (inverses && inverses != code->n)
			return fail(NULL, "%zu Gray planes along %c, but %zu inverse ones", code->n,
			    code->axis, inverses);
		if (code->n > 24)
			return fail(NULL, "a Gray code of %zu planes is too long, 24 are the most",
			    code->n);
		if (inverses == 0) {
			free(code->inverse);
			code->inverse = NULL;
		}
		if (check_bits(shot, code) < 0)
			return -1;
		if (code->n == 0) {
			free(code->plane);
			code->plane = NULL;
		} else {
			out->codes++;
		}
	}
	out->cell = (enum manifest_cell)options->gray_cell;
	for (size_t i = 0; i < n && out->cell == CELL_NONE; i++)
		out->cell = shot[i].said.gray_cell;
	return 0;
}

/* White and black, or one flat image at half level. */
static void
sort_flats(const struct shot *shot, size_t n, struct shots *out)
{
	size_t white = n, black = n, flat = n;

	for (size_t i = 0; i < n; i++) {
		enum manifest_role role = shot[i].said.role;

		white = role == ROLE_WHITE && white == n ? i : white;
		black = role == ROLE_BLACK && black == n ? i : black;
		flat = role == ROLE_FLAT && flat == n ? i : flat;
	}
	if (white < n && black < n) {
		out->flats = 2;
		out->flat[0] = white;
		out->flat[1] = black;
	} else if (flat < n) {
		out->flats = 1;
		out->flat[0] = flat;
	}
}

/* The periods that are given: if the images say the same ones in another order, the sets take the
 * order of the option; else its values replace what the images say. */
static int
apply_periods(const struct numbers *period_px, struct shots *out)
{
	size_t matched = 0;

	if (period_px->n == 0 || out->fringes == 0)
		return 0;
	if (period_px->n != out->fringes)
		return fail(NULL, "%zu periods are given, the images have %zu", period_px->n,
		    out->fringes);
	while (matched < out->fringes) {
		size_t i = matched;

		while (i < out->fringes && out->fringe[i].period_px != period_px->v[matched])
			i++;
		if (i == out->fringes)
			break;
		for (; i > matched; i--) {
			struct shots_fringe swap = out->fringe[i];

			out->fringe[i] = out->fringe[i - 1];
			out->fringe[i - 1] = swap;
		}
		matched++;
	}
	for (size_t i = 0; i < out->fringes; i++)
		out->fringe[i].period_px = period_px->v[i];
	return 0;
}

static int
apply_axes(const char *list, struct shots *out)
{
	size_t n = list ? (strlen(list) + 1) / 2 : 0;

	if (n > 1 && out->fringes && n != out->fringes)
		return fail(NULL, "--axis has %zu letters for %zu periods", n, out->fringes);
	for (size_t i = 0; n && i < out->fringes; i++)
		out->fringe[i].axis = axis_word(list, i);
	if (n == 1 && out->codes == 1)
		out->code[0].axis = list[0];
	return 0;
}

/* Periods of images without roles may stand in the metadata, one per set. */
static int
stored_periods(const struct frame_head *head, struct shots *out)
{
	struct numbers period_px;
	int status;

	if (meta_numbers(&head->meta, "period_px", &period_px) < 0)
		return -1;
	status = apply_periods(&period_px, out);
	numbers_free(&period_px);
	return status;
}

int
shots_sort(const struct shots_options *options, const struct manifest *manifest,
    const struct frame_head *head, struct shots *out)
{
	size_t n = head->c;
	struct shot *shot = calloc(n, sizeof(*shot));
	bool roles = !manifest && says_roles(options, head);
	int status;

	memset(out, 0, sizeof(*out));
	if (!shot)
		return fail_memory();
	for (size_t i = 0; i < n; i++)
		shot[i] = (struct shot){ nothing_said, SET_UNTOLD };
	if (manifest)
		status = tell_from_manifest(manifest, shot, n);
	else
		status = roles ? tell_from_meta(head, shot, n) :
		    tell_from_options(options, head, shot, n);
	if (status == 0)
		status = sort_fringes(options, head, shot, n, out);
	if (status == 0)
		status = sort_gray(options, shot, n, out);
	if (status == 0)
		sort_flats(shot, n, out);
	if (status == 0 && !manifest && !meta_get(&head->meta, "role") && options->period_px.n == 0)
		status = stored_periods(head, out);
	if (status == 0)
		status = apply_periods(&options->period_px, out);
	if (status == 0)
		status = apply_axes(options->axis, out);
	free(shot);
	return status;
}

/* ---- the result ---- */

/* " word1 word2 .." of all words, or the words alone when number is 0. */
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
name_channels(const struct shots *shots, const char *forms, struct frame_head *head)
{
	char *names = NULL;
	size_t size;
	FILE *to = open_memstream(&names, &size);
	int status = -1;

	if (!to)
		return fail_memory();
	for (size_t k = 0; k < shots->fringes; k++)
		print_numbered(to, forms, shots->fringes > 1 ? k + 1 : 0);
	if (shots->fringes)
		fputs(" modulation texture", to);
	for (size_t i = 0; i < shots->codes; i++)
		print_numbered(to, "index", shots->codes > 1 ? i + 1 : 0);
	if (fclose(to) != 0)
		fail_memory();
	else if (shots->fringes + shots->codes == 0)
		fail(NULL, "the measurement has neither fringe images nor Gray planes of that kind");
	else
		status = head_set_channels(head, names + 1);
	free(names);
	return status;
}

static int
describe_sets(const struct shots *shots, struct meta *meta)
{
	size_t n = shots->fringes;
	char axes[2 * n + 1];
	double period_px[n], steps[n];
	bool known = true, equal = true;

	for (size_t k = 0; k < n; k++) {
		axes[2 * k] = shots->fringe[k].axis;
		axes[2 * k + 1] = k + 1 < n ? ' ' : '\0';
		period_px[k] = shots->fringe[k].period_px;
		steps[k] = (double)shots->fringe[k].n;
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
describe_codes(const struct shots *shots, struct meta *meta)
{
	double planes[2];

	for (size_t i = 0; i < shots->codes; i++)
		planes[i] = (double)shots->code[i].n;
	if (shots->cell == CELL_NONE)
		meta_remove(meta, "gray_cell");
	else if (meta_set(meta, "gray_cell", manifest_cells[shots->cell]) < 0)
		return -1;
	return meta_set_numbers(meta, "gray_planes", planes, shots->codes);
}

int
shots_describe(const struct shots *shots, const char *forms, struct frame_head *head)
{
	static const char *const single[] = { "role", "step", "shift_rad", "bit", "name", "set_images",
		"phase_sign", "phase_origin_rad" };
	struct meta *meta = &head->meta;
	static const char codes[][4] = { "x", "y", "x y" };

	if (name_channels(shots, forms, head) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(single) / sizeof(*single); i++)
		meta_remove(meta, single[i]);
	if (shots->fringes) {
		if (describe_sets(shots, meta) < 0)
			return -1;
	} else {
		meta_remove(meta, "period_px");
		meta_remove(meta, "steps");
		if (meta_set(meta, "axis", codes[shots->codes > 1 ? 2 :
		    shots->code[0].axis == 'y']) < 0)
			return -1;
	}
	if (shots->codes)
		return describe_codes(shots, meta);
	meta_remove(meta, "gray_cell");
	return 0;
}

void
shots_free(struct shots *shots)
{
	for (size_t i = 0; i < shots->fringes; i++) {
		free(shots->fringe[i].plane);
		free(shots->fringe[i].shift_rad);
	}
	free(shots->fringe);
	for (size_t i = 0; i < 2; i++) {
		free(shots->code[i].plane);
		free(shots->code[i].inverse);
	}
	memset(shots, 0, sizeof(*shots));
}
