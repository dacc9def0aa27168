/*
 * Identifies the images of a captured set: which pattern each shows, by manifest, metadata or
 * options; whether file names contradict their order; the sorted set and the head of its result.
 */
#include "fringe/capture_set.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <strings.h>

#include "base/opt.h"
#include "base/process.h"
#include "base/text.h"
#include "io/file_list.h"

bool
channel_is_named(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (channel_number(name, *list))
			return true;
	return false;
}

bool
channel_is_position(const char *name)
{
	static const char *const names[] = { "phase", "absphase", "cos", "sin", "index", "label",
		"marker", "depth", "x", "y", "z", "nx", "ny", "nz", "disparity", NULL };

	return channel_is_named(name, names);
}

bool
channel_is_error(const char *name)
{
	static const char *const names[] = { "fit_residual", "residual", "sigma", "sigma_calib",
		"sigma_disparity", "p_order", NULL };

	return channel_is_named(name, names);
}

bool
channel_is_no_phase(const char *name)
{
	static const char *const names[] = { "absphase", "cos", "sin", "index", "label", "marker",
		"modulation", "texture", "mask", "depth", "x", "y", "z", "nx", "ny", "nz",
		"disparity", NULL };

	return channel_is_named(name, names) || channel_is_error(name);
}

/* ---- names of files against the order of the images ---- */

/* What the operands read so far were. */
struct seen {
	bool gray_first;		/* Gray planes come before phases, by --order */
	char other[256];		/* the first that belongs behind; empty: none yet */
	bool first_before;		/* one that belongs before came before it */
};

/* "ps_01", "PS1": the word, and behind it no letter. */
static bool
begins(const char *name, const char *word, bool whole)
{
	size_t n = strlen(word);

	return !strncasecmp(name, word, n) && !(whole && isalpha((unsigned char)name[n]));
}

static bool
is_phase(const char *name)
{
	return begins(name, "phase", false) || begins(name, "fringe", false) ||
	    begins(name, "ps", true) || begins(name, "psp", true);
}

static bool
is_gray(const char *name)
{
	return begins(name, "gray", false) || begins(name, "grey", false) ||
	    begins(name, "gc", true) || begins(name, "gcp", true);
}

/* Takes one name; true if it is the first of those that belong before, and another came before. */
static bool
see_name(struct seen *seen, const char *name)
{
	bool first = seen->gray_first ? is_gray(name) : is_phase(name);
	bool other = seen->gray_first ? is_phase(name) : is_gray(name);

	if (first) {
		if (seen->other[0] && !seen->first_before)
			return true;
		seen->first_before = true;
	}
	if (other && !seen->other[0])
		snprintf(seen->other, sizeof(seen->other), "%.255s", name);
	return false;
}

/* Keeps the name that comes first. */
static void
keep_first(char first[256], const char *name)
{
	if (!first[0] || strverscmp(name, first) < 0)
		snprintf(first, 256, "%.255s", name);
}

/* Takes the names of a folder in the order in which they are read, which is not readdir()'s; where
 * they say nothing, the folder's own name. */
static bool
see_folder(struct seen *seen, DIR *dir, const char *path)
{
	char phase[256] = "", gray[256] = "";
	bool gray_first;
	struct dirent *entry;

	while ((entry = readdir(dir))) {
		if (is_phase(entry->d_name))
			keep_first(phase, entry->d_name);
		if (is_gray(entry->d_name))
			keep_first(gray, entry->d_name);
	}
	if (!phase[0] && !gray[0]) {
		size_t n = strlen(path), start;

		while (n > 1 && path[n - 1] == '/')
			n--;
		for (start = n; start > 0 && path[start - 1] != '/'; start--)
			;
		snprintf(phase, sizeof(phase), "%.*s", (int)(n - start < 255 ? n - start : 255),
		    path + start);
	}
	gray_first = gray[0] && (!phase[0] || strverscmp(gray, phase) < 0);
	return see_name(seen, gray_first ? gray : phase) ||
	    see_name(seen, gray_first ? phase : gray);
}

/* Are files, or some in a row whose names are alike, in the order of their names as text, and not
 * of the numbers in them: 1 10 2? */
static void
warn_text_order(char *const *operand, size_t operands)
{
	static bool warned;
	size_t at = text_order_find(operand, operands);

	if (at == operands)
		at = text_order_find_alike(operand, operands, 2);
	if (at < operands && !warned)
		text_order_warn(operand, at);
	warned |= at < operands;
}

/* Where phases and Gray planes stand, by --order: its first word of both. */
static bool
puts_gray_first(const char *order)
{
	const char *phase = order ? strstr(order, "phase") : NULL;
	const char *gray = order ? strstr(order, "gray") : NULL;

	return gray && (!phase || gray < phase);
}

/* Do the first operands have the names of a manifest's rows, in another order? */
static int
check_manifest_order(const struct manifest *manifest, char *const *operand, size_t operands)
{
	if (operands % manifest->n)
		return 0;
	for (size_t i = 0; i < manifest->n && operands; i++) {
		const char *name = path_name(operand[i]), *own = path_name(manifest->row[i].file);

		for (size_t k = 0; strcmp(name, own) && k < manifest->n; k++)
			if (!strcmp(name, path_name(manifest->row[k].file)))
				return fail_usage("--manifest", "image %zu is %.200s, and the "
				    "manifest says that it is %.200s: its images must come in "
				    "its order", i + 1, operand[i], own);
	}
	return 0;
}

int
capture_set_check_names(const struct capture_options *options, const struct manifest *manifest,
    const struct frame_head *head, char *const *operand, size_t operands)
{
	const char *order = options->order;
	bool groups = order && (strstr(order, "phase") || strstr(order, "gray"));
	struct seen seen = { .gray_first = groups && puts_gray_first(order) };
	bool found = false;

	if (manifest)
		return check_manifest_order(manifest, operand, operands);
	if (meta_get(&head->meta, "role") && !order)
		return 0;
	warn_text_order(operand, operands);
	if (options->gray.n == 0 || options->kind != CAPTURES_ALL)
		return 0;
	for (size_t i = 0; i < operands && !found; i++) {
		DIR *dir = opendir(operand[i]);

		found = dir ? see_folder(&seen, dir, operand[i]) :
		    see_name(&seen, path_name(operand[i]));
		if (dir)
			closedir(dir);
	}
	if (!found)
		return 0;
	if (groups) {
		warn("--order", "%s takes %s images first, but %.200s stands before them: are they "
		    "in this order?", order, seen.gray_first ? "Gray" : "phase", seen.other);
		return 0;
	}
	if (order)
		return fail_usage("--order", "%s says nothing of phase and gray: phase images are "
		    "taken first, but %.200s stands before them: give --order gray,phase,%s", order,
		    seen.other, order);
	return fail_usage("--order", "not given, phase images are taken first, but %.200s stands "
	    "before them: give --order gray,phase", seen.other);
}

/* ---- what each plane is, before sorting ---- */

#define SET_UNKNOWN SIZE_MAX		/* axis and period identify the set */

/* The order of the images that --order declares. */
struct order {
	const char *group[3];		/* "phase", "gray", "flat" in the order of the images */
	bool by_step, pairs, lsb_first;
};

/* ---- options ---- */

static const char *const order_words[] = { "phase", "gray", "flat", "by-step", "pairs", "lsb-first",
	NULL };

static int
take_order_word(const char *word, size_t n, struct order *out, size_t *groups)
{
	bool *const flags[] = { &out->by_step, &out->pairs, &out->lsb_first };
	char near[120];
	size_t i = 0;

	while (order_words[i] &&
	    (strlen(order_words[i]) != n || strncmp(order_words[i], word, n)))
		i++;
	if (!order_words[i])
		return fail_usage("--order", "must be made of phase gray flat by-step pairs "
		    "lsb-first, not '%.*s'%s", (int)n, word,
		    opt_suggest_word(word, n, "", order_words, near, sizeof(near)));
	if (i >= 3) {
		*flags[i - 3] = true;
		return 0;
	}
	for (size_t k = 0; k < *groups; k++)
		if (out->group[k] == order_words[i])
			return fail_usage("--order", "names %s twice", order_words[i]);
	out->group[(*groups)++] = order_words[i];
	return 0;
}

/* Parses --order; groups that it does not name follow in their usual order. */
static int
parse_order(const char *text, struct order *out)
{
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
			there |= out->group[k] == order_words[i];
		if (!there)
			out->group[groups++] = order_words[i];
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
	bool steps_given = capture_roles_given(options->steps);
	size_t shifts = options->shift_rad.n;
	struct order order;

	if (parse_order(options->order, &order) < 0 || check_axis(options->axis) < 0 ||
	    check_gray(options) < 0)
		return -1;
	if (shifts && steps_given && shifts != (size_t)options->steps)
		return fail_usage("--shift", "%zu values for %ld steps", shifts, options->steps);
	if (options->kind == CAPTURES_FOURIER)		/* it has no option for what follows */
		return 0;
	if (options->kind == CAPTURES_DOUBLE && steps_given && options->steps != 6)
		return fail_usage("--steps", "double three-step images are 6, not %ld",
		    options->steps);
	if (options->kind == CAPTURES_DOUBLE && shifts && shifts != 6)
		return fail_usage("--shift", "double three-step images are 6, not %zu", shifts);
	if (shifts == 1 || shifts == 2)
		return fail_usage("--shift", "three or more shifts give a phase, not %zu", shifts);
	if (options->kind == CAPTURES_TWO_PLUS_ONE && steps_given && options->steps != 3)
		return fail_usage("--steps", "2+1 images are 3, not %ld", options->steps);
	if (options->kind == CAPTURES_TWO_PLUS_ONE && shifts)
		return fail_usage("--shift", "2+1 images are a sine, a cosine and a flat one");
	if (options->kind == CAPTURES_GRAY && (steps_given || shifts))
		return fail_usage(steps_given ? "--steps" : "--shift",
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

/* A number among the keys of the image in a plane, which those of others may lack; 0 without one.
 * -1 after fail(). */
static int
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
		    "--manifest; fourierphase takes single images of fringes, steger those of "
		    "a laser's line");
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
		capture[i] = (struct capture){ manifest_empty_row, SET_UNKNOWN };
	if (manifest)
		return describe_from_manifest(manifest, capture, head->c);
	if (has_roles(options, head))
		return describe_from_meta(options, head, capture, head->c);
	return describe_from_options(options, head, capture, head->c);
}

/* ---- the head of a result ---- */

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
	else
		status = head_set_channels(head, names + 1);
	free(names);
	return status;
}

static void
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
	if (known)
		meta_set_numbers(meta, "period_px", period_px, n);
	if (!known)
		meta_remove(meta, "period_px");
	meta_set(meta, "axis", axes);
	meta_set_numbers(meta, "steps", steps, equal ? 1 : n);
}

static void
describe_codes(const struct capture_set *set, struct meta *meta)
{
	double planes[2], period_px[2];
	/* of one set the cells are those of its own period */
	bool known = set->fringes != 1 && set->cell != CELL_COLUMN;

	for (size_t i = 0; i < set->codes; i++) {
		planes[i] = (double)set->code[i].n;
		period_px[i] = set->code[i].period_px;
		known = known && !isnan(period_px[i]);
	}
	if (known)
		meta_set_numbers(meta, "gray_period_px", period_px, set->codes);
	if (set->cell == CELL_NONE)
		meta_remove(meta, "gray_cell");
	else
		meta_set(meta, "gray_cell", manifest_cells[set->cell]);
	meta_set_numbers(meta, "gray_planes", planes, set->codes);
}

/* Where it is known where a marker is. */
static void
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
		return;
	meta_set_numbers(meta, "marker_px", px, set->markers);
	meta_set_numbers(meta, "marker_width_px", width_px, set->markers);
	meta_set(meta, "marker_axis", set->markers > 1 ? "x y" :
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
		describe_sets(set, meta);
	} else {
		meta_remove(meta, "period_px");
		meta_remove(meta, "steps");
		meta_set(meta, "axis", codes[set->codes > 1 ? 2 : set->code[0].axis == 'y']);
	}
	describe_markers(set, meta);
	if (set->codes)
		describe_codes(set, meta);
	else
		meta_remove(meta, "gray_cell");
	return 0;
}

/*
 * Sorts the described planes of one measurement: fringe images into sets of one period and axis, in
 * the order of their steps and with their shifts; Gray planes by bit; flat images. The options then
 * replace periods and axes.
 */

/* ---- fringe images ---- */

const char *
capture_set_name(const struct capture_fringe *fringe, char text[CAPTURE_SET_NAME_SIZE])
{
	if (isnan(fringe->period_px))
		snprintf(text, CAPTURE_SET_NAME_SIZE, "the period along %c", fringe->axis);
	else
		snprintf(text, CAPTURE_SET_NAME_SIZE, "the period %g px", fringe->period_px);
	return text;
}

#define IMAGE_NAME_SIZE 200

/* "image 3 (phase_02.png)": its place in the measurement, and the file that a manifest names. */
static const char *
image_name(const struct capture *capture, size_t i, char text[IMAGE_NAME_SIZE])
{
	if (capture[i].described.file)
		snprintf(text, IMAGE_NAME_SIZE, "image %zu (%.150s)", i + 1,
		    capture[i].described.file);
	else
		snprintf(text, IMAGE_NAME_SIZE, "image %zu", i + 1);
	return text;
}

static char
axis_or_x(char axis)
{
	return axis ? axis : 'x';
}

/* Does --kind select the image as a fringe image? In a 2+1 measurement the flat image is one. */
static bool
is_fringe(const struct capture *capture, const struct capture_options *options, bool two_plus_one)
{
	enum manifest_role role = capture->described.role;

	if (options->kind == CAPTURES_FOURIER)
		return role == ROLE_PHASE || role == ROLE_SIN || role == ROLE_COS;
	if (role == ROLE_PHASE)
		return options->kind == CAPTURES_ALL || options->kind == CAPTURES_STEP ||
		    options->kind == CAPTURES_DOUBLE;
	if (role == ROLE_SIN || role == ROLE_COS || (role == ROLE_FLAT && two_plus_one))
		return options->kind == CAPTURES_ALL || options->kind == CAPTURES_TWO_PLUS_ONE;
	return false;
}

static bool
same_set(const struct capture *a, const struct capture *b)
{
	return a->set == b->set && a->described.axis == b->described.axis &&
	    numbers_same(a->described.period_px, b->described.period_px);
}

/* All sets share a flat image without set, period and axis. */
static bool
is_shared_flat(const struct capture *capture)
{
	return capture->described.role == ROLE_FLAT && capture->set == SET_UNKNOWN &&
	    isnan(capture->described.period_px) && !capture->described.axis;
}

/* The numbers by which two images are ordered, or else their places. */
static int
compare_places(long first, long second, size_t i, size_t k)
{
	if (first != second)
		return first < second ? -1 : 1;
	return i < k ? -1 : i > k;
}

static int
compare_steps(const void *a, const void *b, void *captures)
{
	const struct capture *capture = captures;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;

	return compare_places(capture[i].described.step, capture[k].described.step, i, k);
}

static double
usual_shift(int kind, size_t steps, size_t step)
{
	if (kind == CAPTURES_DOUBLE && steps == 6)
		return 2 * M_PI / 3 * ((double)(step % 3) - 1) + (step < 3 ? 0 : M_PI / 3);
	if (steps == 3)
		return 2 * M_PI / 3 * ((double)step - 1);
	return 2 * M_PI * (double)step / (double)steps;
}

/* Sets the shifts of a set whose planes are in the order of their steps. */
static int
set_shifts(const struct capture_options *options, const struct frame_head *head,
    const struct capture *capture, struct capture_fringe *fringe)
{
	bool steps_described = true, shifts_described = true;
	size_t same_step = 0;		/* the later one of two images of one step */
	char name[CAPTURE_SET_NAME_SIZE], first[IMAGE_NAME_SIZE], second[IMAGE_NAME_SIZE];
	double steps;

	if (capture_roles_number(head, fringe->plane[0], "steps", &steps) < 0)
		return -1;
	for (size_t i = 0; i < fringe->n; i++) {
		const struct manifest_row *row = &capture[fringe->plane[i]].described;

		steps_described = steps_described && row->step != MANIFEST_NO_STEP;
		shifts_described = shifts_described && !isnan(row->shift_rad);
		if (i > 0 && row->step == capture[fringe->plane[i - 1]].described.step)
			same_step = i;
	}
	if (steps_described && same_step && !options->rgb)
		return fail(NULL, "%s and %s are the same step, %ld, of %s: several measurements "
		    "must list their images in the same order",
		    image_name(capture, fringe->plane[same_step - 1], first),
		    image_name(capture, fringe->plane[same_step], second),
		    capture[fringe->plane[same_step]].described.step,
		    capture_set_name(fringe, name));
	if (options->rgb && same_step)
		steps_described = shifts_described = false;
	if (!(steps > 0) || options->shift_rad.n || capture_roles_given(options->steps) ||
	    !steps_described)
		steps = (double)fringe->n;
	if (options->shift_rad.n && options->shift_rad.n != fringe->n)
		return fail("--shift", "%zu shifts for %zu images of %s", options->shift_rad.n,
		    fringe->n, capture_set_name(fringe, name));
	for (size_t i = 0; i < fringe->n; i++) {
		const struct manifest_row *row = &capture[fringe->plane[i]].described;
		size_t step = steps_described ? (size_t)row->step : i;

		if (options->shift_rad.n)
			fringe->shift_rad[i] = options->shift_rad.v[i];
		else if (shifts_described)
			fringe->shift_rad[i] = row->shift_rad;
		else if ((double)step < steps)
			fringe->shift_rad[i] = usual_shift(options->kind, (size_t)steps, step);
		else
			return fail(NULL, "step %zu of %.0f has no shift: give --shift", step,
			    steps);
	}
	return 0;
}

/* Puts the planes of a 2+1 set into the order sin, cos, flat. */
static int
set_two_plus_one(const struct capture *capture, struct capture_fringe *fringe)
{
	static const enum manifest_role role[] = { ROLE_SIN, ROLE_COS, ROLE_FLAT };
	size_t own[3], found = 0;
	char name[CAPTURE_SET_NAME_SIZE];

	for (size_t r = 0; r < 3; r++)
		for (size_t i = 0; i < fringe->n; i++)
			if (capture[fringe->plane[i]].described.role == role[r] && found == r)
				own[found++] = fringe->plane[i];
	if (fringe->n != 3 || found != 3)
		return fail(NULL, "2+1 images of %s must be sin, cos and flat, there are %zu",
		    capture_set_name(fringe, name), fringe->n);
	memcpy(fringe->plane, own, sizeof(own));
	fringe->two_plus_one = true;
	fringe->shift_rad[0] = -M_PI / 2;
	fringe->shift_rad[1] = fringe->shift_rad[2] = 0;
	return 0;
}

/* The one image that a Fourier transform needs: the first step, or the sine of 2+1 images. */
static int
set_one_image(const struct capture_options *options, const struct frame_head *head, size_t set,
    struct capture *capture, struct capture_fringe *fringe)
{
	enum manifest_role role;
	size_t given = options->shift_rad.n;
	int status = 0;

	qsort_r(fringe->plane, fringe->n, sizeof(*fringe->plane), compare_steps, capture);
	role = capture[fringe->plane[0]].described.role;
	if (given)
		fringe->shift_rad[0] = options->shift_rad.v[given == 1 ? 0 : set];
	else if (capture[fringe->plane[0]].set != SET_UNKNOWN)
		fringe->shift_rad[0] = 0;	/* nothing describes it */
	else if (role != ROLE_PHASE)
		fringe->shift_rad[0] = role == ROLE_SIN ? -M_PI / 2 : 0;
	else
		status = set_shifts(options, head, capture, fringe);
	fringe->left_out = fringe->n - 1;
	fringe->n = 1;
	return status;
}

static int
complete_set(const struct capture_options *options, const struct frame_head *head, size_t set,
    struct capture *capture, struct capture_fringe *fringe)
{
	bool two_plus_one = false;
	char name[CAPTURE_SET_NAME_SIZE];

	if (options->kind == CAPTURES_FOURIER)
		return set_one_image(options, head, set, capture, fringe);
	for (size_t i = 0; i < fringe->n; i++)
		two_plus_one = two_plus_one ||
		    capture[fringe->plane[i]].described.role != ROLE_PHASE;
	if (two_plus_one)
		return set_two_plus_one(capture, fringe);
	if (fringe->n < 3)
		return fail(NULL, "%s has %zu images, a phase needs 3",
		    capture_set_name(fringe, name), fringe->n);
	qsort_r(fringe->plane, fringe->n, sizeof(*fringe->plane), compare_steps, capture);
	return set_shifts(options, head, capture, fringe);
}

/* Puts all pending fringe images of the same set as the first one into a new set; a flat image that
 * all sets share stays pending. */
static void
collect_set(const struct capture *capture, size_t n, size_t first, bool *pending,
    struct capture_set *out)
{
	struct capture_fringe *fringe;

	out->fringe = must_resize(out->fringe, out->fringes + 1, sizeof(*fringe));
	fringe = &out->fringe[out->fringes++];
	*fringe = (struct capture_fringe){ .axis = axis_or_x(capture[first].described.axis),
		.period_px = capture[first].described.period_px,
		.plane = must_alloc(n, sizeof(*fringe->plane)),
		.shift_rad = must_alloc(n, sizeof(*fringe->shift_rad)) };
	for (size_t k = 0; k < n; k++)
		if (pending[k] &&
		    (same_set(&capture[k], &capture[first]) || is_shared_flat(&capture[k]))) {
			fringe->plane[fringe->n++] = k;
			pending[k] = is_shared_flat(&capture[k]);
		}
}

static int
sort_fringes(const struct capture_options *options, const struct frame_head *head,
    struct capture *capture, size_t n, struct capture_set *out)
{
	bool two_plus_one = false, *pending = must_alloc(n, sizeof(*pending));
	int status = 0;

	if (options->shift_rad.n > 1 && options->kind == CAPTURES_FOURIER &&
	    options->period_px.n != options->shift_rad.n)
		status = fail("--shift", "%zu shifts for %zu images", options->shift_rad.n,
		    options->period_px.n ? options->period_px.n : 1);
	for (size_t i = 0; i < n; i++)
		two_plus_one = two_plus_one ||
		    (capture[i].described.role == ROLE_SIN && options->kind != CAPTURES_FOURIER);
	for (size_t i = 0; status == 0 && i < n; i++)
		pending[i] = is_fringe(&capture[i], options, two_plus_one);
	for (size_t i = 0; status == 0 && i < n; i++)
		if (pending[i] && !is_shared_flat(&capture[i]))
			collect_set(capture, n, i, pending, out);
	free(pending);
	for (size_t s = 0; status == 0 && s < out->fringes; s++)
		status = complete_set(options, head, s, capture, &out->fringe[s]);
	return status;
}

/* ---- Gray planes and flat images ---- */

static int
compare_bits(const void *a, const void *b, void *captures)
{
	const struct capture *capture = captures;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;

	return compare_places(-capture[i].described.bit, -capture[k].described.bit, i, k);
}

/* A new list of the planes of a role along an axis, most significant first; how many. */
static size_t *
sort_planes(struct capture *capture, size_t n, enum manifest_role role, char axis, size_t *planes)
{
	size_t *list = must_alloc(n, sizeof(*list));

	*planes = 0;
	for (size_t i = 0; i < n; i++)
		if (capture[i].described.role == role &&
		    axis_or_x(capture[i].described.axis) == axis)
			list[(*planes)++] = i;
	qsort_r(list, *planes, sizeof(*list), compare_bits, capture);
	return list;
}

/* The smallest bit that none of n planes is; n where all are there. */
static size_t
missing_bit(const struct capture *capture, const size_t *list, size_t n)
{
	for (size_t bit = 0; bit < n; bit++) {
		size_t i = 0;

		while (i < n && capture[list[i]].described.bit != (long)bit)
			i++;
		if (i == n)
			return bit;
	}
	return n;
}

/* A plane whose bit is described must have the bit of its position. */
static int
check_bits(const struct capture *capture, const struct capture_code *code)
{
	char name[IMAGE_NAME_SIZE];

	for (size_t i = 0; i < 2 * code->n; i++) {
		const size_t *list = i < code->n ? code->plane : code->inverse;
		size_t own = list ? list[i % code->n] : 0;
		long bit = list ? capture[own].described.bit : MANIFEST_NO_BIT;

		if (bit != MANIFEST_NO_BIT && bit != (long)(code->n - 1 - i % code->n))
			return fail(NULL, "%s is bit %ld of the Gray code along %c, which has %zu "
			    "%splanes, none of them bit %zu", image_name(capture, own, name), bit,
			    code->axis, code->n, i < code->n ? "" : "inverse ",
			    missing_bit(capture, list, code->n));
	}
	return 0;
}

/* As many inverses as planes, or none. */
static int
check_inverses(const struct capture *capture, const struct capture_code *code, size_t inverses)
{
	bool more = inverses > code->n;
	const size_t *many = more ? code->inverse : code->plane;
	const size_t *few = more ? code->plane : code->inverse;
	size_t most = more ? inverses : code->n, least = more ? code->n : inverses, i = 0;
	char name[IMAGE_NAME_SIZE];

	if (inverses == 0 || inverses == code->n)
		return 0;
	while (i < least && i + 1 < most &&
	    capture[many[i]].described.bit == capture[few[i]].described.bit)
		i++;
	if (capture[many[i]].described.bit == MANIFEST_NO_BIT)
		return fail(NULL, "%zu Gray planes along %c, but %zu inverse ones", code->n,
		    code->axis, inverses);
	return fail(NULL, "%zu Gray planes along %c, but %zu inverse ones: %s, bit %ld, has no %s",
	    code->n, code->axis, inverses, image_name(capture, many[i], name),
	    capture[many[i]].described.bit, more ? "plane" : "inverse");
}

static int
sort_gray(const struct capture_options *options, struct capture *capture, size_t n,
    struct capture_set *out)
{
	for (size_t a = 0; a < 2; a++) {
		struct capture_code *code = &out->code[out->codes];
		size_t inverses;

		code->axis = "xy"[a];
		code->plane = sort_planes(capture, n, ROLE_GRAY, code->axis, &code->n);
		code->inverse = sort_planes(capture, n, ROLE_GRAY_INVERSE, code->axis, &inverses);
		code->period_px = code->n ? capture[code->plane[0]].described.period_px : NAN;
		if (check_inverses(capture, code, inverses) < 0)
			return -1;
		if (code->n > 24)
			return fail(NULL, "a Gray code of %zu planes is too long, 24 are the most",
			    code->n);
		if (inverses == 0) {
			free(code->inverse);
			code->inverse = NULL;
		}
		if (check_bits(capture, code) < 0)
			return -1;
		if (code->n > 0) {
			out->codes++;
			continue;
		}
		free(code->plane);
		code->plane = NULL;
	}
	out->cell = (enum manifest_cell)options->gray_cell;
	for (size_t i = 0; i < n && out->cell == CELL_NONE; i++)
		out->cell = capture[i].described.gray_cell;
	return 0;
}

/* Chooses white and black, or one flat image at half level. */
static void
sort_flats(const struct capture *capture, size_t n, struct capture_set *out)
{
	size_t white = n, black = n, flat = n;

	for (size_t i = 0; i < n; i++) {
		enum manifest_role role = capture[i].described.role;

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

/* A marker of each axis; the first of several. */
static void
sort_markers(const struct capture *capture, size_t n, struct capture_set *out)
{
	for (size_t a = 0; a < 2 && out->fringes; a++)
		for (size_t i = 0; i < n; i++) {
			const struct manifest_row *row = &capture[i].described;

			if (row->role != ROLE_MARKER || axis_or_x(row->axis) != "xy"[a])
				continue;
			out->marker[out->markers++] = (struct capture_marker){ i, "xy"[a],
				row->marker_px, row->marker_width_px };
			break;
		}
}

/* ---- all of it ---- */

/* Where the images have the given periods in another order, the sets take the order that is given;
 * else the given periods replace those of the images. */
static int
apply_periods(const struct numbers *period_px, struct capture_set *out)
{
	size_t matched = 0;

	if (period_px->n == 0 || out->fringes == 0)
		return 0;
	if (period_px->n != out->fringes)
		return fail("--period", "%zu periods are given, the images have %zu", period_px->n,
		    out->fringes);
	while (matched < out->fringes) {
		size_t i = matched;

		while (i < out->fringes && out->fringe[i].period_px != period_px->v[matched])
			i++;
		if (i == out->fringes)
			break;
		for (; i > matched; i--) {
			struct capture_fringe swap = out->fringe[i];

			out->fringe[i] = out->fringe[i - 1];
			out->fringe[i - 1] = swap;
		}
		matched++;
	}
	for (size_t i = 0; i < out->fringes; i++)
		if (!isnan(period_px->v[i]))	/* --count without --field */
			out->fringe[i].period_px = period_px->v[i];
	return 0;
}

static int
apply_axes(const char *list, struct capture_set *out)
{
	size_t n = list ? (strlen(list) + 1) / 2 : 0;

	if (n > 1 && out->fringes && n != out->fringes)
		return fail(NULL, "--axis has %zu letters for %zu periods", n, out->fringes);
	for (size_t i = 0; n && i < out->fringes; i++)
		out->fringe[i].axis = capture_roles_axis(list, i);
	if (n == 1 && out->codes == 1)
		out->code[0].axis = list[0];
	return 0;
}

int
capture_set_sort(const struct capture_options *options, const struct manifest *manifest,
    const struct frame_head *head, struct capture_set *out)
{
	size_t n = head->c;
	struct capture *capture = must_alloc(n, sizeof(*capture));
	struct numbers stored_px = { 0 };
	int status;

	memset(out, 0, sizeof(*out));
	status = capture_roles_describe(options, manifest, head, capture) < 0 ||
	    sort_fringes(options, head, capture, n, out) < 0 ||
	    (options->kind != CAPTURES_FOURIER && sort_gray(options, capture, n, out) < 0) ? -1 : 0;
	if (status == 0) {
		sort_flats(capture, n, out);
		sort_markers(capture, n, out);
	}
	/* the metadata of images without roles may hold their periods, one per set */
	if (status == 0 && !manifest && !meta_get(&head->meta, "role") && options->period_px.n == 0)
		status = meta_numbers(&head->meta, "period_px", &stored_px);
	if (status == 0)
		status = apply_periods(stored_px.n ? &stored_px : &options->period_px, out);
	numbers_free(&stored_px);
	if (status == 0)
		status = apply_axes(options->axis, out);
	free(capture);
	return status;
}

void
capture_set_free(struct capture_set *set)
{
	for (size_t i = 0; i < set->fringes; i++) {
		free(set->fringe[i].plane);
		free(set->fringe[i].shift_rad);
	}
	free(set->fringe);
	for (size_t i = 0; i < 2; i++) {
		free(set->code[i].plane);
		free(set->code[i].inverse);
	}
	memset(set, 0, sizeof(*set));
}
