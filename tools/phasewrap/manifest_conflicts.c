#include "manifest_conflicts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "fringe/capture_roles.h"

#define SAME 1e-4	/* of a period, or radians: numbers are written with few digits */

/* What is compared. */
struct conflict {
	const struct capture_options *options;
	const char *path;
	const struct manifest *manifest;
	const struct capture_set *set;
};

static const struct manifest_row *
row_of(const struct conflict *conflict, size_t k, size_t i)
{
	return &conflict->manifest->row[conflict->set->fringe[k].plane[i]];
}

static int
check_steps(const struct conflict *conflict)
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
check_periods(const struct conflict *conflict)
{
	const struct numbers *period_px = &conflict->options->period_px;

	for (size_t k = 0; k < period_px->n; k++) {
		double other = NAN;
		bool found = false;

		for (size_t i = 0; i < conflict->manifest->n && !found; i++) {
			double own = conflict->manifest->row[i].period_px;

			found = fabs(own / period_px->v[k] - 1) < SAME;
			other = isnan(other) ? own : other;
		}
		if (!found && !isnan(other))
			return fail_usage("--period", "says %g px, and the manifest %s says "
			    "period_px %g", period_px->v[k], conflict->path, other);
	}
	return 0;
}

static int
check_shifts(const struct conflict *conflict)
{
	const struct numbers *shift_rad = &conflict->options->shift_rad;

	for (size_t k = 0; k < conflict->set->fringes && shift_rad->n; k++)
		for (size_t i = 0; i < conflict->set->fringe[k].n && i < shift_rad->n; i++) {
			double own = row_of(conflict, k, i)->shift_rad;
			double apart = remainder(own - shift_rad->v[i], 2 * M_PI);

			if (isnan(own) ||
			    fabs(apart) < SAME + conflict->options->shift_slack_rad)
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
check_sign(const struct conflict *conflict, double sign)
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
check_axis(const struct conflict *conflict)
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
check_gray(const struct conflict *conflict)
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
check_flats(const struct conflict *conflict)
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
	return fabs(a - b) > SAME * scale;	/* NaN: one of them says nothing */
}

/* Does an image's own description contradict its row? */
static bool
contradicts(const struct manifest_row *own, const struct manifest_row *row)
{
	return own->role != row->role || differ(own->period_px, row->period_px, row->period_px) ||
	    (own->axis && row->axis && own->axis != row->axis) ||
	    fabs(remainder(own->shift_rad - row->shift_rad, 2 * M_PI)) > SAME ||
	    (own->bit != row->bit && own->bit >= 0 && row->bit >= 0);
}

/* Images that say themselves what they are, and something else than the manifest. */
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
	if (check_steps(&conflict) < 0 || check_periods(&conflict) < 0 ||
	    check_shifts(&conflict) < 0 || check_axis(&conflict) < 0 ||
	    check_gray(&conflict) < 0 || check_flats(&conflict) < 0)
		return -1;
	return check_sign(&conflict, sign) < 0 ? -1 : compare_keys(&conflict, head);
}
