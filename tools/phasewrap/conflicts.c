/*
 * Options, manifest and images that contradict each other, and a set whose capture may have begun
 * late. Options against the keys of images whose roles are known give warnings; options against a
 * manifest are errors.
 */
#include "phasewrap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "fringe/capture_set.h"

#define TOLERANCE 1e-4	/* of a period, or radians: numbers are written with few digits */

/* ---- options against the keys of the images ---- */

/* The number that image i has under a key; NaN where it has none. */
static double
number_of(const struct frame_head *head, const char *key, size_t i)
{
	const char *list = meta_get(&head->meta, key);
	char word[64], *end;
	double v;

	if (!list || !meta_word(list, meta_words(list) == head->c ? i : 0, word, sizeof(word)))
		return NAN;
	v = strtod(word, &end);
	return end == word || *end ? NAN : v;
}

/* Warns of a period that no image has. */
static void
check_periods(const struct numbers *period_px, const struct frame_head *head)
{
	for (size_t k = 0; k < period_px->n; k++) {
		double other = NAN;
		bool found = false;

		for (size_t i = 0; i < head->c && !found; i++) {
			double own = number_of(head, "period_px", i);

			found = fabs(own / period_px->v[k] - 1) < TOLERANCE;
			other = isnan(other) ? own : other;
		}
		if (!found && !isnan(other)) {
			warn("--period", "says %g px, and the images themselves say period_px %g: "
			    "the option counts", period_px->v[k], other);
			return;
		}
	}
}

/* Warns of the first shift that differs from the image's own. */
static void
check_shifts(const struct capture_options *options, const struct frame_head *head,
    const struct capture_set *set)
{
	const struct numbers *shift_rad = &options->shift_rad;

	for (size_t k = 0; k < set->fringes && shift_rad->n; k++)
		for (size_t i = 0; i < set->fringe[k].n && i < shift_rad->n; i++) {
			double own = number_of(head, "shift_rad", set->fringe[k].plane[i]);
			double apart = remainder(own - shift_rad->v[i], 2 * M_PI);

			if (isnan(own) || fabs(apart) < TOLERANCE + options->shift_slack_rad)
				continue;
			warn("--shift", "says %g degrees for image %zu of a period, and the image "
			    "itself says shift_rad %g (%g degrees): the option counts",
			    shift_rad->v[i] * 180 / M_PI, i + 1, own, own * 180 / M_PI);
			return;
		}
}

/* How many words of the key role are this one. */
static size_t
count_role(const char *roles, const char *role)
{
	char word[32];
	size_t n = 0;

	for (size_t i = 0; meta_word(roles, i, word, sizeof(word)); i++)
		n += !strcmp(word, role);
	return n;
}

/* Warns of another number of Gray planes, or another cell. */
static void
check_gray(const struct capture_options *options, const struct frame_head *head, const char *roles)
{
	const char *cell = meta_get(&head->meta, "gray_cell");
	size_t own = count_role(roles, "gray");
	double planes = 0;
	char word[32];

	for (size_t i = 0; i < options->gray.n; i++)
		planes += options->gray.v[i];
	if (options->gray.n && planes != (double)own)
		warn("--gray", "says %g planes, and of the images %zu say that they are some: the "
		    "images count", planes, own);
	if (options->gray_cell >= 0 && cell && meta_word(cell, 0, word, sizeof(word)) &&
	    strcmp(word, "-") && strcmp(word, manifest_cells[options->gray_cell]))
		warn("--gray-cell", "says %s, and the images themselves say gray_cell %s: the "
		    "option counts", manifest_cells[options->gray_cell], word);
}

/* Warns of the first fringe set along another axis. */
static void
check_axis(const char *axes, const struct frame_head *head, const struct capture_set *set)
{
	const char *own = meta_get(&head->meta, "axis");
	char word[8];

	for (size_t k = 0; axes && own && k < set->fringes; k++) {
		size_t i = meta_words(own) == head->c ? set->fringe[k].plane[0] : 0;

		if (!meta_word(own, i, word, sizeof(word)) || word[0] == set->fringe[k].axis ||
		    (strcmp(word, "x") && strcmp(word, "y")))
			continue;
		warn("--axis", "says %c, and the images themselves say axis %s: the option counts",
		    set->fringe[k].axis, word);
		return;
	}
}

/* Warns of the first fringe set of another number of images. */
static void
check_steps(const struct capture_options *options, const struct capture_set *set)
{
	char name[CAPTURE_SET_NAME_SIZE];

	for (size_t k = 0; k < set->fringes && options->steps > 0; k++) {
		if ((size_t)options->steps == set->fringe[k].n)
			continue;
		warn("--steps", "says %ld images of a period, and of the images themselves %zu say "
		    "that they are of %s: the images count", options->steps, set->fringe[k].n,
		    capture_set_name(&set->fringe[k], name));
		return;
	}
}

int
capture_conflicts_warn(const struct capture_options *options, double sign, double origin_rad,
    const struct frame_head *head, const struct capture_set *set)
{
	const char *roles = meta_get(&head->meta, "role");
	double own_sign, own_origin;

	if (!roles || options->order)
		return 0;
	if (meta_number(&head->meta, "phase_sign", 1, &own_sign) < 0 ||
	    meta_number(&head->meta, "phase_origin_rad", 0, &own_origin) < 0)
		return -1;
	if (options->kind == CAPTURES_TWO_PLUS_ONE && set->fringes == 0 && set->codes)
		return fail("--kind", "says 2+1, and none of the images says that it is one (roles "
		    "sin, cos, flat)");
	if (options->kind == CAPTURES_STEP && set->fringes == 0 && set->codes)
		return fail("--kind", "says step, and none of the images says that it is one (role "
		    "phase)");
	if (options->kind != CAPTURES_FOURIER)
		check_steps(options, set);
	check_periods(&options->period_px, head);
	check_shifts(options, head, set);
	check_gray(options, head, roles);
	check_axis(options->axis, head, set);
	if (!isnan(sign) && sign != own_sign)
		warn("--sign", "says %+g, and by the images' own keys it is %+g: the option counts",
		    sign, own_sign);
	if (!isnan(origin_rad) && fabs(remainder(origin_rad - own_origin, 2 * M_PI)) > TOLERANCE)
		warn("--phase-origin", "says %g degrees, and by the images' own keys it is %g: the "
		    "option counts", origin_rad * 180 / M_PI, own_origin * 180 / M_PI);
	return 0;
}

/* ---- options against a manifest: errors, but options may say what it leaves open ---- */

/* What is compared; the set was sorted by the manifest. */
struct conflict {
	const struct capture_options *options;
	const char *path;
	const struct manifest *manifest;
	const struct capture_set *set;
};

/* The row of image i of fringe set k. */
static const struct manifest_row *
row_of(const struct conflict *conflict, size_t k, size_t i)
{
	return &conflict->manifest->row[conflict->set->fringe[k].plane[i]];
}

static int
check_manifest_steps(const struct conflict *conflict)
{
	long steps = conflict->options->steps;

	for (size_t k = 0; k < conflict->set->fringes && capture_roles_given(steps); k++)
		if (conflict->set->fringe[k].n != (size_t)steps)
			return fail_usage("--steps", "says %ld images of a period, and the "
			    "manifest %s has %zu of period %zu", steps, conflict->path,
			    conflict->set->fringe[k].n, k + 1);
	return 0;
}

static int
check_manifest_periods(const struct conflict *conflict)
{
	const struct numbers *period_px = &conflict->options->period_px;

	for (size_t k = 0; k < period_px->n; k++) {
		double other = NAN;
		bool found = false;

		for (size_t i = 0; i < conflict->manifest->n && !found; i++) {
			double own = conflict->manifest->row[i].period_px;

			found = fabs(own / period_px->v[k] - 1) < TOLERANCE;
			other = isnan(other) ? own : other;
		}
		if (!found && !isnan(other))
			return fail_usage("--period", "says %g px, and the manifest %s says "
			    "period_px %g", period_px->v[k], conflict->path, other);
	}
	return 0;
}

static int
check_manifest_shifts(const struct conflict *conflict)
{
	const struct numbers *shift_rad = &conflict->options->shift_rad;

	for (size_t k = 0; k < conflict->set->fringes && shift_rad->n; k++)
		for (size_t i = 0; i < conflict->set->fringe[k].n && i < shift_rad->n; i++) {
			double own = row_of(conflict, k, i)->shift_rad;
			double apart = remainder(own - shift_rad->v[i], 2 * M_PI);

			if (isnan(own) ||
			    fabs(apart) < TOLERANCE + conflict->options->shift_slack_rad)
				continue;
			return fail_usage("--shift", "says %g degrees for image %zu of a period, "
			    "and the manifest %s says shift_rad %g (%g degrees)",
			    shift_rad->v[i] * 180 / M_PI, i + 1, conflict->path, own,
			    own * 180 / M_PI);
		}
	return 0;
}

/* The shifts of a manifest are those of I = A + B cos(phase + shift), with their signs. */
static int
check_manifest_sign(const struct conflict *conflict, double sign)
{
	if (!(sign < 0))
		return 0;
	for (size_t k = 0; k < conflict->set->fringes; k++)
		if (!isnan(row_of(conflict, k, 0)->shift_rad))
			return fail_usage("--sign", "says %g, and the manifest %s gives shift_rad "
			    "with its sign, I = A + B cos(phase + shift)", sign, conflict->path);
	return 0;
}

static int
check_manifest_axis(const struct conflict *conflict)
{
	for (size_t k = 0; k < conflict->set->fringes && conflict->options->axis; k++) {
		char own = row_of(conflict, k, 0)->axis;
		char given = capture_roles_axis(conflict->options->axis, k);

		if (own && given && own != given)
			return fail_usage("--axis", "says %c, and the manifest %s says axis %c",
			    given, conflict->path, own);
	}
	return 0;
}

static int
check_manifest_gray(const struct conflict *conflict)
{
	const struct capture_options *options = conflict->options;
	const struct capture_set *set = conflict->set;

	if (options->inverse && set->codes == 0)
		return fail_usage("--inverse", "the manifest %s has no Gray code", conflict->path);
	for (size_t a = 0; a < options->gray.n || a < set->codes; a++) {
		double own = a < set->codes ? (double)set->code[a].n : 0;
		double given = a < options->gray.n ? options->gray.v[a] : 0;

		if (options->gray.n && given != own)
			return fail_usage("--gray", "says %g planes, and the manifest %s has %g",
			    given, conflict->path, own);
		if (options->inverse && !set->code[a].inverse)
			return fail_usage("--inverse", "the manifest %s has no role gray_inverse",
			    conflict->path);
	}
	for (size_t i = 0; i < conflict->manifest->n && options->gray_cell >= 0; i++) {
		enum manifest_cell own = conflict->manifest->row[i].gray_cell;

		if (own != CELL_NONE && own != (enum manifest_cell)options->gray_cell)
			return fail_usage("--gray-cell", "says %s, and the manifest %s says "
			    "gray_cell %s", manifest_cells[options->gray_cell], conflict->path,
			    manifest_cells[own]);
	}
	return 0;
}

static int
check_manifest_flats(const struct conflict *conflict)
{
	long own = 0;

	if (!capture_roles_given(conflict->options->flats))
		return 0;
	for (size_t k = 0; k < conflict->set->fringes; k++)
		if (conflict->set->fringe[k].two_plus_one)
			return 0;	/* one of their three is flat */
	for (size_t i = 0; i < conflict->manifest->n; i++) {
		enum manifest_role role = conflict->manifest->row[i].role;

		own += role == ROLE_WHITE || role == ROLE_BLACK || role == ROLE_FLAT;
	}
	return own == conflict->options->flats ? 0 :
	    fail_usage("--flats", "says %ld, and the manifest %s has %ld flat images",
		conflict->options->flats, conflict->path, own);
}

static bool
differ(double a, double b, double scale)
{
	return fabs(a - b) > TOLERANCE * scale;	/* NaN: one of them says nothing */
}

/* Does an image's own description contradict its row? */
static bool
contradicts(const struct manifest_row *own, const struct manifest_row *row)
{
	return own->role != row->role || differ(own->period_px, row->period_px, row->period_px) ||
	    (own->axis && row->axis && own->axis != row->axis) ||
	    fabs(remainder(own->shift_rad - row->shift_rad, 2 * M_PI)) > TOLERANCE ||
	    (own->bit != row->bit && own->bit >= 0 && row->bit >= 0);
}

/* Warns of the first image whose own keys contradict its row. */
static int
compare_keys(const struct conflict *conflict, const struct frame_head *head)
{
	bool found = false;

	if (!meta_get(&head->meta, "role"))
		return 0;
	for (size_t i = 0; i < head->c && i < conflict->manifest->n && !found; i++) {
		const struct manifest_row *row = &conflict->manifest->row[i];
		struct manifest_row own = { 0 };
		struct meta meta = { 0 };
		int status;

		meta_copy(&meta, &head->meta);
		status = meta_slice(&meta, head->c, i, 1);
		if (status == 0)
			status = manifest_row_from_meta(&meta, "image", &own);
		meta_free(&meta);
		if (status < 0)
			return -1;
		found = contradicts(&own, row);
		if (found)
			warn("--manifest", "%s says that image %zu is %s step %ld, period_px %g, "
			    "and the image itself %s step %ld, period_px %g: the manifest counts",
			    conflict->path, i + 1, manifest_roles[row->role], row->step,
			    row->period_px, manifest_roles[own.role], own.step, own.period_px);
		free(own.file);
	}
	return 0;
}

int
manifest_conflicts_kind(const struct capture_options *options, const char *path,
    const struct manifest *manifest)
{
	bool equal = false, two_plus_one = false, gray = false;

	for (size_t i = 0; i < manifest->n; i++) {
		enum manifest_role role = manifest->row[i].role;

		equal |= role == ROLE_PHASE;
		two_plus_one |= role == ROLE_SIN || role == ROLE_COS;
		gray |= role == ROLE_GRAY;
	}
	if (options->kind == CAPTURES_TWO_PLUS_ONE && !two_plus_one)
		return fail_usage("--kind", "says 2+1, and the manifest %s has %s", path,
		    equal ? "fringes of equal steps (role phase)" : "no fringe images");
	if (options->kind == CAPTURES_STEP && !equal)
		return fail_usage("--kind", "says step, and the manifest %s has %s", path,
		    two_plus_one ? "2+1 images (roles sin, cos, flat)" : "no fringe images");
	if (options->kind == CAPTURES_GRAY && !gray)
		return fail_usage("--kind", "says gray, and the manifest %s has no Gray planes",
		    path);
	return 0;
}

int
manifest_conflicts_check(const struct capture_options *options, double sign, const char *path,
    const struct manifest *manifest, const struct frame_head *head, const struct capture_set *set)
{
	struct conflict conflict = { options, path, manifest, set };

	if (options->order)
		warn("--order", "%s does not count beside the manifest %s, which says what each "
		    "image is", options->order, path);
	if (check_manifest_steps(&conflict) < 0 || check_manifest_periods(&conflict) < 0 ||
	    check_manifest_shifts(&conflict) < 0 || check_manifest_axis(&conflict) < 0 ||
	    check_manifest_gray(&conflict) < 0 || check_manifest_flats(&conflict) < 0)
		return -1;
	return check_manifest_sign(&conflict, sign) < 0 ? -1 : compare_keys(&conflict, head);
}

/*
 * ---- a late start ----
 *
 * A set whose capture began some images late has right phases of another origin. Against another
 * period that shows as an offset, unless the offset makes up whole fringes.
 */

#define SEEN_OFFSET 0.06	/* turns of offset that unwrap2f tells from none */

/* The orders of set i that follow from the beat with set k, if set i began so many images late. */
static double
orders_off(const struct capture_fringe *i, const struct capture_fringe *k, size_t late)
{
	return (double)late / (double)i->n * i->period_px / fabs(k->period_px - i->period_px);
}

/*
 * The fewest images by which the fringe set may have begun late without an offset to any other
 * period along its axis. 0: any late start would show, or a Gray code shows it, or nothing is
 * known. orders: by how many fringes the orders would be off.
 */
static size_t
late_start_unseen(const struct capture_set *captures, size_t set, double *orders)
{
	const struct capture_fringe *own = &captures->fringe[set];

	for (size_t a = 0; a < captures->codes; a++)
		if (captures->code[a].axis == own->axis)
			return 0;
	for (size_t late = 1; late < own->n && !own->two_plus_one; late++) {
		bool seen = false, compared = false;

		for (size_t k = 0; k < captures->fringes; k++) {
			const struct capture_fringe *other = &captures->fringe[k];
			double off = orders_off(own, other, late);

			if (k == set || other->axis != own->axis || !isfinite(off))
				continue;
			if (!compared)
				*orders = round(off);
			compared = true;
			seen |= fabs(off - round(off)) > SEEN_OFFSET;
		}
		if (compared && !seen)
			return late;
	}
	return 0;
}

void
late_start_note(const struct capture_set *captures)
{
	for (size_t k = 0; k < captures->fringes; k++) {
		const struct capture_fringe *fringe = &captures->fringe[k];
		char name[CAPTURE_SET_NAME_SIZE];
		double orders;
		size_t late = late_start_unseen(captures, k, &orders);

		if (!late)
			continue;
		note(capture_set_name(fringe, name), "nothing in the images tells whether they "
		    "began %zu of %zu late, or early: fringe orders would be off by %g, and fit",
		    late, fringe->n, orders);
		return;
	}
}
