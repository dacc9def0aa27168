/*
 * Sorts the described planes of one measurement: fringe images into sets of one period and axis, in
 * the order of their steps and with their shifts; Gray planes by bit; flat images. The options then
 * replace periods and axes.
 */
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
	    same(a->described.period_px, b->described.period_px);
}

/* All sets share a flat image without set, period and axis. */
static bool
is_shared_flat(const struct capture *capture)
{
	return capture->described.role == ROLE_FLAT && capture->set == SET_UNKNOWN &&
	    isnan(capture->described.period_px) && !capture->described.axis;
}

static int
compare_steps(const void *a, const void *b, void *captures)
{
	const struct capture *capture = captures;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	long first = capture[i].described.step, second = capture[k].described.step;

	if (first != second)
		return first < second ? -1 : 1;
	return i < k ? -1 : i > k;
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

static int
add_set(struct capture_set *out, const struct capture *first, size_t capacity)
{
	struct capture_fringe *fringe =
	    reallocarray(out->fringe, out->fringes + 1, sizeof(*fringe));

	if (!fringe)
		return fail_memory();
	out->fringe = fringe;
	fringe += out->fringes++;
	*fringe = (struct capture_fringe){ .axis = axis_or_x(first->described.axis),
		.period_px = first->described.period_px };
	fringe->plane = calloc(capacity, sizeof(*fringe->plane));
	fringe->shift_rad = calloc(capacity, sizeof(*fringe->shift_rad));
	return fringe->plane && fringe->shift_rad ? 0 : fail_memory();
}

/* Puts all pending fringe images of the same set as the first one into a new set; a flat image that
 * all sets share stays pending. */
static int
collect_set(const struct capture *capture, size_t n, size_t first, bool *pending,
    struct capture_set *out)
{
	if (add_set(out, &capture[first], n) < 0)
		return -1;
	for (size_t k = 0; k < n; k++)
		if (pending[k] &&
		    (same_set(&capture[k], &capture[first]) || is_shared_flat(&capture[k]))) {
			struct capture_fringe *fringe = &out->fringe[out->fringes - 1];

			fringe->plane[fringe->n++] = k;
			pending[k] = is_shared_flat(&capture[k]);
		}
	return 0;
}

static int
sort_fringes(const struct capture_options *options, const struct frame_head *head,
    struct capture *capture, size_t n, struct capture_set *out)
{
	bool two_plus_one = false, *pending = calloc(n, sizeof(*pending));
	int status = pending ? 0 : fail_memory();

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
			status = collect_set(capture, n, i, pending, out);
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
	long first = capture[i].described.bit, second = capture[k].described.bit;

	if (first != second)
		return first > second ? -1 : 1;
	return i < k ? -1 : i > k;
}

/* Allocates the list of the planes of a role along an axis, most significant first. */
static int
sort_planes(struct capture *capture, size_t n, enum manifest_role role, char axis, size_t **list,
    size_t *planes)
{
	*list = calloc(n, sizeof(**list));
	*planes = 0;
	if (!*list)
		return fail_memory();
	for (size_t i = 0; i < n; i++)
		if (capture[i].described.role == role &&
		    axis_or_x(capture[i].described.axis) == axis)
			(*list)[(*planes)++] = i;
	qsort_r(*list, *planes, sizeof(**list), compare_bits, capture);
	return 0;
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
		if (sort_planes(capture, n, ROLE_GRAY, code->axis, &code->plane, &code->n) < 0 ||
		    sort_planes(capture, n, ROLE_GRAY_INVERSE, code->axis, &code->inverse,
		    &inverses) < 0)
			return -1;
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
		if (code->n == 0) {
			free(code->plane);
			code->plane = NULL;
		} else {
			out->codes++;
		}
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

/* The metadata of images without roles may hold their periods, one per set. */
static int
apply_stored_periods(const struct frame_head *head, struct capture_set *out)
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
	struct capture *capture = calloc(n, sizeof(*capture));
	int status;

	memset(out, 0, sizeof(*out));
	if (!capture)
		return fail_memory();
	status = capture_roles_describe(options, manifest, head, capture);
	if (status == 0)
		status = sort_fringes(options, head, capture, n, out);
	if (status == 0 && options->kind != CAPTURES_FOURIER)
		status = sort_gray(options, capture, n, out);
	if (status == 0)
		sort_flats(capture, n, out);
	if (status == 0)
		sort_markers(capture, n, out);
	if (status == 0 && !manifest && !meta_get(&head->meta, "role") && options->period_px.n == 0)
		status = apply_stored_periods(head, out);
	if (status == 0)
		status = apply_periods(&options->period_px, out);
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
