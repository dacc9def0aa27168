#define _GNU_SOURCE
#include "fringe/capture_roles.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* ---- fringe images ---- */

static bool
same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

const char *
capture_set_name(const struct capture_fringe *fringe, char text[CAPTURE_SET_NAME_SIZE])
{
	if (isnan(fringe->period_px))
		snprintf(text, CAPTURE_SET_NAME_SIZE, "the period along %c", fringe->axis);
	else
		snprintf(text, CAPTURE_SET_NAME_SIZE, "the period %g px", fringe->period_px);
	return text;
}

static char
axis_or_x(char axis)
{
	return axis ? axis : 'x';
}

/* Is it one of the fringe images that are wanted? With 2+1 the flat image is one. */
static bool
is_fringe(const struct capture *shot, const struct capture_options *options, bool two_plus_one)
{
	enum manifest_role role = shot->said.role;

	if (role == ROLE_PHASE)
		return options->kind == CAPTURES_ALL || options->kind == CAPTURES_STEP;
	if (role == ROLE_SIN || role == ROLE_COS || (role == ROLE_FLAT && two_plus_one))
		return options->kind == CAPTURES_ALL || options->kind == CAPTURES_TWO_PLUS_ONE;
	return false;
}

static bool
same_set(const struct capture *a, const struct capture *b)
{
	return a->set == b->set && a->said.axis == b->said.axis &&
	    same(a->said.period_px, b->said.period_px);
}

/* A flat image without a period serves all sets. */
static bool
shares_flat(const struct capture *shot)
{
	return shot->said.role == ROLE_FLAT && shot->set == SET_UNKNOWN &&
	    isnan(shot->said.period_px) && !shot->said.axis;
}

static int
compare_steps(const void *a, const void *b, void *shots)
{
	const struct capture *shot = shots;
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
set_shifts(const struct capture_options *options, const struct frame_head *head,
    const struct capture *shot, struct capture_fringe *fringe)
{
	bool steps_said = true, shifts_said = true, steps_differ = true;
	char name[CAPTURE_SET_NAME_SIZE];
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
		return fail(NULL, "two images of %s are the same step", capture_set_name(fringe, name));
	if (options->rgb && !steps_differ)
		steps_said = shifts_said = false;
	if (!(steps > 0) || options->shift_rad.n || capture_roles_given(options->steps) || !steps_said)
		steps = (double)fringe->n;
	if (options->shift_rad.n && options->shift_rad.n != fringe->n)
		return fail(NULL, "%zu shifts for %zu images of %s", options->shift_rad.n,
		    fringe->n, capture_set_name(fringe, name));
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
			return fail(NULL, "step %zu of %.0f has no shift: give --shift", step,
			    steps);
	}
	return 0;
}

/* Planes of a 2+1 set as sin, cos, flat. */
static int
set_two_plus_one(const struct capture *shot, struct capture_fringe *fringe)
{
	static const enum manifest_role role[] = { ROLE_SIN, ROLE_COS, ROLE_FLAT };
	size_t own[3], found = 0;
	char name[CAPTURE_SET_NAME_SIZE];

	for (size_t r = 0; r < 3; r++)
		for (size_t i = 0; i < fringe->n; i++)
			if (shot[fringe->plane[i]].said.role == role[r] && found == r)
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

static int
complete_set(const struct capture_options *options, const struct frame_head *head,
    struct capture *shot, struct capture_fringe *fringe)
{
	bool two_plus_one = false;
	char name[CAPTURE_SET_NAME_SIZE];

	for (size_t i = 0; i < fringe->n; i++)
		two_plus_one = two_plus_one || shot[fringe->plane[i]].said.role != ROLE_PHASE;
	if (two_plus_one)
		return set_two_plus_one(shot, fringe);
	if (fringe->n < 3)
		return fail(NULL, "%s has %zu images, a phase needs 3", capture_set_name(fringe, name),
		    fringe->n);
	qsort_r(fringe->plane, fringe->n, sizeof(*fringe->plane), compare_steps, shot);
	return set_shifts(options, head, shot, fringe);
}

static int
add_set(struct capture_set *out, const struct capture *first, size_t room)
{
	struct capture_fringe *more = reallocarray(out->fringe, out->fringes + 1, sizeof(*more));

	if (!more)
		return fail_memory();
	out->fringe = more;
	more += out->fringes++;
	*more = (struct capture_fringe){ .axis = axis_or_x(first->said.axis),
		.period_px = first->said.period_px };
	more->plane = calloc(room, sizeof(*more->plane));
	more->shift_rad = calloc(room, sizeof(*more->shift_rad));
	return more->plane && more->shift_rad ? 0 : fail_memory();
}

/* Puts all images of the same set as the first one into a new set. */
static int
collect_set(const struct capture *shot, size_t n, size_t first, bool *fringe, struct capture_set *out)
{
	if (add_set(out, &shot[first], n) < 0)
		return -1;
	for (size_t k = 0; k < n; k++)
		if (fringe[k] && (same_set(&shot[k], &shot[first]) || shares_flat(&shot[k]))) {
			struct capture_fringe *set = &out->fringe[out->fringes - 1];

			set->plane[set->n++] = k;
			fringe[k] = shares_flat(&shot[k]);
		}
	return 0;
}

static int
sort_fringes(const struct capture_options *options, const struct frame_head *head,
    struct capture *shot, size_t n, struct capture_set *out)
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

/* ---- Gray planes and flat images ---- */

static int
compare_bits(const void *a, const void *b, void *shots)
{
	const struct capture *shot = shots;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	long first = shot[i].said.bit, second = shot[k].said.bit;

	if (first != second)
		return first > second ? -1 : 1;
	return i < k ? -1 : i > k;
}

/* The planes of a role along an axis, most significant first; a new list. */
static int
sort_planes(struct capture *shot, size_t n, enum manifest_role role, char axis, size_t **list,
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
check_bits(const struct capture *shot, const struct capture_code *code)
{
	for (size_t i = 0; i < 2 * code->n; i++) {
		const size_t *list = i < code->n ? code->plane : code->inverse;
		long bit = list ? shot[list[i % code->n]].said.bit : MANIFEST_NO_BIT;

		if (bit != MANIFEST_NO_BIT && bit != (long)(code->n - 1 - i % code->n))
			return fail(NULL, "the Gray code along %c has %zu planes, one of them is "
			    "bit %ld", code->axis, code->n, bit);
	}
	return 0;
}

static int
sort_gray(const struct capture_options *options, struct capture *shot, size_t n, struct capture_set *out)
{
	for (size_t a = 0; a < 2; a++) {
		struct capture_code *code = &out->code[out->codes];
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
sort_flats(const struct capture *shot, size_t n, struct capture_set *out)
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

/* ---- all of it ---- */

/* The periods that are given: if the images say the same ones in another order, the sets take the
 * order of the option; else its values replace what the images say. */
static int
apply_periods(const struct numbers *period_px, struct capture_set *out)
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
			struct capture_fringe swap = out->fringe[i];

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

/* Periods of images without roles may stand in the metadata, one per set. */
static int
stored_periods(const struct frame_head *head, struct capture_set *out)
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
capture_set_sort(const struct capture_options *options, const struct manifest *manifest,
    const struct frame_head *head, struct capture_set *out)
{
	size_t n = head->c;
	struct capture *shot = calloc(n, sizeof(*shot));
	int status;

	memset(out, 0, sizeof(*out));
	if (!shot)
		return fail_memory();
	status = capture_roles_describe(options, manifest, head, shot);
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
name_channels(const struct capture_set *shots, const char *forms, struct frame_head *head)
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
		fail(NULL, "the measurement has neither fringe images nor Gray planes of that "
		    "kind");
	else
		status = head_set_channels(head, names + 1);
	free(names);
	return status;
}

static int
describe_sets(const struct capture_set *shots, struct meta *meta)
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
describe_codes(const struct capture_set *shots, struct meta *meta)
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
capture_set_describe(const struct capture_set *shots, const char *forms, struct frame_head *head)
{
	static const char *const single[] = { "role", "step", "shift_rad", "bit", "name",
		"set_images", "phase_sign", "phase_origin_rad" };
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
capture_set_free(struct capture_set *shots)
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
